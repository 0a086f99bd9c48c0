#include "terraform/objects/takeover.h"

namespace fairlead::terraform {

inventory::Successor successor_of(const std::string& field_manager, const std::vector<std::string>& former) {
  // Those of Terraform's other providers, of kubectl apply --server-side, and of Fairlead's own command line.
  inventory::Successor successor{.field_manager = field_manager,
                                 .label_value = {},
                                 .predecessors = {"k8sconnect", "Terraform", "kubectl", "fairlead"}};
  for (const std::string& manager : former)
    if (!manager.empty()) successor.predecessors.insert(manager);
  successor.predecessors.erase(field_manager);
  return successor;
}

Task<kube::Outcome<kube::Reply>> take_over(kube::Client& client, object::Resource resource, Json value,
                                           kube::Reply answer, inventory::Successor successor,
                                           kube::ApplyOptions options) {
  std::string ns(answer.value["metadata"]["namespace"].string_or(""));
  std::string name(answer.value["metadata"]["name"].string_or(""));
  // One round per version in which former managers wrote, and some more for objects that others change meanwhile.
  for (int round = 0; round < 5; ++round) {
    Json patch = inventory::takeover_patch(answer.value, successor);
    if (patch.is_null()) break;
    kube::WriteOptions writing;
    writing.field_manager = options.field_manager;
    auto patched = co_await client.patch(resource, ns, name, kube::PatchType::json, patch, writing);
    if (!patched && !patched.error().is(kube::FaultKind::conflict)) co_return std::unexpected(patched.error());
    auto applied = co_await client.apply(resource, ns, name, value, options);
    if (!applied) co_return applied;
    answer = *std::move(applied);
  }
  co_return answer;
}

}  // namespace fairlead::terraform
