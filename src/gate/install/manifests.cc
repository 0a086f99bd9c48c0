#include "gate/install/manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "gate/rules/registration.h"
#include "object/name.h"

namespace fairlead::gate {
namespace {

using Words = std::initializer_list<std::string_view>;

Json words(Words texts) {
  Json::Array list;
  for (std::string_view text : texts) list.emplace_back(text);
  return list;
}

Json labels_of(const InstallSettings& settings) {
  return Json::Object{{"app.kubernetes.io/name", settings.name}, {"app.kubernetes.io/component", "gate"}};
}

Json object_of(const InstallSettings& settings, std::string_view api_version, std::string_view kind,
               const std::string& name, const std::string& ns) {
  Json::Object metadata{{"name", name}};
  if (!ns.empty()) metadata.append("namespace", ns);
  metadata.append("labels", labels_of(settings));
  return Json::Object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json permission(std::string_view group, Words resources, Words verbs, Words names = {}) {
  Json::Object rule{{"apiGroups", words({group})}, {"resources", words(resources)}};
  if (names.size() > 0) rule.append("resourceNames", words(names));
  rule.append("verbs", words(verbs));
  return rule;
}

// A Role with its binding, or a ClusterRole if there is no namespace.
void add_role(std::vector<Json>& objects, const InstallSettings& settings, const std::string& name,
              const std::string& ns, Json::Array rules) {
  constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";
  std::string kind = ns.empty() ? "ClusterRole" : "Role";
  Json role = object_of(settings, kRbac, kind, name, ns);
  role.make("rules") = std::move(rules);
  objects.push_back(std::move(role));
  Json binding = object_of(settings, kRbac, kind + "Binding", name, ns);
  binding.make("roleRef") = Json::Object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
  binding.make("subjects") =
      Json::Array{Json::Object{{"kind", "ServiceAccount"}, {"name", settings.name}, {"namespace", settings.ns}}};
  objects.push_back(std::move(binding));
}

void add_access(std::vector<Json>& objects, const InstallSettings& settings) {
  objects.push_back(object_of(settings, "v1", "ServiceAccount", settings.name, settings.ns));
  std::string secret = settings.name + "-cert";
  std::string ca_secret = secret + "-ca";
  std::string keeper = secret + "-keeper";
  const Words kRead = {"get", "list", "watch"};
  // A creation cannot be limited to a name, nor can the deletion of configurations whose names are not known yet.
  Json::Array rules = {permission("admissionregistration.k8s.io", {"validatingwebhookconfigurations"}, kRead),
                       permission("admissionregistration.k8s.io", {"mutatingwebhookconfigurations"},
                                  {"get", "list", "watch", "create", "delete"}),
                       permission("apiextensions.k8s.io", {"customresourcedefinitions"}, kRead),
                       permission("", {"namespaces", "services"}, kRead),
                       permission("discovery.k8s.io", {"endpointslices"}, kRead)};
  if (settings.shadows) rules.push_back(permission("node.k8s.io", {"runtimeclasses"}, {"create"}));
  add_role(objects, settings, fmt::format("{}:{}", settings.ns, settings.name), "", std::move(rules));
  add_role(objects, settings, settings.name, settings.ns,
           {permission("", {"secrets"}, {"get", "list", "watch", "update"}, {secret, ca_secret}),
            permission("", {"secrets"}, {"create"}), permission("", {"configmaps"}, {"create"}),
            permission("coordination.k8s.io", {"leases"}, {"get", "list", "watch", "update"}, {settings.name, keeper}),
            permission("coordination.k8s.io", {"leases"}, {"create"})});
  // Events about objects without a namespace are in this one.
  add_role(objects, settings, fmt::format("{}-{}-events", settings.ns, settings.name), "default",
           {permission("", {"events"}, {"create"})});
}

Json probe(std::string_view path, int period) {
  return Json::Object{
      {"httpGet", Json::Object{{"path", path}, {"port", "probes"}}}, {"periodSeconds", period}, {"timeoutSeconds", 5}};
}

Json variable(std::string_view name, std::string_view path) {
  return Json::Object{{"name", name}, {"valueFrom", Json::Object{{"fieldRef", Json::Object{{"fieldPath", path}}}}}};
}

Json container(const InstallSettings& settings) {
  Json::Array arguments = {"gate",
                           "serve",
                           "--namespace=" + settings.ns,
                           "--name=" + settings.name,
                           "--service=" + settings.name,
                           fmt::format("--secret={}-cert", settings.name),
                           "--manage-certificates"};
  auto add = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) arguments.emplace_back(fmt::format("{}={}", flag, value));
  };
  add("--patience", settings.patience);
  add("--patience-gone", settings.patience_gone);
  add("--patience-service-accounts", settings.patience_service_accounts);
  if (settings.shadows) arguments.emplace_back("--shadows");
  Json security = Json::Object{{"allowPrivilegeEscalation", false},
                               {"readOnlyRootFilesystem", true},
                               {"capabilities", Json::Object{{"drop", words({"ALL"})}}}};
  Json resources = Json::Object{{"requests", Json::Object{{"cpu", "20m"}, {"memory", "64Mi"}}},
                                {"limits", Json::Object{{"memory", "256Mi"}}}};
  Json ports = Json::Array{Json::Object{{"name", "webhook"}, {"containerPort", 9443}, {"protocol", "TCP"}},
                           Json::Object{{"name", "probes"}, {"containerPort", 8080}, {"protocol", "TCP"}}};
  return Json::Object{{"name", "fairlead"},
                      {"image", settings.image},
                      {"imagePullPolicy", settings.pull_policy},
                      {"args", std::move(arguments)},
                      {"env", Json::Array{variable("POD_IP", "status.podIP"), variable("POD_NAME", "metadata.name")}},
                      {"ports", std::move(ports)},
                      {"livenessProbe", probe("/healthz", 10)},
                      {"readinessProbe", probe("/readyz", 1)},
                      {"resources", std::move(resources)},
                      {"securityContext", std::move(security)}};
}

// Clusters may limit the pods of these classes to namespaces that have such a quota, and to kube-system; GKE does.
std::optional<Json> quota(const InstallSettings& settings) {
  const Words kCritical = {"system-cluster-critical", "system-node-critical"};
  bool is_critical = std::ranges::find(kCritical, settings.priority_class) != kCritical.end();
  if (!is_critical || settings.ns == "kube-system") return std::nullopt;
  Json quota = object_of(settings, "v1", "ResourceQuota", settings.name, settings.ns);
  Json scope = Json::Object{{"scopeName", "PriorityClass"}, {"operator", "In"}, {"values", words(kCritical)}};
  // So many that it limits nobody.
  quota.make("spec") =
      Json::Object{{"hard", Json::Object{{"pods", "1000"}}},
                   {"scopeSelector", Json::Object{{"matchExpressions", Json::Array{std::move(scope)}}}}};
  return quota;
}

Json deployment(const InstallSettings& settings) {
  Json selector = Json::Object{{"matchLabels", labels_of(settings)}};
  Json spread = Json::Object{{"maxSkew", 1},
                             {"topologyKey", "kubernetes.io/hostname"},
                             {"whenUnsatisfiable", "ScheduleAnyway"},
                             {"labelSelector", selector}};
  Json security = Json::Object{{"runAsNonRoot", true},
                               {"runAsUser", 65532},
                               {"runAsGroup", 65532},
                               {"seccompProfile", Json::Object{{"type", "RuntimeDefault"}}}};
  Json pod = Json::Object{{"serviceAccountName", settings.name},
                          {"securityContext", std::move(security)},
                          {"topologySpreadConstraints", Json::Array{std::move(spread)}},
                          // It goes on answering until the endpoints are gone, and then ends what is in flight.
                          {"terminationGracePeriodSeconds", 75},
                          {"containers", Json::Array{container(settings)}}};
  if (!settings.priority_class.empty()) pod.make("priorityClassName") = settings.priority_class;
  Json deployment = object_of(settings, "apps/v1", "Deployment", settings.name, settings.ns);
  deployment.make("spec") = Json::Object{
      {"replicas", settings.replicas},
      {"strategy", Json::Object{{"type", "RollingUpdate"},
                                {"rollingUpdate", Json::Object{{"maxUnavailable", 0}, {"maxSurge", 1}}}}},
      {"selector", selector},
      {"template",
       Json::Object{{"metadata", Json::Object{{"labels", labels_of(settings)}}}, {"spec", std::move(pod)}}}};
  return deployment;
}

}  // namespace

Result<void> check(const InstallSettings& settings) {
  if (settings.image.empty())
    return fail(Error(ErrorKind::invalid, "the image of the gate is not known").next("give --image IMAGE"));
  constexpr size_t kLongest = 40;
  bool is_label = !settings.name.contains('.') && object::check_namespace(settings.name).has_value();
  if (!is_label || settings.name.size() > kLongest)
    return fail(Error(ErrorKind::invalid,
                      fmt::format("\"{}\" cannot be the name of a gate", printable_line(settings.name.substr(0, 100))))
                    .next("a name has at most 40 lower-case letters, digits and '-', and begins and ends with no '-'"));
  if (!settings.priority_class.empty() && !object::check_namespace(settings.priority_class))
    return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" cannot be the name of a priority class",
                                                      printable_line(settings.priority_class.substr(0, 100))))
                    .next("kubectl get priorityclasses"));
  return object::check_namespace(settings.ns);
}

std::vector<Json> manifests(const InstallSettings& settings) {
  std::vector<Json> objects;
  if (settings.has_namespace) objects.push_back(object_of(settings, "v1", "Namespace", settings.ns, ""));
  add_access(objects, settings);
  Json service = object_of(settings, "v1", "Service", settings.name, settings.ns);
  service.make("spec") = Json::Object{
      {"selector", labels_of(settings)},
      {"ports",
       Json::Array{Json::Object{{"name", "webhook"}, {"port", 443}, {"targetPort", "webhook"}, {"protocol", "TCP"}},
                   Json::Object{{"name", "probes"}, {"port", 8080}, {"targetPort", "probes"}, {"protocol", "TCP"}}}}};
  objects.push_back(std::move(service));
  if (std::optional<Json> critical = quota(settings)) objects.push_back(*std::move(critical));
  objects.push_back(deployment(settings));
  Json budget = object_of(settings, "policy/v1", "PodDisruptionBudget", settings.name, settings.ns);
  budget.make("spec") =
      Json::Object{{"maxUnavailable", 1}, {"selector", Json::Object{{"matchLabels", labels_of(settings)}}}};
  objects.push_back(std::move(budget));
  return objects;
}

}  // namespace fairlead::gate
