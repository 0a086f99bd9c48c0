#include "webhook/install/internal/pod.h"

#include "webhook/install/internal/objects.h"

namespace fairlead::webhook::install {

Json container(const Image& image, const std::vector<std::string>& arguments) {
  Json::Array texts;
  for (const std::string& argument : arguments) texts.emplace_back(argument);
  return Json::Object{{"name", "fairlead"},
                      {"image", image.name},
                      {"imagePullPolicy", image.pull_policy},
                      {"args", std::move(texts)},
                      {"securityContext", Json::Object{{"allowPrivilegeEscalation", false},
                                                       {"readOnlyRootFilesystem", true},
                                                       {"capabilities", Json::Object{{"drop", strings({"ALL"})}}}}}};
}

Json pod_spec(const Settings& settings, const std::string& account, Json container) {
  Json::Object spec{{"serviceAccountName", account},
                    {"securityContext", Json::Object{{"runAsNonRoot", true},
                                                     {"runAsUser", 65532},
                                                     {"runAsGroup", 65532},
                                                     {"seccompProfile", Json::Object{{"type", "RuntimeDefault"}}}}},
                    {"containers", Json::Array{std::move(container)}}};
  if (!settings.priority_class.empty()) spec.append("priorityClassName", settings.priority_class);
  auto add = [&](std::string key, const Json& value) {
    if (!value.items().empty() || !value.members().empty()) spec.append(std::move(key), value);
  };
  add("imagePullSecrets", settings.pull_secrets);
  add("nodeSelector", settings.node_selector);
  add("tolerations", settings.tolerations);
  return spec;
}

namespace {

std::vector<std::string> own_arguments(const Settings& settings) {
  if (!settings.has_webhook)
    return {"webhook", "controller", "--policies=dynamo",
            settings.only_namespace.empty() ? "--all-namespaces" : "--namespace=" + settings.only_namespace};
  std::vector<std::string> arguments = {"webhook", "serve", "--policies=dynamo"};
  if (!settings.operator_account.empty()) arguments.push_back("--operator-account=" + settings.operator_account);
  if (!settings.planner_account.empty()) arguments.push_back("--planner-account=" + settings.planner_account);
  arguments.push_back("--namespace=" + settings.release.ns);
  arguments.push_back("--service=" + settings.name());
  arguments.push_back("--configuration=" + settings.configuration());
  arguments.push_back("--secret=" + settings.secret);
  arguments.emplace_back("--cert-dir=/certs");
  if (settings.certificates == Certificates::automatic) {
    arguments.emplace_back("--manage-certificates");
    arguments.push_back(fmt::format("--cert-validity={}d", settings.validity_days));
    arguments.push_back("--cluster-domain=" + settings.cluster_domain);
    arguments.push_back("--leader-lease=" + settings.leader_lease);
    arguments.push_back("--leader-namespace=" + settings.leader_namespace);
  }
  if (!settings.client_ca.empty()) arguments.emplace_back("--client-ca-file=/client-ca/ca.crt");
  arguments.push_back("--drain=" + settings.drain);
  arguments.push_back("--drain-limit=" + settings.drain_limit);
  arguments.push_back(fmt::format("--max-in-flight={}", settings.max_in_flight));
  arguments.push_back("--log-reviews=" + settings.log_reviews);
  // An empty name after an equals sign would be none.
  arguments.insert(arguments.end(), {"--lease-name", settings.lock_name});
  if (settings.only_namespace.empty()) return arguments;
  arguments.push_back("--restrict-to-namespace=" + settings.only_namespace);
  arguments.push_back("--lease-duration=" + settings.lock_duration);
  arguments.push_back("--lease-renew-interval=" + settings.lock_renew);
  return arguments;
}

}  // namespace

std::vector<std::string> server_arguments(const Settings& settings) {
  std::vector<std::string> arguments = own_arguments(settings);
  arguments.insert(arguments.end(), settings.extra_arguments.begin(), settings.extra_arguments.end());
  return arguments;
}

}  // namespace fairlead::webhook::install
