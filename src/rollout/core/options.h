// What the caller of a rollout chooses.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "diff/diff.h"

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
  // Stores nothing, and finds out what would happen (ObjectEnding::forecast).
  bool dry_run = false;
  // In a dry run: sends nothing that could change an object, not even as a dry run, and compares with the objects in
  // the cluster instead.
  bool compare_only = false;
  // In a dry run: how objects are shown.
  diff::Look look;
  // In a dry run: show created objects as the API server would store them, not as they are sent.
  bool with_defaults = false;
  // In a dry run: a random text that makes digests of objects with secrets hard to guess. Without it there are no
  // digests.
  std::string digest_key;
  bool prune = false;
  // Prunes Namespaces and CRDs that left the bundle even if they contain objects that others made.
  bool with_contents = false;
  // Wait until everything is ready; otherwise until everything is stored.
  bool wait = true;
  // The time limit of the whole run; zero means no limit.
  Duration timeout = std::chrono::minutes(15);
  // Time limits by kind ("Job", "Deployment.apps") that replace the defaults (readiness/timeouts.h).
  std::map<std::string, Duration, std::less<>> timeout_for;
  // The bundle is only a part of the manifests. Objects that it lacks have not left them, and the run is not kept in
  // the bundle's history.
  bool is_partial = false;
  // Keep the values of Secrets in the bundle's history, not only their hashes.
  bool keep_secrets = false;
  // Said of this run in the bundle's history, such as "rollback to revision 2".
  std::string note;
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

}  // namespace fairlead::rollout
