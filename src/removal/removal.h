// Takes objects out of a cluster in the order in which they can really go: the room's first header.
//
// Order (order.h) says who goes after whom, Plan (plan.h) what may go now, both pure; the engine does it: one DELETE an
// object, each as soon as nothing stands before it, and one watch a kind that tells when it is gone. Only a deletion
// that the server tells, a 404 or another UID under the name proves that an object is gone; everything else is "not
// known". What makes no progress is investigated (investigation.h) and explained (stuck.h) early, while the wait goes
// on. The engine keeps nothing: interrupted anywhere and run again, it goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "inventory/membership.h"
#include "journal/journal.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "manifest/manifest.h"

namespace fairlead::removal {

// What becomes of objects that an object owns.
enum class Cascade { background, foreground, orphan };
// `client`: only tells what would go; `server`: the API server is asked as well, and removes nothing.
enum class DryRun { none, client, server };

struct Options {
  // For objects of manifests and names that have none. `namespace_is_chosen`: the user asked for it, so that another
  // one in a manifest is a contradiction.
  std::string default_namespace = "default";
  bool namespace_is_chosen = false;
  Cascade cascade = Cascade::background;
  DryRun dry_run = DryRun::none;
  // Until everything is gone; otherwise until everything was told to go. What others have to wait for is waited for.
  bool wait = true;
  // For all of it; zero: no limit.
  Duration timeout = Duration::zero();
  // When that is over; unless it is set, `timeout` counts from the beginning of the call.
  TimePoint expires = TimePoint::max();
  // By kind ("Namespace", "Widget.example.com"), for what people want otherwise than is usual (readiness/timeouts.h).
  std::map<std::string, Duration, std::less<>> timeout_for;
  // Without progress for this long, an object is stuck.
  Duration stuck_after = std::chrono::seconds(10);
  // Objects of other bundles, and what is in kube-system, go as well. What is protected does not.
  bool force = false;
  // With `bundle`: namespaces and CRDs go although they hold what others made. What other bundles have in them goes
  // with `force` only.
  bool with_contents = false;
  // Finalizers of what is stuck are removed, after `ask`.
  bool force_finalizers = false;
  // A cluster that cannot be reached is gone, and everything in it.
  bool cluster_gone = false;
  // The bundle whose members the targets are. A target that is not, or no longer, a member stays.
  std::optional<inventory::Identity> bundle;
  // Asked before anything is done that cannot be undone, with everything there is to know in the text. Without it the
  // answer is yes.
  std::function<Task<bool>(std::string text)> ask;
  // For others to read: "ann@laptop, process 4711".
  std::string holder = "fairlead";
  // For other runs: what tells this process from all others.
  std::string origin;
  // True if the process of that origin is known to have ended: the bundle is taken over without waiting.
  std::function<bool(std::string_view origin)> known_dead;
};

// An object that is to go.
struct Target {
  object::Key key;
  std::string version;
  std::string source;
  // Only the one with this UID; empty: whichever is there.
  std::string uid;
};

struct ObjectEnding {
  enum class State {
    gone,
    absent,     // it was not there
    leaving,    // told to go, and nobody wanted to wait
    would_go,   // a dry run
    kept,       // a namespace or CRD of a bundle that holds what others made
    refused,    // protected, of another bundle, of the system; or the API server does not let it go
    remains,    // told to go, and still there
    unknown,    // the API does not tell
    held,       // not told to go: something that has to go first did not
    not_begun,  // the run ended before
  };
  object::Key key;
  std::string source;
  State state = State::not_begun;
  // Why it did not go. What is kept is no failure, and has one all the same.
  std::optional<Error> error;
};
// "gone", "not begun"
std::string_view name_of(ObjectEnding::State state);

using journal::Cause;

struct Ending {
  enum class How {
    done,
    failed,
    timed_out,
    interrupted,
    declined,  // the user said no
  };
  How how = How::done;
  // In the order of the targets.
  std::vector<ObjectEnding> objects;
  std::vector<Cause> causes;
  Duration took{};
  uint64_t requests = 0;
};
std::string_view name_of(Ending::How how);

// The first cancellation of `stop` (may be null) lets what is in flight end and gives How::interrupted; the task itself
// must not be cancelled.
Task<Ending> take_out(kube::Client& client, kube::Discovery& discovery, std::vector<Target> targets, Options options,
                      journal::Journal& journal, CancelSource* stop);

// The objects of manifests.
Task<Ending> take_out_manifests(kube::Client& client, kube::Discovery& discovery, const manifest::Bundle& bundle,
                                Options options, journal::Journal& journal, CancelSource* stop);
// "KIND/NAME", as kubectl takes them.
Task<Ending> take_out_named(kube::Client& client, kube::Discovery& discovery, std::vector<std::string> names,
                            Options options, journal::Journal& journal, CancelSource* stop);
// All that belongs to the bundle of that name, whose home is the default namespace; and then its inventory.
Task<Ending> take_out_bundle(kube::Client& client, kube::Discovery& discovery, std::string name, Options options,
                             journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::removal
