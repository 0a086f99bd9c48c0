#include "webhook/install/internal/objects.h"

namespace fairlead::webhook::install {
namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";

Json rule(std::string_view group, Words resources, Words names, Words verbs) {
  Json::Object rule{{"apiGroups", strings({group})}, {"resources", strings(resources)}};
  if (names.size() > 0) rule.append("resourceNames", strings(names));
  rule.append("verbs", strings(verbs));
  return rule;
}

// A Role with its binding, or a ClusterRole if there is no namespace.
void add_role(Objects& objects, const Settings& settings, const std::string& name, const std::string& ns,
              Json::Array rules) {
  std::string kind = ns.empty() ? "ClusterRole" : "Role";
  Json role = object(settings, kRbac, kind, name, ns);
  role.make("rules") = std::move(rules);
  objects.push_back(std::move(role));
  Json binding = object(settings, kRbac, kind + "Binding", name, ns);
  binding.make("roleRef") = Json::Object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
  binding.make("subjects") = Json::Array{
      Json::Object{{"kind", "ServiceAccount"}, {"name", settings.name()}, {"namespace", settings.release.ns}}};
  objects.push_back(std::move(binding));
}

// A creation cannot be limited to a name.
void add_lease_rules(Json::Array& rules, const std::string& name) {
  rules.push_back(rule("coordination.k8s.io", {"leases"}, {name}, {"get", "list", "watch", "update"}));
  rules.push_back(rule("coordination.k8s.io", {"leases"}, {}, {"create"}));
}

// The server reads its Secret in every mode, and writes it in one. It looks where its Service leads to before it stops.
Json::Array server_rules(const Settings& settings) {
  Json::Array rules;
  if (settings.certificates == Certificates::automatic) {
    rules.push_back(rule("", {"secrets"}, {settings.secret, settings.ca_secret()}, {"get", "list", "watch", "update"}));
    rules.push_back(rule("", {"secrets"}, {}, {"create"}));
    // A new CA is proved to be in use: by what the endpoints of the Service serve, and by a dry run.
    rules.push_back(rule("", {"services"}, {settings.name()}, {"get"}));
    rules.push_back(rule("", {"configmaps"}, {}, {"create"}));
  } else {
    rules.push_back(rule("", {"secrets"}, {settings.secret}, {"get", "list", "watch"}));
  }
  rules.push_back(rule("discovery.k8s.io", {"endpointslices"}, {}, {"list"}));
  return rules;
}

// Configurations have no namespace. All of them are read, to find those that call this server with another CA.
Json::Array configuration_rules(const Settings& settings) {
  Json::Array rules = {rule("admissionregistration.k8s.io",
                            {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, {},
                            {"get", "list", "watch"})};
  if (settings.certificates == Certificates::automatic)
    rules.push_back(rule("admissionregistration.k8s.io", {"validatingwebhookconfigurations"},
                         {settings.configuration()}, {"patch"}));
  if (settings.only_namespace.empty() && !settings.lock_name.empty())
    rules.push_back(rule("coordination.k8s.io", {"leases"}, {settings.lock_name}, {"get", "list", "watch"}));
  return rules;
}

Json::Array controller_rules() {
  return {
      rule("nvidia.com", {"dynamocomponentdeployments", "dynamographdeployments", "dynamomodels"}, {},
           {"get", "list", "watch"}),
      rule("nvidia.com", {"dynamocomponentdeployments/status", "dynamographdeployments/status", "dynamomodels/status"},
           {}, {"patch"}),
      rule("", {"events"}, {}, {"create"})};
}

void add_server_roles(Objects& objects, const Settings& settings) {
  Json::Array local = server_rules(settings);
  bool leads_here = settings.leader_namespace == settings.release.ns;
  bool is_automatic = settings.certificates == Certificates::automatic;
  if (is_automatic && leads_here) add_lease_rules(local, settings.leader_lease);
  add_role(objects, settings, settings.name(), settings.release.ns, std::move(local));
  if (is_automatic && !leads_here) {
    Json::Array rules;
    add_lease_rules(rules, settings.leader_lease);
    add_role(objects, settings, settings.name() + "-leader", settings.leader_namespace, std::move(rules));
  }
  // Cluster-wide objects of two releases must not have the same name.
  add_role(objects, settings, settings.release.ns + ":" + settings.name(), "", configuration_rules(settings));
}

}  // namespace

Objects access(const Settings& settings) {
  Json account = object(settings, "v1", "ServiceAccount", settings.name(), settings.release.ns);
  if (!settings.account_annotations.members().empty())
    account.make("metadata").make("annotations") = settings.account_annotations;
  Objects objects = {std::move(account)};
  if (settings.has_webhook) add_server_roles(objects, settings);
  else if (settings.only_namespace.empty())
    add_role(objects, settings, settings.release.ns + ":" + settings.name(), "", controller_rules());
  else add_role(objects, settings, settings.name() + "-controller", settings.only_namespace, controller_rules());
  if (settings.only_namespace.empty()) return objects;
  Json::Array lock;
  add_lease_rules(lock, settings.lock_name);
  add_role(objects, settings, settings.name() + "-lock", settings.only_namespace, std::move(lock));
  return objects;
}

}  // namespace fairlead::webhook::install
