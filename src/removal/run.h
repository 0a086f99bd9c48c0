// What the parts of the engine share: the targets, the plan, and what is known of each object.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/scope.h"
#include "removal/plan.h"
#include "removal/progress.h"
#include "removal/refusal.h"
#include "removal/removal.h"

namespace fairlead::removal {

// One target.
struct TargetState {
  // Not asked for: it goes with its namespace, and has to go before what cleans it up.
  bool implied = false;
  // Nothing where the cluster does not serve its kind.
  std::optional<object::Resource> resource;
  // What is to go; empty while nothing was seen.
  std::string uid;
  // As it was last seen. Of most kinds only metadata.
  Json last;
  Progress progress;

  // Told to go.
  bool told = false;
  // When it was last further than before.
  TimePoint moved_at{};
  // What was left in it when that was first known, and when.
  std::optional<uint64_t> first_remaining;
  TimePoint first_remaining_at{};
  // The API's last no, while it keeps saying so.
  std::optional<Error> fault;
  // Why it does not go, as far as it was found out.
  std::optional<Error> stuck;
  // Its time is nearly over: then it is found out what keeps it, though it may still be getting further.
  TimePoint last_look_at = TimePoint::max();
  std::optional<Error> kept_by;
  // When to say again that it is stuck, and how often that was said.
  TimePoint tell_at{};
  int told_stuck = 0;
  int forced = 0;
  std::optional<Loop::TimerId> timer;

  ObjectEnding::State state = ObjectEnding::State::not_begun;
  std::optional<Error> error;
  // Why it stays for the sake of others; not a failure.
  std::optional<Error> kept;
};

struct Run {
  Run(kube::Client& client_, kube::Discovery& discovery_, journal::Journal& journal_, Options options_,
      std::vector<Target> targets_)
      : client(client_),
        discovery(discovery_),
        journal(journal_),
        options(std::move(options_)),
        targets(std::move(targets_)),
        loop(client_.loop()),
        changed(loop),
        states(targets.size()) {
    for (uint32_t i = 0; i < targets.size(); ++i) index.emplace(targets[i].key, i);
  }

  kube::Client& client;
  kube::Discovery& discovery;
  journal::Journal& journal;
  const Options options;
  std::vector<Target> targets;
  Loop& loop;
  // Something about the plan or an object has changed.
  Signal changed;
  // Governs every wait, but no request that changes something: a run that is stopped lets what is in flight end.
  CancelSource waits;
  // Governs requests that change something. Cancelled some time after the waits were.
  CancelSource requests;
  bool stopping = false;
  bool out_of_time = false;
  std::vector<TargetState> states;
  std::unordered_map<object::Key, uint32_t> index;
  Order order;
  // Refers to the order.
  std::optional<Plan> plan;
  // Of targets that belong to bundles.
  Owners owners;

  const object::Key& key(uint32_t i) const { return targets[i].key; }
  Duration timeout_for(const object::Key& key) const;
  std::optional<uint32_t> find(const object::Key& key) const;
  std::optional<uint32_t> find_namespace_of(uint32_t i) const;
  // One more that has to go.
  void imply(Target target);

  void tell(journal::EventKind kind, uint32_t i, std::string state, std::string text, std::optional<Error> error = {});
  void note(journal::EventKind kind, std::string text, std::optional<Error> error = {});

  // Of a target under way: seen by a watch, or in the answer to a request.
  void see(uint32_t i, const Json& object);
  void gone(uint32_t i, std::string how = {});
  void failed(uint32_t i, ObjectEnding::State state, Error error);
  // It stays; with the place that it comes from.
  void refuse(uint32_t i, Error error);
  // It is further than it was, by what others show.
  void moved(uint32_t i);
  // So much is left of what has to go before it.
  void left(uint32_t i, uint64_t remaining);
  void settle(uint32_t i, ObjectEnding::State state);
};

// "12 of 40 left, 1.5 a second": of what tells how much is left; empty for others.
std::string rate_text(const TargetState& entry, TimePoint now);

}  // namespace fairlead::removal
