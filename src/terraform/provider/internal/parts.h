// What the messages of Terraform's plugin protocol are made of: values, diagnostics, paths, schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secrets.h"
#include "protobuf/wire.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// A value that comes as MessagePack or as JSON; none at all is null. Errors are of the other side.
Result<Value> read_dynamic_value(std::string_view message, const Type& type);
// The value conforms to the type.
Result<protobuf::WireWriter> dynamic_value(const Value& value, const Type& type);

// The JSON in a raw state; null if there is none. Fails for state of Terraform before 0.12.
Result<Json> read_raw_state(std::string_view message);

ClientCapabilities read_capabilities(std::string_view message);

// Bytes that only we read: JSON. What cannot be read is null, since another provider may have written it.
Json read_private(std::string_view bytes);
std::string private_bytes(const Json& json);

protobuf::WireWriter message_of(const Diagnostic& diagnostic, const Secrets& secrets);
protobuf::WireWriter message_of(const Path& path);
protobuf::WireWriter message_of(const Schema& schema);
protobuf::WireWriter message_of(const IdentitySchema& schema);
protobuf::WireWriter message_of(const Signature& signature);
protobuf::WireWriter message_of(Deferred reason);
// google.protobuf.Timestamp
protobuf::WireWriter message_of(WallTime time);
// An entry of a map by names.
protobuf::WireWriter map_entry(std::string_view key, const protobuf::WireWriter& value);

}  // namespace fairlead::terraform
