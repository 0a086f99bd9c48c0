#include "cli/input/internal/chart_target.h"

#include "cli/core/connect.h"
#include "inventory/inventory.h"

namespace fairlead::cli {
namespace {

Result<void> check_flags(const Globals& globals) {
  const std::pair<const char*, const std::string&> unknown[] = {{"--cluster", globals.cluster},
                                                                {"--user", globals.user},
                                                                {"--as-uid", globals.as_uid},
                                                                {"--client-certificate", globals.client_certificate},
                                                                {"--client-key", globals.client_key}};
  for (const auto& [flag, value] : unknown)
    if (!value.empty())
      return fail(Error(ErrorKind::invalid, fmt::format("{} cannot be used with a chart", flag))
                      .because("helm has no such flag")
                      .next("put it into a context of the kubeconfig, and give --context"));
  return {};
}

// The token would be seen by everybody on a command line.
void add_connection(const Globals& globals, const std::string& context, render::Target& target) {
  auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) target.connection.insert(target.connection.end(), {flag, value});
  };
  add("--kubeconfig", globals.kubeconfig);
  add("--kube-context", context);
  add("--kube-as-user", globals.as);
  for (const std::string& group : globals.as_groups) add("--kube-as-group", group);
  add("--kube-apiserver", globals.server);
  add("--kube-ca-file", globals.certificate_authority);
  add("--kube-tls-server-name", globals.tls_server_name);
  if (globals.insecure_skip_tls_verify) target.connection.emplace_back("--kube-insecure-skip-tls-verify");
  if (!globals.token.empty()) target.environment.emplace_back("HELM_KUBETOKEN", globals.token);
}

// As helm counts them: every version, and every kind in it.
std::vector<std::string> api_versions_of(const kube::Discovered& discovered) {
  std::vector<std::string> all;
  std::string last;
  for (const object::Resource& resource : discovered.resources()) {
    std::string version = resource.api_version();
    if (version != last) all.push_back(version);
    all.push_back(fmt::format("{}/{}", version, resource.kind));
    last = std::move(version);
  }
  return all;
}

Task<Result<void>> ask(Cluster& cluster, const std::string& name, render::Target& target) {
  auto version = co_await cluster.client().request({.target = "/version"});
  if (!version) co_return fail(version.error().error());
  target.kube_version = version->value["gitVersion"].string_or("");
  if (target.kube_version.empty()) co_return fail(ErrorKind::protocol, "the API server does not tell its version");
  auto discovered = co_await cluster.discovery().all();
  if (!discovered) co_return fail(discovered.error().error());
  target.api_versions = api_versions_of(**discovered);
  if (name.empty()) co_return Result<void>();
  CO_TRY(inventory::check_name(name));
  auto inventory = co_await inventory::Inventory::open(cluster.client(), cluster.discovery(),
                                                       {.name = name, .ns = cluster.default_namespace()});
  if (!inventory) co_return fail(inventory.error().error());
  target.is_upgrade = (*inventory)->was_installed();
  co_return Result<void>();
}

}  // namespace

Task<Result<render::Target>> find_target(RealLoop& loop, const Globals& globals, std::string name, bool offline) {
  if (offline) co_return render::Target{.ns = globals.namespace_name.empty() ? "default" : globals.namespace_name};
  CO_TRY(check_flags(globals));
  journal::Journal journal(loop.clock());
  CO_TRY_ASSIGN(std::unique_ptr<Cluster> cluster, Cluster::connect(loop, globals, journal));
  render::Target target{.ns = cluster->default_namespace()};
  add_connection(globals, cluster->context(), target);
  Result<void> asked = co_await ask(*cluster, name, target);
  co_await cluster->close();
  if (!asked) co_return fail(asked.error());
  co_return target;
}

}  // namespace fairlead::cli
