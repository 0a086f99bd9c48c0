#include "sandbox/kinds/internal/kind_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "object/selector.h"
#include "sandbox/core/api_services.h"
#include "sandbox/kinds/internal/cluster_ips.h"
#include "sandbox/kinds/internal/definition_rules.h"
#include "sandbox/kinds/internal/policy_rules.h"
#include "sandbox/kinds/internal/webhook_rules.h"
#include "sandbox/kinds/pod_rules.h"

namespace fairlead::sandbox {
namespace {

// --- core
// ---------------------------------------------------------------------------------------------------------------

void create_namespace(Core&, Json& object) {
  object.make("spec").make("finalizers") = Json::Array{"kubernetes"};
  object.make("status") = Json::Object{{"phase", "Active"}};
}

void check_frozen(const Json* live, const Json& object, std::initializer_list<std::string_view> members,
                  std::vector<Cause>& causes) {
  if (!live || !(*live)["immutable"].bool_or(false)) return;
  if (!object["immutable"].bool_or(false))
    causes.push_back(forbidden_field("immutable", "field is immutable when `immutable` is set"));
  for (std::string_view member : members)
    if (!(*live)[member].same_as(object[member]))
      causes.push_back(forbidden_field(std::string(member), "field is immutable when `immutable` is set"));
}

size_t size_of(const Json& map) {
  size_t size = 0;
  for (const Json::Member& entry : map.members()) size += entry.value.string_or("").size();
  return size;
}

void check_keys(const Json& object, std::string_view member, std::vector<Cause>& causes) {
  for (const Json::Member& entry : object[member].members()) {
    bool good = !entry.key.empty() && entry.key != "." && entry.key != "..";
    for (char c : entry.key)
      good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.');
    if (!good)
      causes.push_back(invalid_value(fmt::format("{}[{}]", member, entry.key), Json(entry.key),
                                     "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
                                     "(e.g. 'key.name',  or 'KEY_NAME',  "
                                     "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"));
  }
}

void validate_config_map(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  check_frozen(live, object, {"data", "binaryData"}, causes);
  check_keys(object, "data", causes);
  check_keys(object, "binaryData", causes);
  if (size_of(object["data"]) + size_of(object["binaryData"]) > 1048576)
    causes.push_back({"FieldValueTooLong", "[]", "Too long: may not be more than 1048576 bytes"});
}

void validate_secret(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  check_frozen(live, object, {"data"}, causes);
  check_keys(object, "data", causes);
  if (live && !(*live)["type"].same_as(object["type"]))
    causes.push_back(invalid_value("type", object["type"], "field is immutable"));
}

void create_claim(Core&, Json& object) { object.make("status") = Json::Object{{"phase", "Pending"}}; }

void validate_claim(const Core&, const Json*, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  if (spec["accessModes"].items().empty())
    causes.push_back(required("spec.accessModes", "at least 1 access mode is required"));
  if (spec["resources"]["requests"]["storage"].is_null()) causes.push_back(required("spec.resources[storage]", ""));
}

void create_volume(Core& core, Json& object) {
  object.make("status") = Json::Object{{"phase", "Pending"}, {"lastPhaseTransitionTime", core.now_text()}};
}

// --- workloads
// ------------------------------------------------------------------------------------------------------------

void validate_selector(const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& selector = object["spec"]["selector"];
  if (selector.is_null() || selector.members().empty()) {
    causes.push_back(required("spec.selector", ""));
  } else {
    Result<object::Selector> parsed = object::Selector::from_json(selector);
    const Json& labels = object["spec"]["template"]["metadata"]["labels"];
    if (parsed && !parsed->matches(labels))
      causes.push_back(invalid_value("spec.template.metadata.labels", labels.members().empty() ? Json() : labels,
                                     "`selector` does not match template `labels`"));
  }
  if (live && !(*live)["spec"]["selector"].same_as(selector))
    causes.push_back(invalid_value("spec.selector", selector, "field is immutable"));
}

void validate_workload(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  validate_selector(live, object, causes);
  validate_pod_spec(object["spec"]["template"]["spec"], "spec.template.spec", causes);
  if (object["spec"]["replicas"].int_or(0) < 0)
    causes.push_back(invalid_value("spec.replicas", object["spec"]["replicas"], "must be greater than or equal to 0"));
}

void validate_stateful_set(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes) {
  validate_workload(core, nullptr, object, causes);
  if (!live) return;
  static constexpr std::array<std::string_view, 7> kMutable = {"replicas",
                                                               "ordinals",
                                                               "template",
                                                               "updateStrategy",
                                                               "revisionHistoryLimit",
                                                               "persistentVolumeClaimRetentionPolicy",
                                                               "minReadySeconds"};
  Json before = (*live)["spec"], after = object["spec"];
  for (std::string_view field : kMutable) {
    before.if_object()->erase(field);
    after.if_object()->erase(field);
  }
  if (!before.same_as(after))
    causes.push_back(forbidden_field(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
}

void complete_claim_templates(Json& object) {
  if (!object["spec"]["volumeClaimTemplates"].is_array()) return;
  for (Json& claim : *object.make("spec").make("volumeClaimTemplates").if_array()) {
    claim.make("apiVersion") = "v1";
    claim.make("kind") = "PersistentVolumeClaim";
  }
}

// Counts the templates, as it did before generations were there.
constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

void create_daemon_set(Core&, Json& object) {
  object.make("metadata").make("annotations").make(kTemplateGeneration) = "1";
}

void update_daemon_set(Core&, const Json& live, Json& object) {
  std::string_view before = live["metadata"]["annotations"][kTemplateGeneration].string_or("1");
  int64_t count = 1;
  std::from_chars(before.data(), before.data() + before.size(), count);
  if (!live["spec"]["template"].same_as(object["spec"]["template"])) ++count;
  object.make("metadata").make("annotations").make(kTemplateGeneration) = std::to_string(count);
}

void create_job(Core&, Json& object) {
  object.if_object()->erase("status");
  if (object["spec"]["manualSelector"].bool_or(false)) return;
  std::string uid(object["metadata"]["uid"].string_or(""));
  std::string name(object["metadata"]["name"].string_or(""));
  Json& labels = object.make("spec").make("template").make("metadata").make("labels");
  labels.make("batch.kubernetes.io/controller-uid") = uid;
  labels.make("batch.kubernetes.io/job-name") = name;
  labels.make("controller-uid") = uid;
  labels.make("job-name") = name;
  object.make("spec").make("selector") =
      Json::Object{{"matchLabels", Json::Object{{"batch.kubernetes.io/controller-uid", uid}}}};
  if (object["metadata"]["labels"].members().empty())
    object.make("metadata").make("labels") = object["spec"]["template"]["metadata"]["labels"];
}

void validate_job(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  validate_pod_spec(object["spec"]["template"]["spec"], "spec.template.spec", causes);
  std::string_view restart = object["spec"]["template"]["spec"]["restartPolicy"].string_or("");
  if (restart != "OnFailure" && restart != "Never")
    causes.push_back(
        restart == "Always"
            ? required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"")
            : unsupported_value("spec.template.spec.restartPolicy", Json(restart), {"OnFailure", "Never"}));
  if (!live) return;
  for (std::string_view field : {"selector", "template", "completionMode"})
    if (!(*live)["spec"][field].same_as(object["spec"][field]))
      causes.push_back(invalid_value(fmt::format("spec.{}", field), object["spec"][field], "field is immutable"));
}

// --- admission
// ------------------------------------------------------------------------------------------------------------

void create_api_service(Core& core, Json& object) {
  if (!object["spec"]["service"].is_null()) return;
  object.make("status").make("conditions") = Json::Array{available_condition(core, object)};
}

void validate_api_service(const Core&, const Json*, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  auto check_priority = [&](std::string_view field, int64_t most) {
    int64_t value = spec[field].int_or(0);
    if (value <= 0 || value > most)
      causes.push_back(invalid_value(fmt::format("spec.{}", field), Json(value),
                                     fmt::format("must be positive and less than {}", most)));
  };
  check_priority("groupPriorityMinimum", 20000);
  check_priority("versionPriority", 1000);
  const Json& service = spec["service"];
  bool unchecked = spec["insecureSkipTLSVerify"].bool_or(false);
  if (service.is_null()) {
    if (!spec["caBundle"].string_or("").empty())
      causes.push_back(invalid_value("spec.caBundle",
                                     Json(fmt::format("{} bytes", spec["caBundle"].string_or("").size())),
                                     "local APIServices may not have a caBundle"));
    if (unchecked)
      causes.push_back(
          invalid_value("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify"));
  } else {
    for (std::string_view field : {"namespace", "name"})
      if (service[field].string_or("").empty()) causes.push_back(required(fmt::format("spec.service.{}", field), ""));
    if (unchecked && !spec["caBundle"].string_or("").empty())
      causes.push_back(invalid_value("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"));
  }
  std::string wanted =
      fmt::format("{}.{}", object["spec"]["version"].string_or(""), object["spec"]["group"].string_or(""));
  if (object["metadata"]["name"].string_or("") != wanted)
    causes.push_back(invalid_value("metadata.name", object["metadata"]["name"],
                                   "must be `spec.version+\".\"+spec.group`: \"" + wanted + "\""));
}

const std::map<ResourceId, KindRule>& rules() {
  static const std::map<ResourceId, KindRule> kRules = {
      {{"", "namespaces"}, {.create = create_namespace}},
      {{"", "configmaps"}, {.validate = validate_config_map}},
      {{"", "secrets"}, {.validate = validate_secret}},
      {{"", "persistentvolumeclaims"}, {.create = create_claim, .validate = validate_claim}},
      {{"", "persistentvolumes"}, {.create = create_volume}},
      {{"", "podtemplates"},
       {.validate =
            [](const Core&, const Json*, const Json& object, std::vector<Cause>& causes) {
              validate_pod_spec(object["template"]["spec"], "template.spec", causes);
            }}},
      {{"", "pods"}, {.create = create_pod, .validate = validate_pod}},
      {{"", "services"}, {.create = create_service, .update = update_service, .validate = validate_service}},
      {{"apps", "deployments"}, {.validate = validate_workload}},
      {{"apps", "replicasets"}, {.validate = validate_workload}},
      {{"apps", "daemonsets"},
       {.create = create_daemon_set, .update = update_daemon_set, .validate = validate_workload}},
      {{"apps", "statefulsets"},
       {.create = [](Core&, Json& object) { complete_claim_templates(object); },
        .update = [](Core&, const Json&, Json& object) { complete_claim_templates(object); },
        .validate = validate_stateful_set}},
      {{"batch", "jobs"}, {.create = create_job, .validate = validate_job}},
      {{"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
       {.validate = validate_webhooks, .warnings = webhook_warnings}},
      {{"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
       {.validate = validate_webhooks, .warnings = webhook_warnings}},
      {{"admissionregistration.k8s.io", "validatingadmissionpolicies"}, {.validate = validate_policy}},
      {{"admissionregistration.k8s.io", "validatingadmissionpolicybindings"}, {.validate = validate_binding}},
      {{"admissionregistration.k8s.io", "mutatingadmissionpolicies"}, {.validate = validate_mutating_policy}},
      {{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"}, {.validate = validate_mutating_binding}},
      {{"apiregistration.k8s.io", "apiservices"}, {.create = create_api_service, .validate = validate_api_service}},
      {{"apiextensions.k8s.io", "customresourcedefinitions"},
       {.create = create_definition, .update = update_definition, .validate = validate_definition}},
  };
  return kRules;
}

}  // namespace

const KindRule* rule_for(const Kind& kind) {
  auto found = rules().find(kind.id());
  return found == rules().end() ? nullptr : &found->second;
}

}  // namespace fairlead::sandbox
