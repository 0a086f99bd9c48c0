// All objects of a kind, and everything that happens to them from then on.
//
//   Watch watch(client, resource, {.ns = "team-a", .label_selector = "app=web"});
//   while (true) {
//     Outcome<WatchEvent> event = co_await watch.next();   // cancel the task to stop
//     ...
//   }
//
// First `added` for what is there, then `synced`, once; then what changes. It goes on by itself over broken
// connections, from where it was; and when the server no longer knows that place (410) it lists again and tells the
// difference. So nothing is missed and nothing comes twice, but what came and went again in a gap is never seen, and
// what was deleted in one comes as `deleted` with its identity only (apiVersion, kind, metadata with name, namespace,
// uid).
//
// Failures that pass are waited out, with growing pauses; trouble() tells meanwhile. next() fails on what will not pass
// (no permission, no such kind) and on cancellation; called again after that it tries again. One next() at a time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "kube/client.h"
#include "kube/watch_stream.h"

namespace fairlead::kube {

struct WatchEvent {
  enum class Type { added, modified, deleted, synced };
  Type type = Type::synced;
  // Null for `synced`.
  Json object;
};

struct WatchOptions {
  // Empty: all namespaces.
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  // Only apiVersion, kind and metadata of each object.
  bool metadata_only = false;
  // The first pause after a failure, and the longest.
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(30);
  uint64_t seed = 1;
};

class Watch {
 public:
  Watch(Client& client, object::Resource resource, WatchOptions options);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Task<Outcome<WatchEvent>> next();

  // Why nothing arrives at the moment; nothing while all is well.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  struct Known {
    std::string uid;
    std::string version;
  };
  // Namespace and name.
  using Place = std::pair<std::string, std::string>;

  Task<Outcome<void>> step();
  Task<Outcome<void>> list();
  Task<Outcome<void>> connect();
  Task<Outcome<void>> read();
  Task<Outcome<void>> pause_after(Failure failure);
  Result<void> take(WatchStream::Event event);
  Json named(Json object) const;
  static Place place_of(const Json& object);
  void see(Json object);
  void see_gone(const Place& place, Json object);
  Json identity(const Place& place, const Known& known) const;
  void disconnect();

  Client& client_;
  object::Resource resource_;
  WatchOptions options_;
  std::minstd_rand random_;

  std::deque<WatchEvent> events_;
  std::map<Place, Known> known_;
  // Where to go on; empty: list first.
  std::string position_;
  bool synced_ = false;
  std::unique_ptr<http::Body> body_;
  WatchStream stream_;
  TimePoint ends_{};
  TimePoint connected_{};
  int failures_ = 0;  // in a row
  std::optional<Error> trouble_;
};

}  // namespace fairlead::kube
