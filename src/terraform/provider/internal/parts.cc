#include "terraform/provider/internal/parts.h"

#include "protobuf/message.h"
#include "terraform/value/msgpack.h"
#include "terraform/value/state_json.h"

namespace fairlead::terraform {
namespace {

using protobuf::Message;
using protobuf::WireWriter;

constexpr uint64_t kMarkdown = 1;

uint64_t number_of(Nesting nesting) {
  switch (nesting) {
    case Nesting::single: return 1;
    case Nesting::list: return 2;
    case Nesting::set: return 3;
    case Nesting::map: return 4;
    case Nesting::none: break;
  }
  return 0;
}

WireWriter message_of(const Attribute& attribute) {
  WireWriter out;
  out.text(1, attribute.name);
  if (attribute.nesting == Nesting::none) out.bytes(2, attribute.type.to_json().dump());
  out.text(3, attribute.description);
  out.flag(4, attribute.required);
  out.flag(5, attribute.optional);
  out.flag(6, attribute.computed);
  out.flag(7, attribute.sensitive);
  out.number(8, kMarkdown);
  out.flag(9, attribute.deprecated);
  if (attribute.nesting != Nesting::none) {
    WireWriter object;
    for (const Attribute& nested : attribute.nested) object.message(1, message_of(nested));
    object.number(3, number_of(attribute.nesting));
    out.message(10, object);
  }
  out.flag(11, attribute.write_only);
  return out;
}

WireWriter message_of(const Block& block);

WireWriter block_of(int64_t version, const std::vector<Attribute>& attributes, const std::vector<Block>& blocks,
                    const std::string& description, bool deprecated) {
  WireWriter out;
  out.number(1, static_cast<uint64_t>(version));
  for (const Attribute& attribute : attributes) out.message(2, message_of(attribute));
  for (const Block& block : blocks) out.message(3, message_of(block));
  out.text(4, description);
  out.number(5, kMarkdown);
  out.flag(6, deprecated);
  return out;
}

WireWriter message_of(const Block& block) {
  WireWriter out;
  out.text(1, block.name);
  out.message(2, block_of(0, block.attributes, block.blocks, block.description, block.deprecated));
  out.number(3, number_of(block.nesting));
  out.number(4, static_cast<uint64_t>(block.min_items));
  out.number(5, static_cast<uint64_t>(block.max_items));
  return out;
}

WireWriter message_of(const Parameter& parameter) {
  WireWriter out;
  out.text(1, parameter.name);
  out.bytes(2, parameter.type.to_json().dump());
  out.flag(3, parameter.allow_null);
  out.flag(4, parameter.allow_unknown);
  out.text(5, parameter.description);
  out.number(6, kMarkdown);
  return out;
}

}  // namespace

Result<Value> read_dynamic_value(std::string_view message, const Type& type) {
  TRY_ASSIGN(Message fields, Message::read(message));
  if (!fields.bytes(1).empty()) return decode_msgpack(fields.bytes(1), type);
  if (fields.bytes(2).empty()) return Value();
  TRY_ASSIGN(Json json, parse_state_json(fields.bytes(2)));
  return Value::from_state_json(json, type);
}

Result<WireWriter> dynamic_value(const Value& value, const Type& type) {
  TRY_ASSIGN(std::string bytes, encode_msgpack(value, type));
  WireWriter out;
  out.bytes(1, bytes);
  return out;
}

Result<Json> read_raw_state(std::string_view message) {
  TRY_ASSIGN(Message fields, Message::read(message));
  if (!fields.bytes(1).empty()) return parse_state_json(fields.bytes(1));
  if (fields.has(2)) return fail(ErrorKind::invalid, "the state was written by terraform before 0.12");
  return Json();
}

ClientCapabilities read_capabilities(std::string_view message) {
  Result<Message> fields = Message::read(message);
  if (!fields) return {};
  return {.deferral_allowed = fields->flag(1), .write_only_attributes_allowed = fields->flag(2)};
}

Json read_private(std::string_view bytes) {
  if (bytes.empty()) return {};
  return Json::parse(bytes).value_or(Json());
}

std::string private_bytes(const Json& json) { return json.is_null() ? std::string() : json.dump(); }

WireWriter message_of(const Diagnostic& diagnostic, const Secrets& secrets) {
  WireWriter out;
  out.number(1, diagnostic.severity == Diagnostic::Severity::error ? 1 : 2);
  out.text(2, secrets.without(diagnostic.summary));
  out.text(3, secrets.without(diagnostic.detail));
  if (!diagnostic.path.empty()) out.message(4, message_of(diagnostic.path));
  return out;
}

WireWriter message_of(const Path& path) {
  WireWriter out;
  for (const Path::Step& step : path.steps()) {
    WireWriter selector;
    if (const auto* attribute = std::get_if<Path::Attribute>(&step)) selector.set_bytes(1, attribute->name);
    if (const auto* key = std::get_if<Path::Key>(&step)) selector.set_bytes(2, key->key);
    if (const auto* index = std::get_if<Path::Index>(&step))
      selector.set_number(3, static_cast<uint64_t>(index->index));
    out.message(1, selector);
  }
  return out;
}

WireWriter message_of(const Schema& schema) {
  WireWriter out;
  out.number(1, static_cast<uint64_t>(schema.version));
  out.message(2, block_of(schema.version, schema.attributes, schema.blocks, schema.description, schema.deprecated));
  return out;
}

WireWriter message_of(const IdentitySchema& schema) {
  WireWriter out;
  out.number(1, static_cast<uint64_t>(schema.version));
  for (const IdentityAttribute& attribute : schema.attributes) {
    WireWriter one;
    one.text(1, attribute.name);
    one.bytes(2, attribute.type.to_json().dump());
    one.flag(3, attribute.required_for_import);
    one.flag(4, attribute.optional_for_import);
    one.text(5, attribute.description);
    out.message(2, one);
  }
  return out;
}

WireWriter message_of(const Signature& signature) {
  WireWriter out;
  for (const Parameter& parameter : signature.parameters) out.message(1, message_of(parameter));
  if (signature.variadic) out.message(2, message_of(*signature.variadic));
  WireWriter result;
  result.bytes(1, signature.result.to_json().dump());
  out.message(3, result);
  out.text(4, signature.summary);
  out.text(5, signature.description);
  out.number(6, kMarkdown);
  return out;
}

WireWriter message_of(Deferred reason) {
  WireWriter out;
  out.number(1, reason == Deferred::resource_config_unknown ? 1 : reason == Deferred::provider_config_unknown ? 2 : 3);
  return out;
}

WireWriter message_of(WallTime time) {
  auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  WireWriter out;
  out.number(1, static_cast<uint64_t>(seconds.time_since_epoch().count()));
  out.number(2, static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time - seconds).count()));
  return out;
}

WireWriter map_entry(std::string_view key, const WireWriter& value) {
  WireWriter out;
  out.text(1, key);
  out.message(2, value);
  return out;
}

}  // namespace fairlead::terraform
