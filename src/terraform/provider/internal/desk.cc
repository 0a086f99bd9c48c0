#include "terraform/provider/internal/desk.h"

#include <fmt/format.h>

namespace fairlead::terraform {
namespace {

// The first unknown value inside.
std::optional<Path> find_unknown(const Value& value, const Path& here) {
  if (value.is_unknown()) return here;
  int64_t index = 0;
  for (const Value& item : value.items())
    if (auto found = find_unknown(item, here.at(index++))) return found;
  for (const auto& [name, member] : value.members())
    if (auto found = find_unknown(member, here[name])) return found;
  return std::nullopt;
}

void forget_unknown(Value& value) {
  if (value.is_unknown()) value = Value();
  if (Value::Items* items = value.if_items())
    for (Value& item : *items) forget_unknown(item);
  if (Value::Members* members = value.if_members())
    for (auto& [name, member] : *members) forget_unknown(member);
}

}  // namespace

const Type& Desk::type_of(const Schema& schema) {
  auto found = types.find(&schema);
  if (found == types.end()) found = types.emplace(&schema, schema.type()).first;
  return found->second;
}

Context Desk::context(const Message& request, uint64_t capabilities_field) {
  ClientCapabilities client;
  if (capabilities_field != 0) client = read_capabilities(request.bytes(capabilities_field));
  return Context(loop, clusters, log, client);
}

std::optional<Value> Answering::value(uint64_t field, const Type& type) {
  Result<Value> value = read_dynamic_value(request_.bytes(field), type);
  if (value) return *std::move(value);
  diagnostics_.error(std::move(value).error().in("The provider cannot read a value that Terraform sent"));
  return std::nullopt;
}

std::optional<Value> Answering::identity(uint64_t field, const IdentitySchema* schema) {
  if (!schema || !request_.has(field)) return Value();
  Result<Message> data = Message::read(request_.bytes(field));
  Result<Value> value = data ? read_dynamic_value(data->bytes(1), schema->type()) : fail(std::move(data).error());
  if (value) return *std::move(value);
  diagnostics_.error(std::move(value).error().in("The provider cannot read an identity that Terraform sent"));
  return std::nullopt;
}

std::optional<Json> Answering::raw_state(uint64_t field) {
  Result<Json> json = read_raw_state(request_.bytes(field));
  if (json) return *std::move(json);
  diagnostics_.error(std::move(json).error().in("The provider cannot read a state that Terraform stored"));
  return std::nullopt;
}

void Answering::broken_rule(const Error& error) {
  diagnostics_.error(
      Error(error).in("The provider has an answer that Terraform would not accept; this is an error in the "
                      "provider"));
}

void Answering::put(uint64_t field, Value value, const Type& type, Known known) {
  if (known == Known::all) {
    if (auto unknown = find_unknown(value, {})) {
      // An error that was reported already explains why something is not known.
      if (!diagnostics_.has_errors())
        broken_rule(Error(ErrorKind::internal, fmt::format("{} is unknown after it was applied or read",
                                                           unknown->empty() ? "the value" : unknown->text())));
      forget_unknown(value);
    }
  }
  Result<Value> whole = conformed(std::move(value), type);
  if (!whole) return broken_rule(whole.error());
  Result<protobuf::WireWriter> message = dynamic_value(*whole, type);
  if (!message) return broken_rule(message.error());
  out_.message(field, *message);
}

void Answering::put(uint64_t field, Value value, const Schema& schema, Known known) {
  clear_write_only(value, schema);
  // Blocks that are not there are empty lists or sets, never null.
  if (value.is_object())
    for (const Block& block : schema.blocks)
      if (value[block.name].is_null()) value.make(block.name) = schema.null_value()[block.name];
  put(field, std::move(value), desk_.type_of(schema), known);
}

void Answering::put_identity(uint64_t field, Value value, const IdentitySchema* schema) {
  if (!schema || value.is_null()) return;
  Type type = schema->type();
  Result<Value> whole = conformed(std::move(value), type);
  Result<protobuf::WireWriter> message = whole ? dynamic_value(*whole, type) : fail(whole.error());
  if (!message) return broken_rule(message.error());
  protobuf::WireWriter data;
  data.message(1, *message);
  out_.message(field, data);
}

void Answering::put_deferred(uint64_t field, const std::optional<Deferred>& deferred,
                             const ClientCapabilities& client) {
  if (!deferred) return;
  if (!client.deferral_allowed)
    return broken_rule(Error(ErrorKind::internal, "the change is deferred, which this client does not allow"));
  out_.message(field, message_of(*deferred));
}

std::string Answering::finish(uint64_t diagnostics_field) {
  for (const Diagnostic& diagnostic : diagnostics_.all())
    out_.message(diagnostics_field, message_of(diagnostic, desk_.secrets));
  return out_.take();
}

}  // namespace fairlead::terraform
