// What all calls of the plugin protocol share, and how one is answered.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/secrets.h"
#include "protobuf/message.h"
#include "rpc/running_calls.h"
#include "terraform/provider/internal/parts.h"
#include "terraform/provider/resource.h"
#include "terraform/provider/server.h"

namespace fairlead::terraform {

using protobuf::Message;

struct Desk {
  Loop& loop;
  Clusters& clusters;
  Log& log;
  const Secrets& secrets;
  ProviderBlock block;
  Offers offers;
  // The calls that StopProvider ends.
  rpc::RunningCalls running;
  std::map<const Schema*, Type> types;

  const Type& type_of(const Schema& schema);
  Context context(const Message& request, uint64_t capabilities_field);
};

// The answer to one call: its fields, and the diagnostics that are found on the way.
class Answering {
 public:
  Answering(Desk& desk, const Message& request) : desk_(desk), request_(request) {}

  Diagnostics& diagnostics() { return diagnostics_; }
  protobuf::WireWriter& out() { return out_; }

  // One that is not there, or cannot be read, is an error for the user and null.
  template <class Offer>
  Offer* find(const std::vector<std::unique_ptr<Offer>>& offers, std::string_view kind, std::string_view name) {
    for (const std::unique_ptr<Offer>& offer : offers)
      if (offer->name() == name) return offer.get();
    diagnostics_.error(fmt::format("There is no {} \"{}\"", kind, name),
                       "This version of the provider does not have it.");
    return nullptr;
  }
  // A value in a field of the request. Nothing, and an error, if it cannot be read.
  std::optional<Value> value(uint64_t field, const Type& type);
  std::optional<Value> identity(uint64_t field, const IdentitySchema* schema);
  std::optional<Json> raw_state(uint64_t field);

  // What a handler gave, as a field of the answer. Write-only attributes are cleared. What breaks the protocol's rules
  // is an error; unknown values in what should be known are null then.
  enum class Known { all, some };
  void put(uint64_t field, Value value, const Schema& schema, Known known);
  void put(uint64_t field, Value value, const Type& type, Known known);
  // Null is left out.
  void put_identity(uint64_t field, Value value, const IdentitySchema* schema);
  void put_private(uint64_t field, const Json& json) { out_.bytes(field, private_bytes(json)); }
  void put_deferred(uint64_t field, const std::optional<Deferred>& deferred, const ClientCapabilities& client);

  // Call it last.
  std::string finish(uint64_t diagnostics_field);

 private:
  void broken_rule(const Error& error);

  Desk& desk_;
  const Message& request_;
  protobuf::WireWriter out_;
  Diagnostics diagnostics_;
};

// One method of the protocol. The request lives until the task has ended.
using Method = Task<std::string> (*)(Desk& desk, const Message& request);

// Methods of resources.
Task<std::string> validate_resource(Desk& desk, const Message& request);
Task<std::string> upgrade_state(Desk& desk, const Message& request);
Task<std::string> upgrade_identity(Desk& desk, const Message& request);
Task<std::string> read_resource(Desk& desk, const Message& request);
Task<std::string> plan_change(Desk& desk, const Message& request);
Task<std::string> apply_change(Desk& desk, const Message& request);
Task<std::string> import_state(Desk& desk, const Message& request);
Task<std::string> move_state(Desk& desk, const Message& request);

// Methods of data sources, ephemeral resources and functions.
Task<std::string> validate_data_source(Desk& desk, const Message& request);
Task<std::string> read_data_source(Desk& desk, const Message& request);
Task<std::string> validate_ephemeral(Desk& desk, const Message& request);
Task<std::string> open_ephemeral(Desk& desk, const Message& request);
Task<std::string> renew_ephemeral(Desk& desk, const Message& request);
Task<std::string> close_ephemeral(Desk& desk, const Message& request);
Task<std::string> call_function(Desk& desk, const Message& request);

}  // namespace fairlead::terraform
