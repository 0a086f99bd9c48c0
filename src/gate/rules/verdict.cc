#include "gate/rules/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "admission/match.h"

namespace fairlead::gate {
namespace {

admission::Attributes attributes_of(const webhook::Request& request, const Knowledge& knowledge) {
  admission::Attributes attributes;
  attributes.operation = request.operation;
  attributes.resource = request.resource;
  attributes.kind = request.kind;
  attributes.subresource = request.subresource;
  attributes.ns = request.ns;
  attributes.name = request.name;
  attributes.object = request.object;
  attributes.old_object = request.old_object;
  attributes.ns_object = knowledge.ns_object;
  attributes.dry_run = request.dry_run;
  attributes.user = request.user;
  attributes.options = request.options;
  attributes.equivalents = knowledge.kinds.equivalents(request.resource);
  // Served in two versions, without a CRD.
  if (request.resource.group == "autoscaling" && request.kind.kind == "HorizontalPodAutoscaler") {
    std::string other = request.resource.version == "v1" ? "v2" : "v1";
    attributes.equivalents.push_back({.resource = {"autoscaling", other, request.resource.resource},
                                      .kind = {"autoscaling", other, request.kind.kind}});
  }
  if (knowledge.kinds.converts(request.resource.group, request.resource.resource))
    attributes.convert = [](const Json&, const admission::GroupVersionKind&) -> Result<Json> {
      return fail(ErrorKind::limit, "only its conversion webhook knows the object in another version");
    };
  return attributes;
}

// True only if the API server is sure to call it. A request that a selector or a condition ends is not helped by
// waiting.
bool is_called(const Hook& hook, const admission::Attributes& attributes) {
  admission::Match match = admission::match(hook.webhook, attributes);
  return match.outcome == admission::Match::Outcome::yes && !match.undecided;
}

}  // namespace

std::optional<Wait> wait_for(const webhook::Request& request, const Knowledge& knowledge) {
  if (knowledge.awaited.empty()) return std::nullopt;
  admission::Attributes attributes = attributes_of(request, knowledge);
  std::optional<Wait> wait;
  for (const AwaitedHook& awaited : knowledge.awaited) {
    if (may_back(request, *awaited.hook, knowledge.backing, knowledge.kinds)) continue;
    if (!is_called(*awaited.hook, attributes)) continue;
    bool is_proved = awaited.phase != Phase::unseen;
    bool is_first = !wait || (wait->is_provisional && is_proved);
    if (!wait) wait.emplace();
    if (is_first) {
      wait->text = awaited.hook->text();
      wait->name = awaited.hook->webhook.name;
      wait->finding = awaited.finding;
    }
    wait->hooks.push_back(awaited.hook->id());
    if (is_proved) wait->is_provisional = false;
    wait->until = std::max(wait->until, awaited.until);
  }
  return wait;
}

std::string refusal_text(const Wait& wait) {
  std::string others = wait.hooks.size() > 1 ? fmt::format(" (and {} more)", wait.hooks.size() - 1) : "";
  std::string text = fmt::format("{} does not work yet{}: {}", wait.text, others, wait.finding.cause);
  if (!wait.finding.next.empty()) text += "; see: " + wait.finding.next;
  return text;
}

}  // namespace fairlead::gate
