// Rolls out a bundle: sends its objects to a cluster in an order that the cluster can accept.
//
// This is the room's first header. The plan (plan.h) decides which objects may be sent next, and which are blocked, and
// by what. The engine sends each object as soon as its needs are met, lets objects that are refused for now wait at a
// RetryGate (retry_gate.h), proves guards (guards.h), and follows stored objects until they are ready (tracking.h).
// There are no phases, and the engine polls only what it cannot watch. Every event goes to the journal. The engine
// keeps no state of its own: if it is killed at any moment and run again, it converges.
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

// What to do about objects that are guarded by a webhook with failurePolicy Ignore while that webhook does not answer.
enum class IgnorePolicy {
  standard,  // wait for webhooks of the bundle; warn about those that were in the cluster before
  wait,
  warn,
};

// The field manager of runs without a name.
inline constexpr std::string_view kFieldManager = "fairlead";

struct Options {
  // The bundle's name. Without a name there is no inventory, and nothing is pruned.
  std::string name;
  // The namespace of objects that name none; it is also the bundle's home. `namespace_is_chosen`: the user asked for
  // this namespace, so a manifest that names another one is an error.
  std::string default_namespace = "default";
  bool namespace_is_chosen = false;
  bool create_namespace = false;
  // The field manager of a run without a name. A run with a name uses the bundle's own field manager, unless this one
  // differs from kFieldManager.
  std::string field_manager = std::string(kFieldManager);
  // Takes over fields that other managers own, but not objects of other bundles.
  bool force_conflicts = false;
  // Moves objects that belong to another bundle to this one.
  bool adopt = false;
  bool dry_run = false;
  bool prune = false;
  // Prunes Namespaces and CRDs that left the bundle even if they contain objects that others made.
  bool with_contents = false;
  // Wait until everything is ready; otherwise until everything is stored.
  bool wait = true;
  // The time limit of the whole run; zero means no limit.
  Duration timeout = std::chrono::minutes(15);
  // Time limits by kind ("Job", "Deployment.apps") that replace the defaults (readiness/timeouts.h).
  std::map<std::string, Duration, std::less<>> timeout_for;
  // The maximum number of requests in flight; zero means as many as the server handles well.
  size_t concurrency = 0;
  IgnorePolicy ignore_policy = IgnorePolicy::standard;
  // The name of this run in the cluster (for shadows). It must never have been used before.
  std::string run = "run";
  // Returns true if the run of that name is known to have ended. Its shadows are then removed before they expire.
  std::function<bool(std::string_view run)> run_known_dead;
  // Tells other people who runs this: "ann@laptop, process 4711".
  std::string holder = "fairlead";
  // Tells other runs which process this is: no other process has the same origin.
  std::string origin;
  // Returns true if the process of that origin is known to have ended. Its bundle is then taken over without waiting.
  std::function<bool(std::string_view origin)> known_dead;
};

// What became of one object.
struct ObjectEnding {
  enum class State {
    not_sent,   // the run ended before it was sent
    blocked,    // an object that it needs failed, or a guard does not answer
    refused,    // the API server refused it
    not_ready,  // stored, but failed or not ready in time
    created,
    changed,
    unchanged,
    removed,    // pruned: it is no longer part of the bundle
    unchecked,  // a dry run could not check it
    left_out,   // not part of this run: a Helm hook for tests, deletion or rollback, for example
  };
  object::Key key;
  std::string source;
  State state = State::not_sent;
  // True if the object is ready, or is stored and nobody waits for it to become ready.
  bool ready = false;
  std::optional<Error> error;
  std::vector<std::string> warnings;
};
// Returns "not sent", "unchanged" and so on.
std::string_view name_of(ObjectEnding::State state);

// A step of the critical path, which is the chain of waits that took longest. Each step waited for the one before it.
struct PathStep {
  std::string text;
  std::string reason;  // why it waited for the step before; empty for the first
  Duration from{};
  Duration to{};
};

using journal::Cause;

struct Ending {
  enum class How { done, failed, timed_out, conflicts, interrupted };
  How how = How::done;
  // In the order of the bundle, followed by the pruned objects.
  std::vector<ObjectEnding> objects;
  // Each root cause once, with the objects that it blocks.
  std::vector<Cause> causes;
  std::vector<PathStep> critical_path;
  Duration took{};
  uint64_t requests = 0;
};

// Returns "done", "timed out" and so on.
std::string_view name_of(Ending::How how);

// Rolls out the bundle. If the bundle or the cluster does not allow that, sends nothing and returns the errors in
// `causes`. Cancelling `stop` (may be null) lets requests in flight end and gives How::interrupted. The task itself
// must not be cancelled.
Task<Ending> roll_out(kube::Client& client, kube::Discovery& discovery, manifest::Bundle bundle, Options options,
                      journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::rollout
