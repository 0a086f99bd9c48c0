// Rolls out a bundle: sends its objects to a cluster in an order that the cluster can accept.
//
// This is the room's first header. The plan (plan.h) decides which objects may be sent next, and which are blocked, and
// by what. The engine sends each object as soon as its needs are met, lets objects that are refused for now wait at a
// RetryGate (retry_gate.h), proves guards (guards.h), and follows stored objects until they are ready (tracking.h).
// There are no phases, and the engine polls only what it cannot watch. Every event goes to the journal. The engine
// keeps no state of its own: if it is killed at any moment and run again, it converges.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/cancel.h"
#include "base/clock.h"
#include "journal/journal.h"
#include "journal/outcome.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "manifest/manifest.h"
#include "rollout/core/forecast.h"
#include "rollout/core/options.h"

namespace fairlead::rollout {

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
  // Set by a dry run for each object that would not stay as it is.
  std::shared_ptr<const Forecast> forecast = {};
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
  using How = journal::Outcome;
  How how = How::done;
  // In the order of the bundle, followed by the pruned objects.
  std::vector<ObjectEnding> objects;
  // Each root cause once, with the objects that it blocks.
  std::vector<Cause> causes;
  std::vector<PathStep> critical_path;
  // Only of a dry run.
  std::vector<Concern> concerns;
  // Members of the bundle that are no longer in the manifests, and stay because nobody asked to prune them.
  std::vector<object::Key> left;
  // The number of the revision that this run is in the bundle's history; zero if it is none.
  int64_t revision = 0;
  Duration took{};
  uint64_t requests = 0;
};

// Returns a sentence about Ending::left, which must not be empty: what left the manifests, and how to delete it.
std::string left_text(const std::vector<object::Key>& left);

// Rolls out the bundle. If the bundle or the cluster does not allow that, sends nothing and returns the errors in
// `causes`. Cancelling `stop` (may be null) lets requests in flight end and gives How::interrupted. The task itself
// must not be cancelled.
Task<Ending> roll_out(kube::Client& client, kube::Discovery& discovery, manifest::Bundle bundle, Options options,
                      journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::rollout
