// terraform-provider-fairlead: Fairlead as a provider of Terraform and OpenTofu.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "base/version.h"
#include "rpc/plugin.h"
#include "terraform/cluster/real_clusters.h"
#include "terraform/provider/server.h"
#include "terraform/resources/offers.h"
#include "terraform/stderr_log.h"

namespace {

using namespace fairlead;

constexpr std::string_view kUsage =
    R"(terraform-provider-fairlead is a plugin: terraform and tofu start it by themselves.

Put it where they look for plugins, such as
  terraform.d/plugins/registry.terraform.io/fairlead/fairlead/VERSION/linux_amd64/terraform-provider-fairlead_vVERSION
or name its folder in dev_overrides in ~/.terraformrc, and use it:
  terraform {
    required_providers {
      fairlead = { source = "fairlead/fairlead" }
    }
  }

Usage:
  terraform-provider-fairlead --debug     serve until Ctrl-C, and print what to set so that terraform uses this process
  terraform-provider-fairlead --version   print the version
)";

// Terraform shows to the user what follows this word.
void tell_panic(const char* what) {
  std::string line = fmt::format("panic: terraform-provider-fairlead {}\n", what);
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void on_crash(int signal) {
  constexpr char kLine[] = "panic: terraform-provider-fairlead crashed; this is an error in the provider\n";
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, kLine, sizeof kLine - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string reattach_text(const std::string& socket) {
  Json::Object address{{"Network", "unix"}, {"String", socket}};
  Json plugin = Json::Object{{"Protocol", "grpc"},
                             {"ProtocolVersion", 6},
                             {"Pid", int64_t{::getpid()}},
                             {"Test", true},
                             {"Addr", std::move(address)}};
  Json all = Json::Object{{"registry.terraform.io/fairlead/fairlead", plugin},
                          {"registry.opentofu.org/fairlead/fairlead", plugin}};
  return fmt::format(
      "The provider is running. For terraform or tofu to use it, set\n\n\tTF_REATTACH_PROVIDERS='{}'\n\n", all.dump());
}

rpc::PluginSpec plugin_spec(bool is_debug) {
  rpc::PluginSpec spec{.cookie_name = "TF_PLUGIN_MAGIC_COOKIE",
                       .cookie_value = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
                       .name = "terraform-provider-fairlead",
                       .on_debug = {}};
  if (is_debug)
    spec.on_debug = [](const std::string& socket) {
      std::string text = reattach_text(socket);
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    };
  return spec;
}

terraform::ProviderBlock provider_block(terraform::RealClusters& clusters) {
  auto validate = [&clusters](const terraform::Value& config) {
    terraform::Diagnostics found;
    for (const auto& [name, cluster] : config["clusters"].members())
      found.add(clusters.check(cluster, terraform::Path("clusters").key(name)));
    return found;
  };
  auto configure = [&clusters](const terraform::Value& config) {
    clusters.configure(config["clusters"]);
    return terraform::Diagnostics();
  };
  return {.schema = {.description = "Kubernetes objects and bundles, rolled out by Fairlead.",
                     .attributes = {terraform::clusters_attribute()},
                     .blocks = {}},
          .validate = validate,
          .configure = configure};
}

int serve(bool is_debug) {
  RealLoop loop;
  Secrets secrets;
  terraform::StderrLog log(terraform::log_level_of_environment(), secrets);
  terraform::RealClusters clusters(loop,
                                   {.user_agent = fmt::format("terraform-provider-fairlead/{}", program_version()),
                                    .on_secret = [&](std::string_view secret) { secrets.hide(secret); }});
  terraform::ProviderServer server(loop, clusters, log, secrets, provider_block(clusters), terraform::all_offers());
  rpc::Services services;
  server.add_to(services);
  Result<void> served = loop.run(rpc::run_plugin(loop, plugin_spec(is_debug), std::move(services)));
  loop.run(clusters.close());
  if (served) return 0;
  std::fputs(served.error().report().c_str(), stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string argument = argc > 1 ? argv[1] : "";
  bool is_debug = argument == "--debug" || argument == "-debug";
  if (argument == "--version") {
    std::puts(fmt::format("terraform-provider-fairlead {}", program_version()).c_str());
    return 0;
  }
  if (argument == "--help" || argument == "-h") {
    std::fputs(kUsage.data(), stdout);
    return 0;
  }
  if (!is_debug && !rpc::is_started_as_plugin(plugin_spec(false))) {
    std::fputs(kUsage.data(), stderr);
    return 1;
  }
  // Ctrl-C reaches the whole process group: what it means is Terraform's to say.
  if (!is_debug) std::signal(SIGINT, SIG_IGN);
  std::set_terminate([] {
    tell_panic("ended unexpectedly; this is an error in the provider");
    std::abort();
  });
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) std::signal(signal, on_crash);
  return serve(is_debug);
}
