// What the server counts, as Prometheus reads it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "webhook/server/routes.h"
#include "webhook/server/territory.h"

namespace fairlead::webhook {

// What is counted for each request may be counted by any thread; all else is for the server's own loop.
class Metrics {
 public:
  // Upper ends of the buckets, in seconds; the last one is open.
  static constexpr std::array<double, 15> kBuckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                   0.05,   0.1,     0.25,   0.5,   1,      2.5,   10};

  // `path` is one of the server's own, so that nobody can make labels without end.
  void count(std::string_view path, Decided decided, Duration took);
  void count_unknown_path();
  // A request that is no review, by the status that it was answered with; 0 for a TLS handshake that failed.
  void count_refused(int status);
  void count_reload(bool worked) { ++(worked ? reloads_ : failed_reloads_); }

  size_t in_flight = 0;
  bool ready = false;
  bool draining = false;
  bool keeps_earlier_certificate = false;
  std::optional<WallTime> leaf_expiry;
  std::optional<WallTime> ca_expiry;

  uint64_t reloads() const { return reloads_; }
  uint64_t decisions(std::string_view path, Decided decided) const;

  // In the text format 0.0.4. On the server's own loop.
  std::string text() const;

 private:
  struct PerPath {
    std::array<uint64_t, kDecidedCount> decided{};
    std::array<uint64_t, kBuckets.size() + 1> buckets{};
    double seconds = 0;
  };

  mutable std::mutex mutex_;
  // These three under the mutex.
  std::map<std::string, PerPath, std::less<>> paths_;
  uint64_t unknown_paths_ = 0;
  std::map<int, uint64_t> refused_;
  uint64_t reloads_ = 0;
  uint64_t failed_reloads_ = 0;
};

// The same for what a territory tells.
std::string text_of(const Coordination& coordination);

}  // namespace fairlead::webhook
