#include "gate/server/gate.h"

#include <algorithm>

#include "base/printable.h"
#include "base/timestamp.h"
#include "gate/server/internal/catch_up.h"
#include "gate/server/internal/gate_parts.h"

namespace fairlead::gate {
namespace {

object::Resource event_resource() {
  object::Resource resource;
  resource.version = "v1";
  resource.kind = "Event";
  resource.plural = "events";
  resource.namespaced = true;
  return resource;
}

}  // namespace

Gate::Gate(kube::Client& client, Caller& caller, GateOptions options)
    : client_(client),
      loop_(client.loop()),
      caller_(caller),
      options_(std::move(options)),
      view_(client, options_.registrar.name),
      catch_up_(std::make_unique<CatchUp>(client, view_, view_.changed())),
      health_changed_(loop_) {}

Gate::~Gate() = default;

void Gate::say(std::string_view level, const std::string& line) const {
  if (options_.say) options_.say(level, line);
}

Task<void> Gate::run() {
  Scope scope(loop_, co_await current_cancel());
  scope_ = &scope;
  scope.spawn(view_.run());
  scope.spawn(follow_hooks(scope));
  co_await scope.join();
  scope_ = nullptr;
}

// Keeps one task per webhook.
Task<void> Gate::follow_hooks(Scope& scope) {
  while (true) {
    const std::map<std::string, HookPtr>& hooks = view_.hooks();
    std::erase_if(tracked_, [&](const auto& entry) {
      if (hooks.contains(entry.first)) return false;
      entry.second->stop.cancel();
      return true;
    });
    for (const auto& [id, hook] : hooks) {
      auto found = tracked_.find(id);
      if (found != tracked_.end()) {
        found->second->hook = hook;
        found->second->woken.notify_all();
        continue;
      }
      // Its age is told by one clock: the API server's.
      Duration age = client_.server_now() - parse_timestamp(hook->created).value_or(client_.server_now());
      auto tracked = std::make_shared<Tracked>(loop_, hook, loop_.now() - std::max(age, Duration()));
      tracked_[id] = tracked;
      scope.spawn(follow_hook(tracked));
    }
    health_changed_.notify_all();
    if (!co_await view_.changed().wait()) break;
  }
  for (const auto& [id, tracked] : tracked_) tracked->stop.cancel();
}

Task<void> Gate::follow_hook(std::shared_ptr<Tracked> tracked) {
  auto turns = [this](std::shared_ptr<Tracked> each) -> Task<void> {
    while (!each->stop.cancelled()) {
      Finding finding = co_await look(*each);
      if (each->stop.cancelled()) co_return;
      note(*each, std::move(finding));
      auto woken = [&each]() -> Task<Result<void>> { co_return co_await each->woken.wait(); };
      (void)co_await with_deadline(loop_, loop_.now() + pause_for(*each), "time to look", woken());
    }
  };
  co_await turns(tracked).governed_by(&tracked->stop);
  if (options_.witness) co_await options_.witness->forget(tracked->hook->id()).uncancelled();
}

Duration Gate::pause_for(const Tracked& tracked) const {
  switch (tracked.health.phase(options_.patience, loop_.now())) {
    case Phase::unseen: return options_.pause_waiting;
    case Phase::coming_up:
    case Phase::gone: return tracked.waiting > 0 ? options_.pause_waiting : options_.pause_awaited;
    case Phase::broken: return options_.pause_broken;
    case Phase::works:
    case Phase::unproved: break;
  }
  return options_.pause_settled;
}

Task<Finding> Gate::look(Tracked& tracked) {
  HookPtr hook = tracked.hook;
  Surroundings around;
  if (hook->webhook.service) around = view_.surroundings(*hook->webhook.service);
  Look look = look_at(*hook, around);
  if (look.finding) {
    tracked.answers_since.reset();
    bool may_be_called = look.finding->kind == Finding::Kind::unproved;
    if (!may_be_called || !options_.witness) {
      tracked.called = {};
      co_return *look.finding;
    }
  }
  // Whatever woke it up concerned something else.
  bool is_same =
      look.addresses == tracked.called.addresses && look.ca == tracked.called.ca && look.path == tracked.called.path;
  Finding::Kind known = tracked.health.finding().kind;
  bool is_settled =
      known == Finding::Kind::works || known == Finding::Kind::unproved || known == Finding::Kind::doubtful;
  if (is_same && is_settled && loop_.now() < tracked.called_at + options_.pause_settled)
    co_return tracked.health.finding();
  tracked.called = look;
  Finding finding = look.finding ? *look.finding : co_await call_all(tracked, look);
  finding = co_await witnessed(hook, std::move(finding));
  tracked.called_at = loop_.now();
  co_return finding;
}

Task<Finding> Gate::witnessed(HookPtr hook, Finding finding) {
  if (!options_.witness) co_return finding;
  if (finding.kind == Finding::Kind::works) {
    co_await options_.witness->forget(hook->id());
    co_return finding;
  }
  std::optional<Finding> said = co_await options_.witness->ask(hook);
  co_return said ? std::move(*said) : finding;
}

Task<Finding> Gate::call_all(Tracked& tracked, const Look& look) {
  HookPtr hook = tracked.hook;
  std::vector<CallResult> results(look.addresses.size());
  Scope scope(loop_, co_await current_cancel());
  auto call = [this, &look](Address address, CallResult& into) -> Task<void> {
    CallSpec spec{.address = std::move(address), .server_name = look.server_name, .ca = look.ca, .path = look.path};
    into = co_await caller_.call(std::move(spec));
  };
  for (size_t i = 0; i < results.size(); ++i) scope.spawn(call(look.addresses[i], results[i]));
  co_await scope.join();
  Finding finding = judge(*hook, look, results, tracked.health.has_worked());
  if (finding.kind != Finding::Kind::works) {
    tracked.answers_since.reset();
    co_return finding;
  }
  if (!tracked.answers_since) tracked.answers_since = loop_.now();
  bool works_already = tracked.health.finding().kind == Finding::Kind::works;
  if (!works_already && co_await does_proxy_refuse(tracked, look))
    co_return Finding{.kind = Finding::Kind::failing,
                      .cause = fmt::format("{} answers, but the network does not lead to it yet", look.server_name)};
  co_return finding;
}

// kube-proxy learns of an endpoint later than the gate, and refuses calls until then. Only for a while: the gate's own
// network may be another one than that of the API servers.
Task<bool> Gate::does_proxy_refuse(Tracked& tracked, const Look& look) {
  if (!look.cluster_address || loop_.now() > *tracked.answers_since + options_.proxy_delay) co_return false;
  CallSpec spec{.address = *look.cluster_address,
                .server_name = look.server_name,
                .ca = look.ca,
                .path = look.path,
                .connect = std::chrono::milliseconds(150)};
  CallResult result = co_await caller_.call(std::move(spec));
  co_return result.kind == CallResult::Kind::refused;
}

void Gate::note(Tracked& tracked, Finding finding) {
  bool changes = finding.kind != tracked.health.finding().kind;
  bool is_news = changes || finding.cause != tracked.health.finding().cause;
  tracked.health.see(std::move(finding), loop_.now());
  if (!is_news) return;
  const Finding& now = tracked.health.finding();
  Phase phase = tracked.health.phase(options_.patience, loop_.now());
  bool is_bad = now.kind == Finding::Kind::failing;
  say(is_bad ? "warning" : "info",
      fmt::format("{}: {}{}{}", tracked.hook->text(), name_of(phase), now.cause.empty() ? "" : ": ", now.cause));
  if (now.kind == Finding::Kind::works) tracked.told_waiting = tracked.told_spent = false;
  if (changes) health_changed_.notify_all();
}

void Gate::tell_waiting(const Wait& wait, const webhook::Request& request) {
  for (const std::string& id : wait.hooks) {
    auto found = tracked_.find(id);
    if (found == tracked_.end() || found->second->told_waiting || wait.is_provisional) continue;
    found->second->told_waiting = true;
    say("info", fmt::format("{} waits for {}", object_text(request), wait.text));
    write_event(*found->second, "RequestsWait", fmt::format("{} waits: {}", object_text(request), refusal_text(wait)));
  }
}

void Gate::write_event(const Tracked& tracked, std::string reason, std::string text) {
  if (!options_.events || !scope_) return;
  const Hook& hook = *tracked.hook;
  std::string time = timestamp(loop_.clock().wall_now());
  Json event = Json::Object{
      {"metadata", Json::Object{{"generateName", hook.webhook.configuration + "."}, {"namespace", "default"}}},
      {"involvedObject", Json::Object{{"apiVersion", "admissionregistration.k8s.io/v1"},
                                      {"kind", hook.configuration_kind()},
                                      {"name", hook.webhook.configuration},
                                      {"uid", hook.uid}}},
      {"reason", std::move(reason)},
      {"message", printable_line(text.substr(0, 1000))},
      {"type", "Warning"},
      {"source", Json::Object{{"component", "fairlead-gate"}}},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
  scope_->spawn(send_event(std::move(event)));
}

Task<void> Gate::send_event(Json event) {
  auto written = co_await client_.create(event_resource(), "default", event);
  if (!written && written.error().error().kind() != ErrorKind::cancelled)
    say("warning", "an Event cannot be written: " + written.error().error().message());
}

void Gate::drain() {
  draining_ = true;
  health_changed_.notify_all();
}

std::string Gate::not_ready() const {
  if (view_.synced()) return registered_ ? "" : "the webhook configurations of the gate are not made yet";
  std::string trouble = view_.trouble();
  return trouble.empty() ? "the webhooks of the cluster are not read yet" : trouble;
}

std::vector<Json> Gate::wanted_configurations(const std::string& ca_bundle) const {
  std::vector<const Hook*> hooks;
  std::vector<const Hook*> awaited;
  for (const auto& [id, tracked] : tracked_) {
    hooks.push_back(tracked->hook.get());
    // One that was just registered works, most often.
    Phase phase = tracked->health.phase(options_.patience, loop_.now());
    if (phase == Phase::coming_up || phase == Phase::gone) awaited.push_back(tracked->hook.get());
  }
  Registrar registrar = options_.registrar;
  registrar.ca_bundle = ca_bundle;
  return configurations(registrar, view_.kinds().groups(), hooks, awaited);
}

}  // namespace fairlead::gate
