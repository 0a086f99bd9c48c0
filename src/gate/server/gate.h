// The gate: answers the API server's question whether a request may go on, and makes it wait while a webhook in its way
// does not work yet.
//
// This is the room's first header.
//   view.h          what the gate sees of the cluster
//   caller.h        calls of webhooks, which prove that they work
//   witness.h       calls that the API server makes, where those of the gate do not tell
//   registrations.h the gate's own webhook configurations
//   metrics.h       what it counts
// The gate never refuses for good, and never denies on its own authority: in doubt, a request goes on to whatever the
// API server says. It runs on any loop, so that tests run it under a virtual clock.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "gate/rules/attempts.h"
#include "gate/rules/health.h"
#include "gate/rules/registration.h"
#include "gate/rules/verdict.h"
#include "gate/server/caller.h"
#include "gate/server/metrics.h"
#include "gate/server/view.h"
#include "gate/server/witness.h"
#include "webhook/review/review.h"
#include "webhook/server/answerer.h"

namespace fairlead::gate {

struct GateOptions {
  Registrar registrar;
  Patience patience;
  // Requests that are held at a time; more are refused with 429.
  size_t holds = 300;
  // Between two calls of a webhook: while requests wait for it, while it is awaited, while it is broken, and while it
  // works or cannot be judged.
  Duration pause_waiting = std::chrono::milliseconds(100);
  Duration pause_awaited = std::chrono::milliseconds(500);
  Duration pause_broken = std::chrono::seconds(5);
  Duration pause_settled = std::chrono::seconds(20);
  // For how long kube-proxy may take to send calls to an endpoint that answers.
  Duration proxy_delay = std::chrono::seconds(3);
  // Is asked where the gate's own calls do not show that a webhook works; may be null. It must outlive the gate.
  Witness* witness = nullptr;
  // Tell people by Events.
  bool events = true;
  // Add a warning to the answers of requests that waited.
  bool warns = false;
  // For the log; a level ("info" or "warning"), and a line.
  std::function<void(std::string_view level, const std::string& line)> say = {};
};

class CatchUp;

class Gate final : public webhook::Answerer {
 public:
  // Both must outlive it, and the client must use the loop that the gate runs on.
  Gate(kube::Client& client, Caller& caller, GateOptions options);
  ~Gate() override;

  // Watches the cluster and calls webhooks, until it is cancelled.
  Task<void> run();

  Task<http::Answer> answer(http::Request request) override;
  std::vector<std::string> paths() const override { return {std::string(kPath)}; }
  std::string not_ready() const override;
  std::string metrics() const override;
  std::optional<std::string> page(std::string_view path) const override;
  void drain() override;

  // Call it once the gate has its configurations. Before that it is not ready: whoever installs it means that from now
  // on requests wait.
  void set_registered() { registered_ = true; }
  bool is_draining() const { return draining_; }

  // What /status shows.
  Json status() const;
  View& view() { return view_; }
  // The configurations that the gate must have now.
  std::vector<Json> wanted_configurations(const std::string& ca_bundle) const;
  // Notified when a webhook became awaited, or is not any more.
  Signal& health_changed() { return health_changed_; }
  const Counts& counts() const { return counts_; }
  const Patience& patience() const { return options_.patience; }

 private:
  struct Tracked;
  struct Held;
  struct Awaiting;

  Task<void> follow_hooks(Scope& scope);
  Task<void> follow_hook(std::shared_ptr<Tracked> tracked);
  Task<Finding> look(Tracked& tracked);
  // The finding, or that of the witness where there is one and the calls do not show that the webhook works.
  Task<Finding> witnessed(HookPtr hook, Finding finding);
  Task<Finding> call_all(Tracked& tracked, const Look& look);
  Task<bool> does_proxy_refuse(Tracked& tracked, const Look& look);
  void note(Tracked& tracked, Finding finding);
  Duration pause_for(const Tracked& tracked) const;

  // True if a webhook for objects of this group may have been registered that the gate has not seen yet.
  bool may_be_late(std::string_view group) const;
  // Waits until the gate knows of every webhook that was registered before, but not for long.
  Task<void> catch_up();
  Awaiting awaiting(TimePoint now) const;
  Task<http::Answer> answer_review(webhook::AdmissionReview review, TimePoint arrived, Duration time);
  Task<void> hold(const std::vector<std::string>& hooks, TimePoint until);
  // Lets those who were held go on one after the other, each until `latest` at the latest.
  Task<void> take_turn(TimePoint latest);
  // Until when requests wait for the hooks that are still awaited; nothing if none is.
  std::optional<TimePoint> still_awaited(const std::vector<std::string>& hooks, bool& is_proved) const;
  http::Answer allow(const webhook::AdmissionReview& review, Decided decided, const Wait* wait = nullptr,
                     TimePoint arrived = {});
  http::Answer refuse(const webhook::AdmissionReview& review, const Wait& wait, const std::string& key,
                      Duration remaining, Duration held);
  void tell_waiting(const Wait& wait, const webhook::Request& request);
  void write_event(const Tracked& tracked, std::string reason, std::string text);
  Task<void> send_event(Json event);
  void say(std::string_view level, const std::string& line) const;

  kube::Client& client_;
  Loop& loop_;
  Caller& caller_;
  GateOptions options_;
  View view_;
  std::unique_ptr<CatchUp> catch_up_;
  Signal health_changed_;
  // By id.
  std::map<std::string, std::shared_ptr<Tracked>> tracked_;
  Attempts attempts_;
  std::list<Held> held_;
  // Of the request that went on last.
  TimePoint next_turn_{};
  bool registered_ = false;
  bool draining_ = false;
  Scope* scope_ = nullptr;
  Counts counts_;
};

}  // namespace fairlead::gate
