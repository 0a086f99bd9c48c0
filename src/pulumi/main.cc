// pulumi-resource-fairlead: Fairlead as a provider of Pulumi.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "base/version.h"
#include "pulumi/provider/package_schema.h"
#include "pulumi/provider/server.h"
#include "pulumi/real_engine.h"
#include "pulumi/resources/catalog.h"
#include "rpc/plugin.h"
#include "terraform/cluster/description.h"
#include "terraform/cluster/real_clusters.h"
#include "terraform/projection/owner.h"

namespace {

using namespace fairlead;

constexpr std::string_view kUsage =
    R"(pulumi-resource-fairlead is a plugin: pulumi starts it by itself.

Put it into a folder of PATH, or name its folder in Pulumi.yaml:
  plugins:
    providers:
      - name: fairlead
        path: FOLDER

Usage:
  pulumi-resource-fairlead ADDRESS     serve the engine at ADDRESS, and print the port
  pulumi-resource-fairlead --debug     serve until Ctrl-C, and print what to set so that pulumi uses this process
  pulumi-resource-fairlead --schema    print the schema of the package
  pulumi-resource-fairlead --version   print the version
)";

pulumi::ProviderSettings settings_of(terraform::RealClusters& clusters) {
  using terraform::Omitted;
  return {.facade = pulumi::provider_facade(),
          .check =
              [](const terraform::Value& config) {
                return terraform::check_description(config, terraform::Path(), Omitted::as_kubectl);
              },
          .configure =
              [&clusters](const terraform::Value& config) {
                clusters.configure(terraform::Value::object({{"provider", config}}));
              },
          .server = [](const terraform::Value& config) -> std::optional<std::string> {
            auto read = terraform::read_description(config, kube::Surroundings::real(), Omitted::as_kubectl);
            return read ? std::optional(read->server.text()) : std::nullopt;
          }};
}

int serve(std::string engine_address, bool is_debug) {
  RealLoop loop;
  Secrets secrets;
  pulumi::RealEngine engine(loop);
  engine.attach(std::move(engine_address));
  terraform::serve_tool(terraform::kPulumi);
  terraform::RealClusters clusters(loop, {.user_agent = fmt::format("pulumi-resource-fairlead/{}", program_version()),
                                          .omitted = terraform::Omitted::as_kubectl,
                                          .on_secret = [&](std::string_view secret) { secrets.hide(secret); }});
  pulumi::ProviderServer server(loop, clusters, engine, secrets, settings_of(clusters), pulumi::whole_catalog());
  rpc::Services services;
  server.add_to(services);
  rpc::PortSpec spec{.ends_with_parent = !is_debug, .on_port = [is_debug](uint16_t port) {
                       std::string text = is_debug ? fmt::format(
                                                         "The provider is running. For pulumi to use it, set\n\n"
                                                         "\tPULUMI_DEBUG_PROVIDERS=fairlead:{}\n\n",
                                                         port)
                                                   : fmt::format("{}\n", port);
                       std::fwrite(text.data(), 1, text.size(), stdout);
                       std::fflush(stdout);
                     }};
  Result<void> served = loop.run(rpc::run_on_port(loop, std::move(spec), std::move(services)));
  loop.run(engine.close());
  loop.run(server.close());
  loop.run(clusters.close());
  if (served) return 0;
  std::fputs(served.error().report().c_str(), stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string address;
  bool is_debug = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--version") {
      std::puts(fmt::format("pulumi-resource-fairlead {}", program_version()).c_str());
      return 0;
    }
    if (argument == "--schema") {
      Json schema = pulumi::package_schema(pulumi::provider_facade(), pulumi::whole_catalog(), program_version());
      std::puts(schema.pretty().c_str());
      return 0;
    }
    if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage.data(), stdout);
      return 0;
    }
    is_debug = is_debug || argument == "--debug";
    // Pulumi also passes flags of its own, for its logs.
    if (!argument.starts_with('-')) address = argument;
  }
  if (address.empty() && !is_debug) {
    std::fputs(kUsage.data(), stderr);
    return 1;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return serve(std::move(address), is_debug);
}
