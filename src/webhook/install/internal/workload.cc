#include "webhook/install/internal/objects.h"
#include "webhook/install/internal/pod.h"

namespace fairlead::webhook::install {
namespace {

Json probe(std::string_view path, int period) {
  return Json::Object{
      {"httpGet", Json::Object{{"path", path}, {"port", "probes"}}}, {"periodSeconds", period}, {"timeoutSeconds", 5}};
}

Json port(std::string_view name, int number) {
  return Json::Object{{"name", name}, {"containerPort", number}, {"protocol", "TCP"}};
}

// An environment variable.
Json field_of_pod(std::string_view name, std::string_view path) {
  Json field = Json::Object{{"apiVersion", "v1"}, {"fieldPath", path}};
  return Json::Object{{"name", name}, {"valueFrom", Json::Object{{"fieldRef", std::move(field)}}}};
}

Json mount(const std::string& name) {
  return Json::Object{{"name", name}, {"mountPath", "/" + name}, {"readOnly", true}};
}

// The controller listens nowhere, so it has no probes: it ends if it cannot go on.
Json server_container(const Settings& settings) {
  Json server = container(settings.image, server_arguments(settings));
  if (!settings.resources.members().empty()) server.make("resources") = settings.resources;
  if (!settings.has_webhook) return server;
  server.make("ports") = Json::Array{port("webhook", 9443), port("probes", 8080)};
  server.make("livenessProbe") = probe("/healthz", 20);
  server.make("readinessProbe") = probe("/readyz", 2);
  server.make("env") = Json::Array{field_of_pod("POD_IP", "status.podIP"), field_of_pod("POD_NAME", "metadata.name")};
  Json::Array mounts = {mount("certs")};
  if (!settings.client_ca.empty()) mounts.push_back(mount("client-ca"));
  server.make("volumeMounts") = std::move(mounts);
  return server;
}

Json::Array volumes(const Settings& settings) {
  // The Secret need not be there yet.
  Json::Array volumes = {
      Json::Object{{"name", "certs"}, {"secret", Json::Object{{"secretName", settings.secret}, {"optional", true}}}}};
  if (settings.client_ca.empty()) return volumes;
  Json item = Json::Object{{"key", settings.client_ca_key}, {"path", "ca.crt"}};
  volumes.push_back(
      Json::Object{{"name", "client-ca"},
                   {"configMap", Json::Object{{"name", settings.client_ca}, {"items", Json::Array{std::move(item)}}}}});
  return volumes;
}

// Replicas keep away from each other unless the user knows better.
Json affinity(const Settings& settings) {
  if (!settings.affinity.members().empty()) return settings.affinity;
  Json term = Json::Object{{"labelSelector", Json::Object{{"matchLabels", selector_labels(settings)}}},
                           {"topologyKey", "kubernetes.io/hostname"}};
  return Json::Object{
      {"podAntiAffinity",
       Json::Object{{"preferredDuringSchedulingIgnoredDuringExecution",
                     Json::Array{Json::Object{{"weight", 100}, {"podAffinityTerm", std::move(term)}}}}}}};
}

Json deployment(const Settings& settings) {
  Json deployment = object(settings, "apps/v1", "Deployment", settings.name(), settings.release.ns);
  Json pod = pod_spec(settings, settings.name(), server_container(settings));
  pod.make("affinity") = affinity(settings);
  if (!settings.spread.items().empty()) pod.make("topologySpreadConstraints") = settings.spread;
  if (settings.has_webhook) pod.make("volumes") = volumes(settings);
  // It goes on serving until the endpoints are gone, and then ends what is in flight.
  pod.make("terminationGracePeriodSeconds") = settings.grace_seconds;
  Json::Object labels = selector_labels(settings);
  for (const Json::Member& label : settings.pod_labels.members()) labels.append(label.key, label.value);
  Json::Object metadata{{"labels", std::move(labels)}};
  if (!settings.pod_annotations.members().empty()) metadata.append("annotations", settings.pod_annotations);
  deployment.make("spec") =
      Json::Object{{"replicas", settings.replicas},
                   {"strategy", Json::Object{{"type", "RollingUpdate"},
                                             {"rollingUpdate", Json::Object{{"maxUnavailable", 0}, {"maxSurge", 1}}}}},
                   {"selector", Json::Object{{"matchLabels", selector_labels(settings)}}},
                   {"template", Json::Object{{"metadata", std::move(metadata)}, {"spec", std::move(pod)}}}};
  return deployment;
}

Json service(const Settings& settings) {
  Json service = object(settings, "v1", "Service", settings.name(), settings.release.ns);
  auto service_port = [](std::string_view name, int number, std::string_view target) {
    return Json::Object{{"name", name}, {"port", number}, {"targetPort", target}, {"protocol", "TCP"}};
  };
  service.make("spec") = Json::Object{
      {"selector", selector_labels(settings)},
      {"ports", Json::Array{service_port("webhook", 443, "webhook"), service_port("metrics", 8080, "probes")}}};
  return service;
}

Json budget(const Settings& settings) {
  Json budget = object(settings, "policy/v1", "PodDisruptionBudget", settings.name(), settings.release.ns);
  budget.make("spec") =
      Json::Object{{"maxUnavailable", 1}, {"selector", Json::Object{{"matchLabels", selector_labels(settings)}}}};
  return budget;
}

// Nobody knows the addresses of the API servers, so the ports are all that can be told.
Json network_policy(const Settings& settings) {
  Json policy = object(settings, "networking.k8s.io/v1", "NetworkPolicy", settings.name(), settings.release.ns);
  Json::Array ingress;
  if (settings.has_webhook)
    ingress.push_back(Json::Object{{"ports", Json::Array{Json::Object{{"port", "webhook"}, {"protocol", "TCP"}},
                                                         Json::Object{{"port", "probes"}, {"protocol", "TCP"}}}}});
  policy.make("spec") = Json::Object{{"podSelector", Json::Object{{"matchLabels", selector_labels(settings)}}},
                                     {"policyTypes", strings({"Ingress"})},
                                     {"ingress", std::move(ingress)}};
  return policy;
}

}  // namespace

Objects workload(const Settings& settings) {
  Objects objects;
  if (settings.has_webhook) objects.push_back(service(settings));
  objects.push_back(deployment(settings));
  if (settings.has_budget) objects.push_back(budget(settings));
  if (settings.has_network_policy) objects.push_back(network_policy(settings));
  return objects;
}

}  // namespace fairlead::webhook::install
