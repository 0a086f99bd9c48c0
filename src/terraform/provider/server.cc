#include "terraform/provider/server.h"

#include "terraform/provider/internal/desk.h"

namespace fairlead::terraform {
namespace {

using protobuf::WireWriter;

WireWriter server_capabilities() {
  WireWriter out;
  constexpr uint64_t kPlanDestroy = 1, kProviderSchemaOptional = 2, kMoveResourceState = 3;
  for (uint64_t capability : {kPlanDestroy, kProviderSchemaOptional, kMoveResourceState}) out.flag(capability, true);
  return out;
}

template <class Offer>
void put_schemas(WireWriter& out, uint64_t field, const std::vector<std::unique_ptr<Offer>>& offers) {
  for (const auto& offer : offers) out.message(field, map_entry(offer->name(), message_of(offer->schema())));
}

void put_functions(WireWriter& out, uint64_t field, const Offers& offers) {
  for (const auto& function : offers.functions)
    out.message(field, map_entry(function->name(), message_of(function->signature())));
}

Task<std::string> get_provider_schema(Desk& desk, const Message&) {
  WireWriter out;
  out.message(1, message_of(desk.block.schema));
  put_schemas(out, 2, desk.offers.resources);
  put_schemas(out, 3, desk.offers.data_sources);
  out.message(6, server_capabilities());
  put_functions(out, 7, desk.offers);
  put_schemas(out, 8, desk.offers.ephemeral_resources);
  co_return out.take();
}

Task<std::string> get_functions(Desk& desk, const Message&) {
  WireWriter out;
  put_functions(out, 1, desk.offers);
  co_return out.take();
}

Task<std::string> get_identity_schemas(Desk& desk, const Message&) {
  WireWriter out;
  for (const auto& resource : desk.offers.resources)
    if (const IdentitySchema* schema = resource->identity_schema())
      out.message(1, map_entry(resource->name(), message_of(*schema)));
  co_return out.take();
}

Task<std::string> validate_provider(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  if (auto config = answer.value(1, desk.type_of(desk.block.schema))) {
    answer.diagnostics().add(check_config(*config, desk.block.schema));
    if (!answer.diagnostics().has_errors()) answer.diagnostics().add(desk.block.validate(*config));
  }
  co_return answer.finish(2);
}

Task<std::string> configure_provider(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  if (auto config = answer.value(2, desk.type_of(desk.block.schema)))
    answer.diagnostics().add(desk.block.configure(*config));
  co_return answer.finish(1);
}

struct Named {
  std::string_view name;
  Method method;
};

constexpr Named kMethods[] = {
    {"GetProviderSchema", get_provider_schema},
    {"GetFunctions", get_functions},
    {"GetResourceIdentitySchemas", get_identity_schemas},
    {"ValidateProviderConfig", validate_provider},
    {"ConfigureProvider", configure_provider},
    {"ValidateResourceConfig", validate_resource},
    {"UpgradeResourceState", upgrade_state},
    {"UpgradeResourceIdentity", upgrade_identity},
    {"ReadResource", read_resource},
    {"PlanResourceChange", plan_change},
    {"ApplyResourceChange", apply_change},
    {"ImportResourceState", import_state},
    {"MoveResourceState", move_state},
    {"ValidateDataResourceConfig", validate_data_source},
    {"ReadDataSource", read_data_source},
    {"ValidateEphemeralResourceConfig", validate_ephemeral},
    {"OpenEphemeralResource", open_ephemeral},
    {"RenewEphemeralResource", renew_ephemeral},
    {"CloseEphemeralResource", close_ephemeral},
    {"CallFunction", call_function},
};

std::string path_of(std::string_view method) { return fmt::format("/tfplugin6.Provider/{}", method); }

}  // namespace

struct ProviderServer::Impl {
  Desk desk;
};

ProviderServer::ProviderServer(Loop& loop, Clusters& clusters, Log& log, const Secrets& secrets, ProviderBlock block,
                               Offers offers)
    : impl_(std::make_unique<Impl>(Desk{.loop = loop,
                                        .clusters = clusters,
                                        .log = log,
                                        .secrets = secrets,
                                        .block = std::move(block),
                                        .offers = std::move(offers),
                                        .running = {},
                                        .types = {}})) {}

ProviderServer::~ProviderServer() = default;

void ProviderServer::add_to(rpc::Services& services) {
  Desk* desk = &impl_->desk;
  for (const Named& named : kMethods)
    services.add(path_of(named.name), [desk, method = named.method](std::string request) {
      return desk->running.run(std::move(request),
                               [desk, method](const Message& message) { return method(*desk, message); });
    });
  services.add(path_of("StopProvider"), [desk](std::string) -> Task<rpc::Answer> {
    desk->running.cancel_all();
    co_return std::string();
  });
}

}  // namespace fairlead::terraform
