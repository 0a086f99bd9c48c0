// Keeps the certificates of a webhook inside its server: makes, renews, heals, injects, and finishes rotations.
//
// It looks once a minute, by the wall clock, and whenever something changes that it watches. Only the leader writes.
// Nothing that goes wrong ends it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "certs/engine.h"

namespace fairlead::certs {

// Says when an object may be written again that somebody else keeps changing. The first writes are free; from the fifth
// within an hour on, each is followed by a pause, up to an hour. Pure.
class Contest {
 public:
  bool may_write(const object::Key& key, TimePoint now) const;
  void wrote(const object::Key& key, TimePoint now);

 private:
  struct Entry {
    int writes = 0;
    TimePoint last{};
    TimePoint not_before{};
    Backoff pause{std::chrono::minutes(1), std::chrono::hours(1)};
  };
  std::map<object::Key, Entry> entries_;
};

struct KeeperOptions {
  // Whether this replica is the one that writes; empty: it always is.
  std::function<bool()> is_leader = {};
  // Between two looks if nothing changes.
  Duration pause = std::chrono::minutes(1);
  // Told about what was done and what went wrong, in a line each; for a log.
  std::function<void(const std::string& line)> say = {};
};

class Keeper {
 public:
  // What is known after the last look.
  struct Status {
    // Empty if all is well.
    std::string trouble;
    std::optional<Judgement> judgement;
    // Steps that were taken, by name.
    std::map<std::string, uint64_t, std::less<>> steps;
    uint64_t looks = 0;
  };

  // Both must outlive it.
  Keeper(kube::Client& client, Spec spec, Targets targets, Proofs& proofs, KeeperOptions options);

  // Runs until it is cancelled.
  Task<void> run();
  // Looks again soon: call it after this replica became the leader, or when the Secret changed.
  void wake();

  const Status& status() const { return status_; }

 private:
  Task<Result<void>> look();
  Task<void> look_again_and_again();
  Task<void> watch(object::Resource resource, std::string ns, std::string name);
  void count(const std::vector<Taken>& taken);
  void say(const std::string& line) const;

  kube::Client& client_;
  Targets targets_;
  KeeperOptions options_;
  Engine engine_;
  Signal woken_;
  bool is_woken_ = false;
  Contest contest_;
  Status status_;
};

}  // namespace fairlead::certs
