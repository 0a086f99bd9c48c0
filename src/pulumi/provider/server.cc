#include "pulumi/provider/server.h"

#include <fmt/format.h>

#include "pulumi/provider/internal/desk.h"

namespace fairlead::pulumi {
namespace {

struct Named {
  std::string_view name;
  Method method;
};

constexpr Named kMethods[] = {
    {"Handshake", handshake},
    {"Attach", attach},
    {"GetPluginInfo", get_plugin_info},
    {"GetSchema", get_schema},
    {"CheckConfig", check_config},
    {"DiffConfig", diff_config},
    {"Configure", configure},
    {"Invoke", invoke},
    {"Check", check},
    {"Diff", diff},
    {"Create", create},
    {"Read", read},
    {"Update", update},
    {"Delete", remove},
};

std::string path_of(std::string_view method) { return fmt::format("/pulumirpc.ResourceProvider/{}", method); }

}  // namespace

struct ProviderServer::Impl {
  Desk desk;
};

ProviderServer::ProviderServer(Loop& loop, terraform::Clusters& clusters, Engine& engine, Secrets& secrets,
                               ProviderSettings settings, Catalog catalog)
    : impl_(new Impl{.desk = {.loop = loop,
                              .clusters = clusters,
                              .engine = engine,
                              .log = LogQueue(loop, engine),
                              .secrets = secrets,
                              .settings = std::move(settings),
                              .catalog = std::move(catalog),
                              .running = {},
                              .compared = {}}}) {}

ProviderServer::~ProviderServer() = default;

void ProviderServer::add_to(rpc::Services& services) {
  Desk* desk = &impl_->desk;
  for (const Named& named : kMethods)
    services.add(path_of(named.name), [desk, method = named.method](std::string request) {
      return desk->running.run(std::move(request),
                               [desk, method](const Message& message) { return method(*desk, message); });
    });
  // Comes when the user interrupts a run, and at the end of every run.
  services.add(path_of("Cancel"), [desk](std::string) -> Task<rpc::Answer> {
    desk->running.cancel_all();
    co_return std::string();
  });
}

Task<void> ProviderServer::close() { co_await impl_->desk.log.close(); }

}  // namespace fairlead::pulumi
