#include "kube/config/internal/exec_spec.h"

#include <fmt/format.h>

#include "base/plain_text.h"

namespace fairlead::kube {
namespace {

Result<ExecPlugin::Interactive> read_interactive(const Section& exec, const std::string& api_version) {
  TRY_ASSIGN(std::string mode, exec.text("interactiveMode"));
  if (mode == "Never") return ExecPlugin::Interactive::never;
  if (mode == "Always") return ExecPlugin::Interactive::always;
  bool has_default = api_version.ends_with("/v1beta1");
  if (mode == "IfAvailable" || (mode.empty() && has_default)) return ExecPlugin::Interactive::if_available;
  if (mode.empty()) return fail(exec.error("\"interactiveMode\" is missing: Never, IfAvailable or Always"));
  return fail(exec.error(
      fmt::format("\"interactiveMode\" is \"{}\", not Never, IfAvailable or Always", plain_text(mode, 100))));
}

}  // namespace

Result<ExecPlugin> read_exec(const Section& user, const Json& info) {
  const Json& value = user["exec"];
  if (!value.is_object()) return fail(user.error("\"exec\" is not a map"));
  Section exec(user.who() + ": exec", user.file(), value);

  ExecPlugin plugin;
  TRY_ASSIGN(plugin.command, exec.text("command"));
  if (plugin.command.empty()) return fail(exec.error("\"command\" is missing"));
  // Like a shell: a bare name is looked for in PATH, anything with a slash is a file.
  if (plugin.command.contains('/')) plugin.command = exec.resolved(plugin.command);
  TRY_ASSIGN(plugin.arguments, exec.texts("args"));
  TRY_ASSIGN(plugin.install_hint, exec.text("installHint"));

  TRY_ASSIGN(plugin.api_version, exec.text("apiVersion"));
  if (plugin.api_version == "client.authentication.k8s.io/v1alpha1")
    return fail(exec.error("\"apiVersion\" is client.authentication.k8s.io/v1alpha1, which Kubernetes no longer has")
                    .next("update the plugin, and have it write a new kubeconfig"));
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1")
    return fail(exec.error(
        "\"apiVersion\" is neither client.authentication.k8s.io/v1 nor client.authentication.k8s.io/v1beta1"));
  TRY_ASSIGN(plugin.interactive, read_interactive(exec, plugin.api_version));

  const Json& environment = exec["env"];
  if (!environment.is_null() && !environment.is_array()) return fail(exec.error("\"env\" is not a list"));
  for (const Json& variable : environment.items()) {
    std::string_view name = variable["name"].string_or("");
    if (name.empty() || name.contains('=') || name.contains('\0') || !variable["value"].is_string())
      return fail(exec.error("\"env\" has an entry that is not a name and a value"));
    plugin.environment.emplace_back(name, variable["value"].string_or(""));
  }
  TRY_ASSIGN(bool wants_info, exec.flag("provideClusterInfo"));
  if (wants_info) plugin.cluster = info;
  return plugin;
}

Error auth_provider_error(const Section& user) {
  std::string_view name = user["auth-provider"]["name"].string_or("");
  std::string next = "use an exec plugin instead";
  if (name == "gcp")
    next = "gcloud components install gke-gcloud-auth-plugin, then gcloud container clusters get-credentials CLUSTER";
  if (name == "azure") next = "kubelogin convert-kubeconfig";
  if (name == "oidc")
    next = "kubectl oidc-login setup (https://github.com/int128/kubelogin), and use it as an exec plugin";
  return user.error(fmt::format("uses the old auth-provider \"{}\", which is not supported", plain_text(name, 100)))
      .next(std::move(next));
}

}  // namespace fairlead::kube
