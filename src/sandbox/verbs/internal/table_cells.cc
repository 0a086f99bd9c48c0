// What the real server prints for the kinds that people look at: one function a kind, cells in the order of its
// columns.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "fields/managed_fields.h"
#include "sandbox/verbs/internal/table.h"

namespace fairlead::sandbox {
namespace {

using Cells = Json::Array;

std::string_view text(const Json& value, std::string_view otherwise = "<none>") {
  std::string_view found = value.string_or("");
  return found.empty() ? otherwise : found;
}

std::string name_of(const Json& object) { return std::string(object["metadata"]["name"].string_or("")); }
std::string age(const Core& core, const Json& object) {
  return age_of(core, object["metadata"]["creationTimestamp"].string_or(""));
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",") {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string labels_text(const Json& labels) {
  std::vector<std::string> parts;
  for (const Json::Member& label : labels.members())
    parts.push_back(fmt::format("{}={}", label.key, label.value.string_or("")));
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? "<none>" : joined(parts);
}

std::string selector_text(const Json& selector) {
  std::vector<std::string> parts;
  for (const Json::Member& label : selector["matchLabels"].members())
    parts.push_back(fmt::format("{}={}", label.key, label.value.string_or("")));
  std::sort(parts.begin(), parts.end());
  for (const Json& term : selector["matchExpressions"].items()) {
    std::vector<std::string> values;
    for (const Json& value : term["values"].items()) values.emplace_back(value.string_or(""));
    std::string_view key = term["key"].string_or(""), op = term["operator"].string_or("");
    if (op == "In") parts.push_back(fmt::format("{} in ({})", key, joined(values)));
    else if (op == "NotIn") parts.push_back(fmt::format("{} notin ({})", key, joined(values)));
    else parts.push_back(op == "DoesNotExist" ? fmt::format("!{}", key) : std::string(key));
  }
  return parts.empty() ? "<none>" : joined(parts);
}

void add_containers(Cells& cells, const Json& template_spec) {
  std::vector<std::string> names, images;
  for (const Json& container : template_spec["containers"].items()) {
    names.emplace_back(container["name"].string_or(""));
    images.emplace_back(container["image"].string_or(""));
  }
  cells.emplace_back(joined(names));
  cells.emplace_back(joined(images));
}

int64_t number(const Json& value) { return value.int_or(0); }

// --- core
// -------------------------------------------------------------------------------------------------------------

std::string pod_status(const Json& pod) {
  const Json& status = pod["status"];
  std::string reason(status["phase"].string_or(""));
  if (std::string_view own = status["reason"].string_or(""); !own.empty()) reason = own;
  bool initializing = false;
  size_t index = 0;
  for (const Json& init : status["initContainerStatuses"].items()) {
    const Json& state = init["state"];
    size_t at = index++;
    if (state.contains("terminated") && number(state["terminated"]["exitCode"]) == 0) continue;
    if (std::string_view why = state["terminated"]["reason"].string_or(""); !why.empty())
      reason = fmt::format("Init:{}", why);
    else if (std::string_view wait = state["waiting"]["reason"].string_or("");
             !wait.empty() && wait != "PodInitializing")
      reason = fmt::format("Init:{}", wait);
    else reason = fmt::format("Init:{}/{}", at, pod["spec"]["initContainers"].items().size());
    initializing = true;
    break;
  }
  if (!initializing) {
    bool running = false;
    std::string failure;
    const Json::Array& containers = status["containerStatuses"].items();
    for (auto container = containers.rbegin(); container != containers.rend(); ++container) {
      const Json& state = (*container)["state"];
      if (std::string_view why = state["waiting"]["reason"].string_or(""); !why.empty()) reason = why;
      else if (std::string_view ended = state["terminated"]["reason"].string_or(""); !ended.empty()) {
        reason = ended;
        if (number(state["terminated"]["exitCode"]) != 0) failure = ended;
      } else if ((*container)["ready"].bool_or(false) && state.contains("running")) running = true;
    }
    bool ready = std::ranges::any_of(status["conditions"].items(), [](const Json& condition) {
      return condition["type"].string_or("") == "Ready" && condition["status"].string_or("") == "True";
    });
    if (reason == "Completed") {
      if (running && ready) reason = "Running";
      else if (!failure.empty()) reason = failure;
      else if (running) reason = "NotReady";
    }
  }
  if (pod["metadata"].contains("deletionTimestamp")) reason = "Terminating";
  return reason;
}

Cells pod(const Core& core, const Json& object) {
  int64_t ready = 0, restarts = 0;
  for (const Json& status : object["status"]["containerStatuses"].items()) {
    ready += status["ready"].bool_or(false) ? 1 : 0;
    restarts += number(status["restartCount"]);
  }
  return {name_of(object),
          fmt::format("{}/{}", ready, object["spec"]["containers"].items().size()),
          pod_status(object),
          std::to_string(restarts),
          age(core, object),
          text(object["status"]["podIP"]),
          text(object["spec"]["nodeName"]),
          text(object["status"]["nominatedNodeName"]),
          "<none>"};
}

std::string service_ports(const Json& service) {
  std::vector<std::string> parts;
  for (const Json& port : service["spec"]["ports"].items()) {
    std::string node = number(port["nodePort"]) ? fmt::format(":{}", number(port["nodePort"])) : "";
    parts.push_back(fmt::format("{}{}/{}", number(port["port"]), node, port["protocol"].string_or("TCP")));
  }
  return parts.empty() ? "<none>" : joined(parts);
}

std::string external_ip(const Json& service) {
  std::vector<std::string> addresses;
  std::string_view type = service["spec"]["type"].string_or("");
  if (type == "ExternalName") return std::string(service["spec"]["externalName"].string_or(""));
  if (type == "LoadBalancer")
    for (const Json& one : service["status"]["loadBalancer"]["ingress"].items())
      addresses.emplace_back(text(one["ip"], one["hostname"].string_or("")));
  for (const Json& one : service["spec"]["externalIPs"].items()) addresses.emplace_back(one.string_or(""));
  if (!addresses.empty()) return joined(addresses);
  return type == "LoadBalancer" ? "<pending>" : "<none>";
}

Cells service(const Core& core, const Json& object) {
  return {name_of(object),
          object["spec"]["type"].string_or(""),
          text(object["spec"]["clusterIP"]),
          external_ip(object),
          service_ports(object),
          age(core, object),
          labels_text(object["spec"]["selector"])};
}

Cells endpoints(const Core& core, const Json& object) {
  std::vector<std::string> list;
  size_t count = 0;
  for (const Json& subset : object["subsets"].items()) {
    const Json::Array& ports = subset["ports"].items();
    for (size_t i = 0; i < std::max<size_t>(1, ports.size()); ++i)
      for (const Json& address : subset["addresses"].items()) {
        std::string ip(address["ip"].string_or(""));
        if (++count <= 3) list.push_back(ports.empty() ? ip : fmt::format("{}:{}", ip, number(ports[i]["port"])));
      }
  }
  std::string all = list.empty() ? "<none>" : joined(list);
  if (count > 3) all += fmt::format(" + {} more...", count - 3);
  return {name_of(object), all, age(core, object)};
}

Cells endpoint_slice(const Core& core, const Json& object) {
  std::vector<std::string> ports, addresses;
  for (const Json& port : object["ports"].items())
    ports.push_back(port.contains("port") ? std::to_string(number(port["port"])) : "*");
  for (const Json& endpoint : object["endpoints"].items())
    for (const Json& address : endpoint["addresses"].items()) addresses.emplace_back(address.string_or(""));
  auto shortened = [](std::vector<std::string> list) -> std::string {
    if (list.empty()) return "<unset>";
    size_t count = list.size();
    if (count > 3) list.resize(3);
    std::string all = joined(list);
    return count > 3 ? fmt::format("{} + {} more...", all, count - 3) : all;
  };
  return {name_of(object), object["addressType"].string_or(""), shortened(ports), shortened(addresses),
          age(core, object)};
}

Cells with_phase(const Core& core, const Json& object) {
  return {name_of(object), object["status"]["phase"].string_or(""), age(core, object)};
}

Cells config_map(const Core& core, const Json& object) {
  return {name_of(object), int64_t(object["data"].members().size() + object["binaryData"].members().size()),
          age(core, object)};
}

Cells secret(const Core& core, const Json& object) {
  return {name_of(object), object["type"].string_or(""), int64_t(object["data"].members().size()), age(core, object)};
}

Cells service_account(const Core& core, const Json& object) { return {name_of(object), age(core, object)}; }

Cells event(const Core& core, const Json& object) {
  const Json& about = object["involvedObject"];
  std::string kind(about["kind"].string_or(""));
  for (char& c : kind) c = char(std::tolower(static_cast<unsigned char>(c)));
  std::string_view first = object["firstTimestamp"].string_or(object["eventTime"].string_or(""));
  std::string_view last = object["lastTimestamp"].string_or(first);
  return {age_of(core, last),
          object["type"].string_or(""),
          object["reason"].string_or(""),
          fmt::format("{}/{}", kind, about["name"].string_or("")),
          about["fieldPath"].string_or(""),
          object["source"]["component"].string_or(object["reportingComponent"].string_or("")),
          object["message"].string_or(""),
          age_of(core, first),
          number(object["count"]),
          name_of(object)};
}

std::string access_modes(const Json& modes) {
  std::vector<std::string> parts;
  for (const Json& mode : modes.items()) {
    std::string_view name = mode.string_or("");
    parts.emplace_back(name == "ReadWriteOnce"   ? "RWO"
                       : name == "ReadOnlyMany"  ? "ROX"
                       : name == "ReadWriteMany" ? "RWX"
                                                 : "RWOP");
  }
  return joined(parts);
}

Cells claim(const Core& core, const Json& object) {
  std::string phase(object["status"]["phase"].string_or(""));
  if (object["metadata"].contains("deletionTimestamp")) phase = "Terminating";
  std::string_view volume = object["spec"]["volumeName"].string_or("");
  bool bound = !volume.empty();
  return {name_of(object),
          phase,
          volume,
          bound ? object["status"]["capacity"]["storage"].string_or("") : "",
          bound ? access_modes(object["status"]["accessModes"]) : "",
          object["spec"]["storageClassName"].string_or(""),
          "<unset>",
          age(core, object),
          text(object["spec"]["volumeMode"], "<unset>")};
}

Cells node(const Core& core, const Json& object) {
  std::string status = "Unknown";
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].string_or("") == "Ready")
      status = condition["status"].string_or("") == "True" ? "Ready" : "NotReady";
  if (object["spec"]["unschedulable"].bool_or(false)) status += ",SchedulingDisabled";
  std::vector<std::string> roles;
  for (const Json::Member& label : object["metadata"]["labels"].members())
    if (label.key.starts_with("node-role.kubernetes.io/")) roles.push_back(label.key.substr(24));
  std::string internal = "<none>";
  for (const Json& address : object["status"]["addresses"].items())
    if (address["type"].string_or("") == "InternalIP") internal = address["address"].string_or("");
  const Json& info = object["status"]["nodeInfo"];
  std::string kernel(text(info["kernelVersion"], "<unknown>"));
  if (std::string_view architecture = info["architecture"].string_or(""); !architecture.empty())
    kernel += fmt::format(" ({})", architecture);
  return {name_of(object),
          status,
          roles.empty() ? "<none>" : joined(roles),
          age(core, object),
          info["kubeletVersion"].string_or(""),
          internal,
          "<none>",
          text(info["osImage"], "<unknown>"),
          kernel,
          text(info["containerRuntimeVersion"], "<unknown>")};
}

// --- workloads
// --------------------------------------------------------------------------------------------------------

Cells deployment(const Core& core, const Json& object) {
  const Json &spec = object["spec"], &status = object["status"];
  Cells cells{name_of(object), fmt::format("{}/{}", number(status["readyReplicas"]), number(spec["replicas"])),
              number(status["updatedReplicas"]), number(status["availableReplicas"]), age(core, object)};
  add_containers(cells, spec["template"]["spec"]);
  cells.emplace_back(selector_text(spec["selector"]));
  return cells;
}

Cells replica_set(const Core& core, const Json& object) {
  const Json &spec = object["spec"], &status = object["status"];
  Cells cells{name_of(object), number(spec["replicas"]), number(status["replicas"]), number(status["readyReplicas"]),
              age(core, object)};
  add_containers(cells, spec["template"]["spec"]);
  cells.emplace_back(spec["selector"].contains("matchLabels") ? selector_text(spec["selector"])
                                                              : labels_text(spec["selector"]));
  return cells;
}

Cells stateful_set(const Core& core, const Json& object) {
  const Json& spec = object["spec"];
  Cells cells{name_of(object),
              fmt::format("{}/{}", number(object["status"]["readyReplicas"]), number(spec["replicas"])),
              age(core, object)};
  add_containers(cells, spec["template"]["spec"]);
  return cells;
}

Cells daemon_set(const Core& core, const Json& object) {
  const Json& status = object["status"];
  Cells cells{name_of(object),
              number(status["desiredNumberScheduled"]),
              number(status["currentNumberScheduled"]),
              number(status["numberReady"]),
              number(status["updatedNumberScheduled"]),
              number(status["numberAvailable"]),
              labels_text(object["spec"]["template"]["spec"]["nodeSelector"]),
              age(core, object)};
  add_containers(cells, object["spec"]["template"]["spec"]);
  cells.emplace_back(selector_text(object["spec"]["selector"]));
  return cells;
}

std::string span(std::string_view start, std::string_view end) {
  auto from = fields::parse_time(start), to = fields::parse_time(end);
  return from && to ? human_duration(*to - *from) : "<unknown>";
}

Cells job(const Core& core, const Json& object) {
  const Json &spec = object["spec"], &status = object["status"];
  std::string state = "Running";
  if (object["metadata"].contains("deletionTimestamp")) state = "Terminating";
  for (const Json& condition : status["conditions"].items()) {
    if (condition["status"].string_or("") != "True") continue;
    std::string_view type = condition["type"].string_or("");
    if (type == "Complete" || type == "Failed" || type == "Suspended" || type == "FailureTarget" ||
        type == "SuccessCriteriaMet")
      state = type;
  }
  std::string duration;
  if (std::string_view start = status["startTime"].string_or(""); !start.empty()) {
    duration = age_of(core, start);
    if (std::string_view end = status["completionTime"].string_or(""); !end.empty()) duration = span(start, end);
  }
  std::string completions = spec.contains("completions")
                                ? fmt::format("{}/{}", number(status["succeeded"]), number(spec["completions"]))
                                : fmt::format("{}/1 of {}", number(status["succeeded"]), number(spec["parallelism"]));
  Cells cells{name_of(object), state, completions, duration, age(core, object)};
  add_containers(cells, spec["template"]["spec"]);
  cells.emplace_back(selector_text(spec["selector"]));
  return cells;
}

Cells cron_job(const Core& core, const Json& object) {
  const Json& spec = object["spec"];
  std::string_view last = object["status"]["lastScheduleTime"].string_or("");
  Cells cells{name_of(object),
              spec["schedule"].string_or(""),
              text(spec["timeZone"]),
              spec["suspend"].bool_or(false) ? "True" : "False",
              int64_t(object["status"]["active"].items().size()),
              last.empty() ? "<none>" : age_of(core, last),
              age(core, object)};
  add_containers(cells, spec["jobTemplate"]["spec"]["template"]["spec"]);
  cells.emplace_back(selector_text(spec["jobTemplate"]["spec"]["selector"]));
  return cells;
}

// --- the rest
// ---------------------------------------------------------------------------------------------------------

Cells ingress(const Core& core, const Json& object) {
  std::vector<std::string> hosts, addresses;
  for (const Json& rule : object["spec"]["rules"].items()) {
    std::string_view host = rule["host"].string_or("");
    if (!host.empty()) hosts.emplace_back(host);
  }
  for (const Json& one : object["status"]["loadBalancer"]["ingress"].items())
    addresses.emplace_back(text(one["ip"], one["hostname"].string_or("")));
  std::string shown = hosts.empty() ? "*" : joined(hosts);
  if (hosts.size() > 3)
    shown = fmt::format("{} + {} more...", joined({hosts[0], hosts[1], hosts[2]}), hosts.size() - 3);
  return {name_of(object),
          text(object["spec"]["ingressClassName"]),
          shown,
          joined(addresses),
          object["spec"]["tls"].items().empty() ? "80" : "80, 443",
          age(core, object)};
}

Cells created_at(const Core&, const Json& object) { return {name_of(object), object["metadata"]["creationTimestamp"]}; }

Cells definition(const Core&, const Json& object) {
  const Json& spec = object["spec"];
  std::vector<std::string> versions, short_names;
  for (const Json& version : spec["versions"].items())
    if (version["served"].bool_or(false))
      versions.push_back(std::string(version["name"].string_or("")) +
                         (version["storage"].bool_or(false) ? "(storage)" : ""));
  std::sort(versions.begin(), versions.end());
  for (const Json& name : spec["names"]["shortNames"].items()) short_names.emplace_back(name.string_or(""));
  bool established = false;
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].string_or("") == "Established") established = condition["status"].string_or("") == "True";
  return {name_of(object),
          spec["scope"].string_or(""),
          joined(versions),
          object["metadata"]["creationTimestamp"],
          spec["group"].string_or(""),
          spec["names"]["kind"].string_or(""),
          joined(short_names),
          established};
}

Cells storage_migration(const Core&, const Json& object) {
  const Json& resource = object["spec"]["resource"];
  std::string name(resource["resource"].string_or(""));
  if (std::string_view group = resource["group"].string_or(""); !group.empty()) name += fmt::format(".{}", group);
  std::string state = "Unknown";
  for (const Json& condition : object["status"]["conditions"].items()) {
    std::string_view type = condition["type"].string_or("");
    if (condition["status"].string_or("") == "True" && (type == "Running" || type == "Succeeded" || type == "Failed"))
      state = type;
  }
  return {name_of(object), name, state};
}

Cells webhooks(const Core& core, const Json& object) {
  return {name_of(object), int64_t(object["webhooks"].items().size()), age(core, object)};
}

Cells policy(const Core& core, const Json& object) {
  const Json& param = object["spec"]["paramKind"];
  std::string kind = "<unset>";
  if (!param.is_null()) kind = fmt::format("{}/{}", param["apiVersion"].string_or(""), param["kind"].string_or(""));
  std::string_view rules = object["kind"].string_or("") == "MutatingAdmissionPolicy" ? "mutations" : "validations";
  return {name_of(object), int64_t(object["spec"][rules].items().size()), kind, age(core, object)};
}

Cells policy_binding(const Core& core, const Json& object) {
  const Json& param = object["spec"]["paramRef"];
  std::string ref = "<unset>";
  if (!param.is_null()) {
    std::string_view ns = param["namespace"].string_or("");
    ref = ns.empty() ? std::string(text(param["name"], "*")) : fmt::format("{}/{}", ns, text(param["name"], "*"));
  }
  return {name_of(object), object["spec"]["policyName"].string_or(""), ref, age(core, object)};
}

Cells binding(const Core& core, const Json& object) {
  std::vector<std::string> users, groups, accounts;
  for (const Json& subject : object["subjects"].items()) {
    std::string subject_name(subject["name"].string_or(""));
    std::string_view kind = subject["kind"].string_or("");
    if (kind == "User") users.push_back(subject_name);
    if (kind == "Group") groups.push_back(subject_name);
    if (kind == "ServiceAccount")
      accounts.push_back(fmt::format("{}/{}", subject["namespace"].string_or(""), subject_name));
  }
  const Json& role = object["roleRef"];
  return {name_of(object),      fmt::format("{}/{}", role["kind"].string_or(""), role["name"].string_or("")),
          age(core, object),    joined(users, ", "),
          joined(groups, ", "), joined(accounts, ", ")};
}

Cells storage_class(const Core& core, const Json& object) {
  // Which one is the default is told in lists only (table.cc).
  return {name_of(object),
          object["provisioner"].string_or(""),
          text(object["reclaimPolicy"], "Delete"),
          text(object["volumeBindingMode"], "<unset>"),
          object["allowVolumeExpansion"].bool_or(false),
          age(core, object)};
}

std::string int_or_text(const Json& value) {
  if (value.is_null()) return "N/A";
  return value.is_string() ? std::string(value.string_or("")) : std::to_string(number(value));
}

Cells disruption_budget(const Core& core, const Json& object) {
  return {name_of(object), int_or_text(object["spec"]["minAvailable"]), int_or_text(object["spec"]["maxUnavailable"]),
          number(object["status"]["disruptionsAllowed"]), age(core, object)};
}

Cells priority_class(const Core& core, const Json& object) {
  return {name_of(object), number(object["value"]), object["globalDefault"].bool_or(false), age(core, object),
          text(object["preemptionPolicy"], "")};
}

Cells api_service(const Core& core, const Json& object) {
  const Json& spec = object["spec"]["service"];
  std::string where = "Local";
  if (!spec.is_null()) where = fmt::format("{}/{}", spec["namespace"].string_or(""), spec["name"].string_or(""));
  std::string available = "Unknown";
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].string_or("") == "Available") {
      available = condition["status"].string_or("");
      if (available != "True") available += fmt::format(" ({})", condition["reason"].string_or(""));
    }
  return {name_of(object), where, available, age(core, object)};
}

Cells lease(const Core& core, const Json& object) {
  return {name_of(object), object["spec"]["holderIdentity"].string_or(""), age(core, object)};
}

Cells network_policy(const Core& core, const Json& object) {
  return {name_of(object), selector_text(object["spec"]["podSelector"]), age(core, object)};
}

Cells ingress_class(const Core& core, const Json& object) {
  std::string shown = name_of(object);
  if (object["metadata"]["annotations"]["ingressclass.kubernetes.io/is-default-class"].string_or("") == "true")
    shown += " (default)";
  return {shown, object["spec"]["controller"].string_or(""), "<none>", age(core, object)};
}

Cells runtime_class(const Core& core, const Json& object) {
  return {name_of(object), object["handler"].string_or(""), age(core, object)};
}

Cells controller_revision(const Core& core, const Json& object) {
  std::string owner = "<none>";
  for (const Json& one : object["metadata"]["ownerReferences"].items())
    if (one["controller"].bool_or(false)) {
      std::string kind(one["kind"].string_or(""));
      for (char& c : kind) c = char(std::tolower(static_cast<unsigned char>(c)));
      owner = fmt::format("{}.apps/{}", kind, one["name"].string_or(""));
    }
  return {name_of(object), owner, number(object["revision"]), age(core, object)};
}

using Printer = Cells (*)(const Core&, const Json&);

const std::map<ResourceId, Printer>& printers() {
  static const std::map<ResourceId, Printer> kPrinters = {
      {{"", "pods"}, pod},
      {{"", "services"}, service},
      {{"", "endpoints"}, endpoints},
      {{"discovery.k8s.io", "endpointslices"}, endpoint_slice},
      {{"", "namespaces"}, with_phase},
      {{"", "configmaps"}, config_map},
      {{"", "secrets"}, secret},
      {{"", "serviceaccounts"}, service_account},
      {{"", "events"}, event},
      {{"", "persistentvolumeclaims"}, claim},
      {{"", "nodes"}, node},
      {{"", "replicationcontrollers"}, replica_set},
      {{"", "limitranges"}, created_at},
      {{"apps", "deployments"}, deployment},
      {{"apps", "replicasets"}, replica_set},
      {{"apps", "statefulsets"}, stateful_set},
      {{"apps", "daemonsets"}, daemon_set},
      {{"apps", "controllerrevisions"}, controller_revision},
      {{"batch", "jobs"}, job},
      {{"batch", "cronjobs"}, cron_job},
      {{"networking.k8s.io", "ingresses"}, ingress},
      {{"networking.k8s.io", "ingressclasses"}, ingress_class},
      {{"networking.k8s.io", "networkpolicies"}, network_policy},
      {{"node.k8s.io", "runtimeclasses"}, runtime_class},
      {{"rbac.authorization.k8s.io", "roles"}, created_at},
      {{"rbac.authorization.k8s.io", "clusterroles"}, created_at},
      {{"rbac.authorization.k8s.io", "rolebindings"}, binding},
      {{"rbac.authorization.k8s.io", "clusterrolebindings"}, binding},
      {{"admissionregistration.k8s.io", "mutatingwebhookconfigurations"}, webhooks},
      {{"admissionregistration.k8s.io", "validatingwebhookconfigurations"}, webhooks},
      {{"admissionregistration.k8s.io", "validatingadmissionpolicies"}, policy},
      {{"admissionregistration.k8s.io", "validatingadmissionpolicybindings"}, policy_binding},
      {{"admissionregistration.k8s.io", "mutatingadmissionpolicies"}, policy},
      {{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"}, policy_binding},
      {{"apiextensions.k8s.io", "customresourcedefinitions"}, definition},
      {{"storagemigration.k8s.io", "storageversionmigrations"}, storage_migration},
      {{"apiregistration.k8s.io", "apiservices"}, api_service},
      {{"storage.k8s.io", "storageclasses"}, storage_class},
      {{"policy", "poddisruptionbudgets"}, disruption_budget},
      {{"scheduling.k8s.io", "priorityclasses"}, priority_class},
      {{"coordination.k8s.io", "leases"}, lease},
  };
  return kPrinters;
}

}  // namespace

bool has_cells(const Kind& kind) { return kind.custom || printers().contains(kind.stored_as); }

Json::Array cells_of(const Core& core, const Kind& kind, const Json& object) {
  auto found = printers().find(kind.stored_as);
  return found == printers().end() ? Cells() : found->second(core, object);
}

}  // namespace fairlead::sandbox
