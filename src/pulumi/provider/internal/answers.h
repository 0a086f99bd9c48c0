// Parts of answers.
#pragma once

#include <string>
#include <vector>

#include "protobuf/wire.h"
#include "pulumi/provider/difference.h"
#include "pulumi/provider/facade.h"
#include "pulumi/provider/internal/desk.h"
#include "rpc/status.h"

namespace fairlead::pulumi {

// The object in a field of the request. What is a secret in there is hidden from every text.
Result<Json> properties_in(Desk& desk, const Message& request, uint64_t field);

std::unexpected<rpc::Status> invalid(const Error& error);

// A call that failed: its errors, in Pulumi's words.
std::unexpected<rpc::Status> failed(const Desk& desk, const terraform::Diagnostics& diagnostics, const Facade& facade);

// A resource that exists, and is not as it should be. Pulumi keeps its outputs, and the next run updates it.
std::unexpected<rpc::Status> half_made(const Desk& desk, const terraform::Diagnostics& diagnostics,
                                       const Facade& facade, const std::string& id, const Json& outputs);

// The errors as failures of properties, each in the field. `given` tells which property has the manifest.
void put_failures(protobuf::WireWriter& out, uint64_t field, const Desk& desk,
                  const terraform::Diagnostics& diagnostics, const Facade& facade, const Json& given);

// The answer to Diff and DiffConfig.
std::string diff_answer(const std::vector<Difference>& found, bool deletes_first);

}  // namespace fairlead::pulumi
