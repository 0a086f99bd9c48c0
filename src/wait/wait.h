// Waits until objects of a cluster are in some state: `fairlead wait`.
//
// This is the room's first header. form.h says what is waited for and judges objects, target.h says which objects, and
// layers.h what is known of a webhook; all three are pure. The engine watches the objects. It waits for objects and
// kinds that do not exist yet, ends as soon as the result is certain, and proves webhooks with shadows (readiness).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "journal/journal.h"
#include "journal/outcome.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "object/object.h"
#include "readiness/proof.h"
#include "wait/form.h"
#include "wait/layers.h"
#include "wait/target.h"

namespace fairlead::wait {

inline constexpr Duration kTimeout = std::chrono::minutes(10);
inline constexpr Duration kWebhookTimeout = std::chrono::minutes(3);
inline constexpr Duration kLeastWebhookTimeout = std::chrono::seconds(30);

struct Options {
  Form form;
  // One object that meets the form is enough.
  bool any = false;
  // How long an object may take to exist, and to meet the form from then on. Zero: it is judged once. Nothing: the
  // default, which for `timeout` is shorter for webhooks.
  std::optional<Duration> existence_timeout = {};
  std::optional<Duration> timeout = {};
  // A webhook may have less than kLeastWebhookTimeout.
  bool allow_short = false;
  std::string default_namespace = "default";
  bool all_namespaces = false;
  // The object of --probe-with: webhooks also have to decide on it.
  std::optional<object::Object> probe = {};
  // The name of this run in the cluster, for shadows, and whether another run is known to have ended.
  std::string run = "wait";
  std::function<bool(std::string_view run)> run_known_dead = {};

  // Whoever gives little time for the form means all of it. As in kubectl, no time at all means to look once.
  Duration time_to_exist() const {
    constexpr Duration kDefault = std::chrono::minutes(5);
    return existence_timeout.value_or(std::min(kDefault, timeout.value_or(kDefault)));
  }
};

// What is known of a webhook at the end.
struct WebhookEnding {
  std::string name;
  object::Key configuration;
  readiness::Rung rung = readiness::Rung::nothing;
  std::vector<Layer> layers;
  // What the API server was seen to do.
  std::vector<std::string> evidence;
};

struct ObjectEnding {
  enum class State {
    met,
    failed,
    timed_out,
    waiting,  // the result was certain before its time was over
  };
  object::Key key;
  std::string source;
  State state = State::waiting;
  // What was seen last: "2 of 3 replicas are ready".
  std::string reason;
  Duration took{};
  std::vector<WebhookEnding> webhooks;
};
// "met", "failed", "timed out" or "waiting".
std::string_view name_of(ObjectEnding::State state);

struct Ending {
  using How = journal::Outcome;
  How how = How::done;
  std::vector<ObjectEnding> objects;
  // One per object that did not meet the form; with `any`, none if another one did.
  std::vector<journal::Cause> causes;
  Duration took{};
  uint64_t requests = 0;
};

// Fails for targets that the form or the probe does not fit, as far as the words tell that.
Result<void> check(const std::vector<Target>& targets, const Options& options);

// Waits for the targets. Cancelling `stop` (may be null) gives How::interrupted. Removes its shadows in any case. The
// task itself must not be cancelled.
Task<Ending> wait_for(kube::Client& client, kube::Discovery& discovery, std::vector<Target> targets, Options options,
                      journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::wait
