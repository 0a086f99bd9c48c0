#include "terraform/provider/resource.h"

#include <fmt/format.h>

namespace fairlead::terraform {

Task<Diagnostics> Resource::validate(Context&, Value) { co_return Diagnostics(); }

Task<ImportResponse> Resource::import(Context&, ImportRequest) {
  ImportResponse response;
  response.diagnostics.error(fmt::format("{} cannot be imported", name()),
                             "There is nothing in the cluster that an import could read.");
  co_return response;
}

Task<MoveResponse> Resource::move(Context&, MoveRequest request) {
  MoveResponse response;
  response.diagnostics.error(fmt::format("{} cannot take over a {}", name(), request.source_type),
                             fmt::format("No move from {} to {} is known. Remove the \"moved\" block, and import the "
                                         "object instead.",
                                         request.source_type, name()));
  co_return response;
}

Task<UpgradeResponse> Resource::upgrade(Context&, UpgradeRequest request) {
  UpgradeResponse response;
  if (request.version != schema().version) {
    response.diagnostics.error(
        fmt::format("The state of {} has version {}, which this provider does not know", name(), request.version),
        fmt::format("This provider writes version {}. Use the version of the provider that wrote the state, or a newer "
                    "one.",
                    schema().version));
    co_return response;
  }
  Result<Value> state = Value::from_state_json(request.state, schema().type());
  if (!state) {
    response.diagnostics.error(std::move(state).error().in(fmt::format("The state of {} cannot be read", name())));
  } else {
    response.state = *std::move(state);
  }
  co_return response;
}

Task<Diagnostics> DataSource::validate(Context&, Value) { co_return Diagnostics(); }

Task<Diagnostics> EphemeralResource::validate(Context&, Value) { co_return Diagnostics(); }

Task<RenewResponse> EphemeralResource::renew(Context&, Json private_state) {
  co_return RenewResponse{.private_state = std::move(private_state), .renew_at = {}, .diagnostics = {}};
}

Task<Diagnostics> EphemeralResource::close(Context&, Json) { co_return Diagnostics(); }

}  // namespace fairlead::terraform
