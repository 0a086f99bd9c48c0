#include "cli/core/connect.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/version.h"

namespace fairlead::cli {
namespace {

kube::KubeFlags kube_flags(const Globals& globals) {
  return {.kubeconfig = globals.kubeconfig,
          .context = globals.context,
          .cluster = globals.cluster,
          .user = globals.user,
          .ns = globals.namespace_name,
          .server = globals.server,
          .token = globals.token,
          .as = globals.as,
          .as_groups = globals.as_groups,
          .as_uid = globals.as_uid,
          .request_timeout = globals.request_timeout,
          .tls_server_name = globals.tls_server_name,
          .insecure_skip_tls_verify = globals.insecure_skip_tls_verify,
          .certificate_authority = globals.certificate_authority,
          .client_certificate = globals.client_certificate,
          .client_key = globals.client_key};
}

void log_request(const kube::Call& call, std::optional<int> status, Duration took) {
  std::fprintf(stderr, "%s %s %s in %ld ms\n", call.method.c_str(), call.target.c_str(),
               status ? std::to_string(*status).c_str() : "no answer", long(took / std::chrono::milliseconds(1)));
}

// The cluster that the flags choose in the kubeconfig, if they may.
Result<kube::ClusterConfig> chosen_cluster(const Globals& globals, const kube::Kubeconfig& kubeconfig) {
  TRY_ASSIGN(kube::ClusterConfig config, kubeconfig.resolve(kube_flags(globals)));
  TRY(check_context(globals, config.context));
  return config;
}

}  // namespace

Result<kube::Kubeconfig> read_kubeconfig(const Globals& globals) {
  return kube::Kubeconfig::load(kube_flags(globals), kube::Surroundings::real());
}

Result<std::unique_ptr<Cluster>> Cluster::connect(RealLoop& loop, const Globals& globals, journal::Journal& journal) {
  TRY_ASSIGN(kube::Kubeconfig kubeconfig, read_kubeconfig(globals));
  return connect(loop, globals, kubeconfig, journal);
}

Result<std::unique_ptr<Cluster>> Cluster::connect(RealLoop& loop, const Globals& globals,
                                                  const kube::Kubeconfig& kubeconfig, journal::Journal& journal) {
  TRY_ASSIGN(kube::ClusterConfig config, chosen_cluster(globals, kubeconfig));
  kube::ConnectOptions options;
  options.on_secret = [&journal](std::string_view secret) { journal.hide(secret); };
  options.has_terminal = ::isatty(STDIN_FILENO);
  options.client.user_agent = fmt::format("fairlead/{}", program_version());
  if (globals.verbosity >= kShowRequests) options.client.observe = log_request;
  TRY_ASSIGN(std::unique_ptr<kube::Connection> connection, kube::connect(loop, std::move(config), std::move(options)));
  return std::unique_ptr<Cluster>(new Cluster(loop, std::move(connection)));
}

Result<std::string> place_of(const Globals& globals) {
  TRY_ASSIGN(kube::Kubeconfig kubeconfig, read_kubeconfig(globals));
  TRY_ASSIGN(kube::ClusterConfig config, chosen_cluster(globals, kubeconfig));
  return fmt::format("{}{}, namespace {}", config.context.empty() ? "" : fmt::format("context {}, ", config.context),
                     config.server.text(), config.ns);
}

std::string Cluster::server() const { return connection_->config().server.text(); }

std::string Cluster::text() const { return context().empty() ? "server " + server() : "context " + context(); }

uint64_t Cluster::requests() const {
  uint64_t all = 0;
  for (const auto& [verb, count] : connection_->client().counts()) all += count;
  return all;
}

Result<void> check_context(const Globals& globals, const std::string& context) {
  // A pod has no context.
  std::string name = context.empty() ? "in-cluster" : context;
  auto matches = [&](const std::string& pattern) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; };
  if (globals.allowed_contexts.empty() || std::ranges::any_of(globals.allowed_contexts, matches)) return {};
  return fail(Error(ErrorKind::denied, fmt::format("context \"{}\" may not be used with this bundle", name))
                  .because(fmt::format("it allows {}", fmt::join(globals.allowed_contexts, ", ")))
                  .at(globals.allowed_at)
                  .next("--context NAME chooses another one"));
}

std::vector<std::string> kubeconfig_names(const std::string& option) {
  if (option != "--context" && option != "--contexts") return {};
  Result<kube::Kubeconfig> config = kube::Kubeconfig::load({}, kube::Surroundings::real());
  return config ? config->contexts() : std::vector<std::string>();
}

}  // namespace fairlead::cli
