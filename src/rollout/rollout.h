// Puts a bundle into a cluster in the order in which the cluster can take it: the room's first header.
//
// Plan (plan.h) knows what may go now and what is held by what; the engine does it: sends each object as soon as its
// needs are met, parks what is refused for now at a gate (gate.h), lets guards climb their ladder (guards.h), follows
// what was stored until it is ready (tracking.h). There are no phases, and nothing polls that can be watched.
// Everything that happens goes to the journal. The engine keeps nothing: killed anywhere and run again, it converges.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "journal/journal.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "manifest/manifest.h"

namespace fairlead::rollout {

// What to do about an object that a webhook with failurePolicy Ignore guards, while that webhook does not answer.
enum class IgnorePolicy {
  standard,  // wait for webhooks of the bundle; for those that were there before, warn
  wait,
  warn,
};

// The field manager of runs without a name.
inline constexpr std::string_view kFieldManager = "fairlead";

struct Options {
  // Of the bundle; without one there is no inventory, and nothing is pruned.
  std::string name;
  // For objects that name none, and the bundle's home. `namespace_is_chosen`: the user asked for it, so that another
  // one in a manifest is a contradiction.
  std::string default_namespace = "default";
  bool namespace_is_chosen = false;
  bool create_namespace = false;
  // Without a name; with one, the bundle has a manager of its own unless this is set to something else.
  std::string field_manager = std::string(kFieldManager);
  // Fields that other managers own are taken over. Objects of other bundles are not.
  bool force_conflicts = false;
  // Objects that belong to another bundle are moved to this one.
  bool adopt = false;
  bool dry_run = false;
  bool prune = false;
  // Namespaces and CRDs that left the bundle are pruned although they hold what others made.
  bool with_contents = false;
  // Until everything is ready; otherwise until everything is stored.
  bool wait = true;
  // For all of it; zero: no limit.
  Duration timeout = std::chrono::minutes(15);
  // By kind ("Job", "Deployment.apps"), for what people want otherwise than is usual (readiness/timeouts.h).
  std::map<std::string, Duration, std::less<>> timeout_for;
  // The most requests in flight; zero: as many as the server takes well.
  size_t concurrency = 0;
  IgnorePolicy ignore_policy = IgnorePolicy::standard;
  // Names this run in the cluster (shadows): never used before.
  std::string run = "run";
  // True if the run of that name is known to have ended: shadows that it left are removed before they expire.
  std::function<bool(std::string_view run)> run_known_dead;
  // For others to read: "ann@laptop, process 4711".
  std::string holder = "fairlead";
  // For other runs: what tells this process from all others.
  std::string origin;
  // True if the process of that origin is known to have ended: the bundle is taken over without waiting.
  std::function<bool(std::string_view origin)> known_dead;
};

// What became of an object.
struct ObjectEnding {
  enum class State {
    not_sent,   // the run ended before
    held,       // something that it needs failed, or a guard that does not answer
    refused,    // by the API server
    not_ready,  // stored, and not ready in time, or failed
    created,
    changed,
    unchanged,
    removed,    // pruned: it is not part of the bundle any more
    unchecked,  // a dry run that could not check it
    left_out,   // not part of an installation: a hook of Helm for tests, deletion or rollback
  };
  object::Key key;
  std::string source;
  State state = State::not_sent;
  // Ready, or stored where nobody wanted to wait.
  bool ready = false;
  std::optional<Error> error;
  std::vector<std::string> warnings;
};
// "not sent", "unchanged"
std::string_view name_of(ObjectEnding::State state);

// A step of what took longest: each waited for the one before it.
struct PathStep {
  std::string text;
  std::string reason;  // why it had to wait for the one before; empty for the first
  Duration from{};
  Duration to{};
};

using journal::Cause;

struct Ending {
  enum class How { done, failed, timed_out, conflicts, interrupted };
  How how = How::done;
  // In the order of the bundle, then what was pruned.
  std::vector<ObjectEnding> objects;
  // Each once, with what it holds.
  std::vector<Cause> causes;
  std::vector<PathStep> critical_path;
  Duration took{};
  uint64_t requests = 0;
};

// "done", "timed out"
std::string_view name_of(Ending::How how);

// Errors in `causes` with nothing sent: the bundle or the cluster does not allow it. The first cancellation of `stop`
// (may be null) lets what is in flight end and gives How::interrupted; the task itself must not be cancelled.
Task<Ending> roll_out(kube::Client& client, kube::Discovery& discovery, manifest::Bundle bundle, Options options,
                      journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::rollout
