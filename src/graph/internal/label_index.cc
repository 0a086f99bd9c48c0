#include "graph/internal/label_index.h"

#include "graph/internal/pods.h"
#include "object/selector.h"

namespace fairlead::graph {

LabelIndex::LabelIndex(const GraphBuilder& builder) : builder_(builder) {
  for (NodeId i : builder.objects()) {
    Family family = builder.family(i);
    // The pods of Jobs are short-lived and never answer for a Service.
    if (builder.contents->left_out[i] || (family != Family::pod && family != Family::workload)) continue;
    const Json* pod = find_pod(family, builder.value(i));
    if (pod == nullptr) continue;
    for (const Json::Member& label : (*pod)["metadata"]["labels"].members())
      workloads_[{.group = label.key, .kind = "", .ns = builder.key(i).ns, .name = label.value.string_or("")}]
          .push_back(i);
  }
}

std::vector<NodeId> LabelIndex::find(std::string_view ns, const Json& labels) const {
  const std::vector<NodeId>* fewest = nullptr;
  for (const Json::Member& label : labels.members()) {
    auto found = workloads_.find({.group = label.key, .kind = "", .ns = ns, .name = label.value.string_or("")});
    if (found == workloads_.end()) return {};
    if (fewest == nullptr || found->second.size() < fewest->size()) fewest = &found->second;
  }
  std::vector<NodeId> matches;
  if (fewest == nullptr) return matches;
  for (NodeId workload : std::span(*fewest).first(std::min(fewest->size(), kTried))) {
    if (matches.size() == kMost) break;
    const Json& has = (*find_pod(builder_.family(workload), builder_.value(workload)))["metadata"]["labels"];
    bool all =
        std::ranges::all_of(labels.members(), [&](const Json::Member& label) { return has[label.key] == label.value; });
    if (all) matches.push_back(workload);
  }
  return matches;
}

std::vector<NodeId> find_parameters(const GraphBuilder& builder, const Json& param_kind, const Json& param_ref) {
  std::vector<NodeId> found;
  std::string_view name = param_ref["name"].string_or("");
  std::string_view ns = param_ref["namespace"].string_or("");
  std::string_view kind = param_kind["kind"].string_or("");
  Result<object::ApiVersion> version = object::ApiVersion::parse(param_kind["apiVersion"].string_or(""));
  Result<object::Selector> selector = object::Selector::from_json(param_ref["selector"]);
  if (!version || !selector || kind.empty()) return found;
  for (NodeId i : builder.objects()) {
    const object::Key& key = builder.key(i);
    bool is_kind = key.kind == kind && key.group == version->group && !builder.contents->left_out[i];
    if (!is_kind || (!ns.empty() && key.ns != ns)) continue;
    if (name.empty() ? selector->matches(builder.value(i)["metadata"]["labels"]) : key.name == name) found.push_back(i);
  }
  return found;
}

}  // namespace fairlead::graph
