// Deletes objects from a cluster in an order in which they can really be deleted.
//
// This is the room's first header. Order (order.h) says which targets are deleted after which others; the plan (plan.h)
// decides which may be deleted next. Both are pure. The engine sends one DELETE per object as soon as nothing has to be
// deleted before it, and one watch per kind tells when objects are deleted. An object counts as deleted only if the
// server reports its deletion, answers 404, or has another UID under its name; otherwise its state is not known.
// Objects that make no progress are investigated (investigation.h) and explained (stuck.h) early, while the wait
// continues. The engine keeps no state of its own: if it is interrupted at any moment and run again, it continues.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "async/cancel.h"
#include "base/clock.h"
#include "inventory/membership.h"
#include "journal/journal.h"
#include "journal/outcome.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "manifest/manifest.h"

namespace fairlead::removal {

// What happens to the objects that a deleted object owns.
enum class Cascade { background, foreground, orphan };
// `client` only reports what would be deleted. `server` also asks the API server, which deletes nothing.
enum class DryRun { none, client, server };

struct Options {
  // The namespace of objects in manifests, and of names, that have none. `namespace_is_chosen`: the user asked for this
  // namespace, so a manifest that names another one is an error.
  std::string default_namespace = "default";
  bool namespace_is_chosen = false;
  Cascade cascade = Cascade::background;
  DryRun dry_run = DryRun::none;
  // Wait until everything is deleted; otherwise until every DELETE was accepted. Objects that others have to wait for
  // are waited for in any case.
  bool wait = true;
  // The time limit of the whole run; zero means no limit.
  Duration timeout = Duration::zero();
  // When that time is over. If it is not set, `timeout` counts from the beginning of the call.
  TimePoint expires = TimePoint::max();
  // Time limits by kind ("Namespace", "Widget.example.com") that replace the defaults (readiness/timeouts.h).
  std::map<std::string, Duration, std::less<>> timeout_for;
  // An object is stuck if it has made no progress for this long.
  Duration stuck_after = std::chrono::seconds(10);
  // Also deletes objects of other bundles and objects in kube-system, but not protected ones.
  bool force = false;
  // With `bundle`: also deletes Namespaces and CRDs that contain objects that others made. If these belong to other
  // bundles, `force` is required as well.
  bool with_contents = false;
  // Removes the finalizers of stuck objects, after `ask`.
  bool force_finalizers = false;
  // Treats a cluster that cannot be reached as deleted, with everything in it.
  bool cluster_gone = false;
  // The bundle to which the targets belong. A target that is not, or no longer, a member stays.
  std::optional<inventory::Identity> bundle;
  // Called before anything is done that cannot be undone; the text says everything the user has to know. Without it the
  // answer is yes.
  std::function<Task<bool>(std::string text)> ask;
  // The name of this run in the cluster. Shadows that other runs left behind are removed by a run with a name.
  std::string run;
  // Returns true if the run of that name is known to have ended. Its shadows are then removed before they expire.
  std::function<bool(std::string_view run)> run_known_dead;
  // Tells other people who runs this: "ann@laptop, process 4711".
  std::string holder = "fairlead";
  // Tells other runs which process this is: no other process has the same origin.
  std::string origin;
  // Returns true if the process of that origin is known to have ended. Its bundle is then taken over without waiting.
  std::function<bool(std::string_view origin)> known_dead;
};

// An object that is to be deleted.
struct Target {
  object::Key key;
  std::string version;
  std::string source;
  // Delete the object only if it has this UID; empty for any.
  std::string uid;
};

// What became of one target.
struct ObjectEnding {
  enum class State {
    gone,
    absent,     // it did not exist
    leaving,    // it is being deleted, and nobody waited for the end
    would_go,   // a dry run would delete it
    kept,       // a Namespace or CRD of a bundle that contains objects that others made
    refused,    // protected, of another bundle, of the system; or the API server refuses the deletion
    remains,    // its time is over, and it still exists
    unknown,    // the API does not say whether it exists
    blocked,    // an object that has to be deleted first was not
    not_begun,  // the run ended before its DELETE was sent
  };
  object::Key key;
  std::string source;
  State state = State::not_begun;
  // Why it was not deleted. A kept object has an error too, although that is no failure.
  std::optional<Error> error;
};
// Returns "gone", "not begun" and so on.
std::string_view name_of(ObjectEnding::State state);

using journal::Cause;

struct Ending {
  using How = journal::Outcome;
  How how = How::done;
  // In the order of the targets.
  std::vector<ObjectEnding> objects;
  std::vector<Cause> causes;
  Duration took{};
  uint64_t requests = 0;
};

// Deletes the targets. Cancelling `stop` (may be null) lets requests in flight end and gives How::interrupted. The task
// itself must not be cancelled.
Task<Ending> take_out(kube::Client& client, kube::Discovery& discovery, std::vector<Target> targets, Options options,
                      journal::Journal& journal, CancelSource* stop);

// Deletes the objects of manifests.
Task<Ending> take_out_manifests(kube::Client& client, kube::Discovery& discovery, const manifest::Bundle& bundle,
                                Options options, journal::Journal& journal, CancelSource* stop);
// Deletes the objects with these names, each "KIND/NAME" as in kubectl.
Task<Ending> take_out_named(kube::Client& client, kube::Discovery& discovery, std::vector<std::string> names,
                            Options options, journal::Journal& journal, CancelSource* stop);
// Deletes everything that belongs to the bundle of that name, and then its inventory. The bundle's home is the default
// namespace.
Task<Ending> take_out_bundle(kube::Client& client, kube::Discovery& discovery, std::string name, Options options,
                             journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::removal
