// Admission policies that have no effect, or that cannot be evaluated.
#include "doctor/internal/policies.h"

#include <algorithm>

#include "admission/policy.h"
#include "base/plain_text.h"
#include "doctor/checks.h"
#include "doctor/internal/texts.h"
#include "readiness/shadow_objects.h"

namespace fairlead::doctor {
namespace {

struct Kinds {
  std::string_view policy;
  std::string_view binding;
};
constexpr Kinds kKinds[] = {{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"},
                            {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}};

std::string_view policy_of(const Json& binding) { return binding["spec"]["policyName"].string_or(""); }

void check_bound(const Snapshot& snapshot, const Json& policy, const Kinds& kinds, Findings& findings) {
  bool is_bound = std::ranges::any_of(snapshot.all(kinds.binding),
                                      [&](const Json& binding) { return policy_of(binding) == name_of(policy); });
  if (is_bound || !snapshot.sees_all(kinds.binding)) return;
  findings.push_back({.code = "policy-unbound",
                      .severity = Severity::info,
                      .object = key_of(policy),
                      .what = fmt::format("{} has no effect", key_of(policy).text()),
                      .causes = {"no binding names it"},
                      .next = fmt::format("kubectl get {}s", kinds.binding)});
}

void check_parameters(const Snapshot& snapshot, const Json& policy, Findings& findings) {
  std::optional<admission::Policy> read = admission::Policy::read(policy);
  if (!read || !read->param_kind || snapshot.resources.empty()) return;
  bool is_served = std::ranges::any_of(snapshot.resources, [&](const object::Resource& one) {
    return one.kind == read->param_kind->kind && one.api_version() == read->param_kind->api_version;
  });
  if (is_served) return;
  bool refuses = read->failure_policy == admission::FailurePolicy::fail;
  findings.push_back({.code = "policy-param-kind-missing",
                      .severity = refuses ? Severity::error : Severity::warning,
                      .object = key_of(policy),
                      .what = fmt::format("{} cannot be evaluated", key_of(policy).text()),
                      .causes = {fmt::format("the cluster serves no kind {} in {}, which has its parameters",
                                             read->param_kind->kind, read->param_kind->api_version)},
                      .blocks = refuses ? "every request that it matches" : "",
                      .next = get_command(key_of(policy))});
}

// Returns the parameter object that a binding names; nothing if it names none, or one in the namespace of each request.
std::optional<object::Key> parameter_of(const Snapshot& snapshot, const Json& binding, const Json& policy) {
  std::optional<admission::Policy> of = admission::Policy::read(policy);
  std::optional<admission::Binding> by = admission::Binding::read(binding);
  if (!of || !of->param_kind || !by || !by->param_ref || by->param_ref->name.empty()) return std::nullopt;
  auto resource = std::ranges::find_if(snapshot.resources, [&](const object::Resource& one) {
    return one.kind == of->param_kind->kind && one.api_version() == of->param_kind->api_version;
  });
  if (resource == snapshot.resources.end() || (resource->namespaced && by->param_ref->ns.empty())) return std::nullopt;
  return object::Key{
      .group = resource->group, .kind = resource->kind, .ns = by->param_ref->ns, .name = by->param_ref->name};
}

// True if requests are refused that the binding matches while its parameter does not exist.
bool refuses_without_parameter(const Json& binding, const Json& policy) {
  return admission::Binding::read(binding)->param_ref->deny_if_missing &&
         admission::Policy::read(policy)->failure_policy == admission::FailurePolicy::fail;
}

void check_parameter(const Snapshot& snapshot, const Json& binding, const Json& policy, Findings& findings) {
  std::optional<object::Key> key = parameter_of(snapshot, binding, policy);
  if (!key || !snapshot.absent.contains(*key)) return;
  bool refuses = refuses_without_parameter(binding, policy);
  findings.push_back(
      {.code = "policy-param-missing",
       .severity = refuses ? Severity::error : Severity::warning,
       .object = key_of(binding),
       .what = fmt::format("{} {}", key_of(binding).text(), refuses ? "refuses everything" : "has no effect"),
       .causes = {fmt::format("{}, which it names as its parameter, does not exist", key->text())},
       .blocks = refuses ? "every request that it matches" : "",
       .next = get_command(key_of(binding)),
       .related = {*key}});
}

void check_types(const Json& policy, Findings& findings) {
  const Json& warnings = policy["status"]["typeChecking"]["expressionWarnings"];
  if (warnings.items().empty()) return;
  Finding finding{
      .code = "policy-type-errors",
      .severity = Severity::warning,
      .object = key_of(policy),
      .what = fmt::format("{} has expressions that do not fit the objects that it matches", key_of(policy).text()),
      .next = get_command(key_of(policy))};
  for (const Json& one : warnings.items())
    finding.causes.push_back(
        plain_text(fmt::format("{}: {}", one["fieldRef"].string_or(""), one["warning"].string_or("")), kMessageBytes));
  findings.push_back(std::move(finding));
}

void check_binding(const Snapshot& snapshot, const Json& binding, const Kinds& kinds, Findings& findings) {
  if (const Json* policy = snapshot.find(kinds.policy, "", policy_of(binding)))
    return check_parameter(snapshot, binding, *policy, findings);
  if (!snapshot.sees_all(kinds.policy)) return;
  findings.push_back(
      {.code = "policy-missing",
       .severity = Severity::warning,
       .object = key_of(binding),
       .what = fmt::format("{} has no effect", key_of(binding).text()),
       .causes = {fmt::format("{} {}, which it names, does not exist", kinds.policy, policy_of(binding))},
       .next = get_command(key_of(binding))});
}

}  // namespace

std::vector<object::Key> policy_parameters(const Snapshot& snapshot) {
  std::vector<object::Key> keys;
  for (const Kinds& kinds : kKinds)
    for (const Json& binding : snapshot.all(kinds.binding)) {
      const Json* policy = snapshot.find(kinds.policy, "", policy_of(binding));
      std::optional<object::Key> key = policy ? parameter_of(snapshot, binding, *policy) : std::nullopt;
      if (key && std::ranges::find(keys, *key) == keys.end()) keys.push_back(*std::move(key));
    }
  return keys;
}

void check_policies(const Snapshot& snapshot, Findings& findings) {
  for (const Kinds& kinds : kKinds) {
    for (const Json& policy : snapshot.all(kinds.policy)) {
      // Those of Fairlead are temporary.
      if (policy["metadata"]["labels"].contains(readiness::kShadowLabel)) continue;
      check_bound(snapshot, policy, kinds, findings);
      check_parameters(snapshot, policy, findings);
      check_types(policy, findings);
    }
    for (const Json& binding : snapshot.all(kinds.binding)) check_binding(snapshot, binding, kinds, findings);
  }
}

}  // namespace fairlead::doctor
