// What people see of the gate.
#include <fmt/chrono.h>

#include "base/printable.h"
#include "gate/server/internal/gate_parts.h"

namespace fairlead::gate {
namespace {

constexpr size_t kMaxListed = 100;

}  // namespace

std::string object_text(const webhook::Request& request) {
  std::string name = request.name.empty() ? "(new)" : request.name;
  bool has_namespace = !request.ns.empty() && request.resource.resource != "namespaces";
  return printable_line(
      fmt::format("{} {}{}", request.kind.kind, has_namespace ? request.ns + "/" : std::string(), name));
}

std::string timestamp(WallTime time) {
  auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

std::string Gate::metrics() const {
  std::string text = text_of(counts_, held_.size());
  text +=
      "# HELP fairlead_gate_webhook_state 1 for the state that a webhook is in.\n"
      "# TYPE fairlead_gate_webhook_state gauge\n";
  for (const auto& [id, tracked] : tracked_)
    text += fmt::format("fairlead_gate_webhook_state{{configuration=\"{}\",webhook=\"{}\",state=\"{}\"}} 1\n",
                        label_text(tracked->hook->webhook.configuration), label_text(tracked->hook->webhook.name),
                        name_of(tracked->health.phase(options_.patience, loop_.now())));
  return text;
}

Json Gate::status() const {
  TimePoint now = loop_.now();
  WallTime wall = loop_.clock().wall_now();
  Json::Array webhooks;
  for (const auto& [id, tracked] : tracked_) {
    const Health& health = tracked->health;
    const admission::Webhook& hook = tracked->hook->webhook;
    Json::Object one{{"configuration", hook.configuration},
                     {"kind", tracked->hook->configuration_kind()},
                     {"webhook", hook.name},
                     {"state", name_of(health.phase(options_.patience, now))},
                     {"since", timestamp(wall - (now - health.since()))},
                     {"waiting", static_cast<int64_t>(tracked->waiting)}};
    if (!health.finding().cause.empty()) one.append("cause", health.finding().cause);
    if (!health.finding().next.empty()) one.append("next", health.finding().next);
    webhooks.emplace_back(std::move(one));
  }
  Json::Array waiting;
  for (const Held& held : held_) {
    if (waiting.size() == kMaxListed) break;
    waiting.emplace_back(Json::Object{{"object", held.object},
                                      {"user", held.user},
                                      {"for", held.hook},
                                      {"seconds", std::chrono::duration<double>(now - held.since).count()}});
  }
  Json::Array before;
  for (const std::string& name : view_.before()) before.emplace_back(name);
  Json::Array own;
  for (const std::string& name : view_.own()) own.emplace_back(name);
  return Json::Object{
      {"ready", not_ready().empty()},    {"trouble", view_.trouble()},    {"held", static_cast<int64_t>(held_.size())},
      {"webhooks", std::move(webhooks)}, {"waiting", std::move(waiting)}, {"configurations", std::move(own)},
      {"before", std::move(before)}};
}

std::optional<std::string> Gate::page(std::string_view path) const {
  if (path != "/status") return std::nullopt;
  return status().dump() + "\n";
}

}  // namespace fairlead::gate
