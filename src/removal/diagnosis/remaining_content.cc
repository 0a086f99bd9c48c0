#include "removal/diagnosis/remaining_content.h"

#include "async/scope.h"
#include "base/plain_text.h"
#include "object/condition.h"
#include "removal/diagnosis/namespaced_kinds.h"
#include "removal/diagnosis/progress.h"

namespace fairlead::removal {
namespace {

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

Task<void> look(kube::Client& client, object::Resource resource, std::string ns, RemainingContent& left) {
  auto list = co_await client.list(resource, {.ns = ns, .metadata_only = true});
  if (!list) {
    bool is_gone = list.error().is(kube::FaultKind::not_found) || list.error().is(kube::FaultKind::not_served);
    if (!is_gone) left.unread.push_back(resource.name_with_group());
    co_return;
  }
  for (Json& object : list->items) {
    const Json& metadata = object["metadata"];
    bool is_held = metadata.contains("deletionTimestamp") && !metadata["finalizers"].items().empty();
    if (!is_held) {
      if (resource.kind != "Event") ++left.others;
      continue;
    }
    object::Key key{
        .group = resource.group, .kind = resource.kind, .ns = ns, .name = std::string(metadata["name"].string_or(""))};
    left.held.push_back({.key = std::move(key), .resource = resource, .object = std::move(object)});
  }
}

}  // namespace

std::string RemainingObject::finalizers() const {
  std::string names;
  for (const Json& one : object["metadata"]["finalizers"].items()) append(names, std::string(one.string_or("")));
  return names;
}

Task<RemainingContent> find_remaining_content(kube::Client& client, kube::Discovery& discovery, std::string ns) {
  RemainingContent left;
  Scope scope(client.loop(), co_await current_cancel());
  for (object::Resource& kind : all_namespaced_kinds(discovery.known()))
    scope.spawn(look(client, std::move(kind), ns, left));
  co_await scope.join();
  std::ranges::sort(left.held, {}, &RemainingObject::key);
  std::ranges::sort(left.unread);
  co_return left;
}

std::string unreachable_text(const Evidence& evidence, const RemainingContent& left) {
  std::string text;
  for (const std::string& kind : left.unread) append(text, fmt::format("all {}, which cannot be listed", kind));
  const Json& discovery = object::condition(evidence.object, "NamespaceDeletionDiscoveryFailure");
  if (!object::has_status(discovery, "True")) return plain_text(text, 1000);
  bool any = false;
  for (const Json& service : evidence.api_services) {
    if (object::has_status(object::condition(service, "Available"), "True")) continue;
    append(text, fmt::format("objects that APIService {} serves", service["metadata"]["name"].string_or("")));
    any = true;
  }
  if (!any) append(text, fmt::format("what cannot be discovered ({})", discovery["message"].string_or("")));
  return plain_text(text, 1000);
}

}  // namespace fairlead::removal
