#include "webhook/install/internal/objects.h"
#include "webhook/install/internal/pod.h"

namespace fairlead::webhook::install {
namespace {

constexpr std::string_view kBefore = "pre-install,pre-upgrade";
constexpr std::string_view kAfter = "post-install,post-upgrade";

void annotate(Json& object, std::string_view when, std::string_view weight) {
  object.make("metadata").make("annotations") =
      Json::Object{{"helm.sh/hook", when},
                   {"helm.sh/hook-weight", weight},
                   {"helm.sh/hook-delete-policy", "before-hook-creation,hook-succeeded"}};
}

struct Step {
  std::string name;
  std::string_view when;
  std::vector<std::string> arguments;
};

void add_hook_role(Objects& objects, const Settings& settings, const Step& step, const std::string& ns,
                   Json::Array rules) {
  std::string kind = ns.empty() ? "ClusterRole" : "Role";
  std::string name = ns.empty() ? settings.release.ns + ":" + step.name : step.name;
  Json role = object(settings, "rbac.authorization.k8s.io/v1", kind, name, ns);
  role.make("rules") = std::move(rules);
  annotate(role, step.when, "-5");
  objects.push_back(std::move(role));
  Json binding = object(settings, "rbac.authorization.k8s.io/v1", kind + "Binding", name, ns);
  binding.make("roleRef") = Json::Object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
  binding.make("subjects") =
      Json::Array{Json::Object{{"kind", "ServiceAccount"}, {"name", step.name}, {"namespace", settings.release.ns}}};
  annotate(binding, step.when, "-5");
  objects.push_back(std::move(binding));
}

Json account(const Settings& settings, const Step& step) {
  Json account = object(settings, "v1", "ServiceAccount", step.name, settings.release.ns);
  annotate(account, step.when, "-5");
  return account;
}

Json job(const Settings& settings, const Step& step) {
  Json job = object(settings, "batch/v1", "Job", step.name, settings.release.ns);
  annotate(job, step.when, "-4");
  Json pod = pod_spec(settings, step.name, container(settings.hook_image, step.arguments));
  pod.make("restartPolicy") = "OnFailure";
  job.make("spec") = Json::Object{{"backoffLimit", 3}, {"template", Json::Object{{"spec", std::move(pod)}}}};
  return job;
}

Json secret_rule(const Settings& settings, std::initializer_list<std::string_view> verbs) {
  return Json::Object{{"apiGroups", strings({""})},
                      {"resources", strings({"secrets"})},
                      {"resourceNames", strings({settings.secret, settings.ca_secret()})},
                      {"verbs", strings(verbs)}};
}

void add_ensure(Objects& objects, const Settings& settings) {
  Step step{.name = settings.name() + "-cert-gen",
            .when = kBefore,
            .arguments = {"certs", "ensure", "--namespace=" + settings.release.ns, "--service=" + settings.name(),
                          "--secret=" + settings.secret, fmt::format("--validity={}d", settings.validity_days),
                          "--cluster-domain=" + settings.cluster_domain}};
  objects.push_back(account(settings, step));
  Json create =
      Json::Object{{"apiGroups", strings({""})}, {"resources", strings({"secrets"})}, {"verbs", strings({"create"})}};
  add_hook_role(objects, settings, step, settings.release.ns,
                {secret_rule(settings, {"get", "update"}), std::move(create)});
  objects.push_back(job(settings, step));
}

void add_inject(Objects& objects, const Settings& settings) {
  Step step{.name = settings.name() + "-ca-inject",
            .when = kAfter,
            .arguments = {"certs", "inject", "--namespace=" + settings.release.ns, "--service=" + settings.name(),
                          "--secret=" + settings.secret, "--configuration=" + settings.configuration()}};
  objects.push_back(account(settings, step));
  add_hook_role(objects, settings, step, settings.release.ns, {secret_rule(settings, {"get"})});
  Json rule = Json::Object{{"apiGroups", strings({"admissionregistration.k8s.io"})},
                           {"resources", strings({"validatingwebhookconfigurations"})},
                           {"resourceNames", strings({settings.configuration()})},
                           {"verbs", strings({"get", "patch"})}};
  add_hook_role(objects, settings, step, "", {std::move(rule)});
  objects.push_back(job(settings, step));
}

}  // namespace

Objects hooks(const Settings& settings) {
  Objects objects;
  if (!settings.has_hooks) return objects;
  add_ensure(objects, settings);
  add_inject(objects, settings);
  return objects;
}

}  // namespace fairlead::webhook::install
