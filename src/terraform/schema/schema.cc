#include "terraform/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::terraform {
namespace {

Type nested_in(Nesting nesting, Type::Fields fields) {
  Type object = Type::object(std::move(fields));
  switch (nesting) {
    case Nesting::list: return Type::list(std::move(object));
    case Nesting::set: return Type::set(std::move(object));
    case Nesting::map: return Type::map(std::move(object));
    default: return object;
  }
}

Type::Fields fields_of(const std::vector<Attribute>& attributes) {
  Type::Fields fields;
  for (const Attribute& attribute : attributes) fields.emplace(attribute.name, attribute.whole_type());
  return fields;
}

Type::Fields fields_of(const std::vector<Attribute>& attributes, const std::vector<Block>& blocks) {
  Type::Fields fields = fields_of(attributes);
  for (const Block& block : blocks) fields.emplace(block.name, block.whole_type());
  return fields;
}

// Blocks that come as lists or sets are empty where there are none, never null.
bool is_sequence(Nesting nesting) { return nesting == Nesting::list || nesting == Nesting::set; }

Value empty_value(Nesting nesting) {
  if (nesting == Nesting::list) return Value::list({});
  if (nesting == Nesting::set) return Value::set({});
  return nesting == Nesting::map ? Value::object({}) : Value();
}

std::unexpected<Error> must_be(const Type& type) { return fail(ErrorKind::invalid, "it must be a {}", type.text()); }

std::unexpected<Error> wrong_at(Error error, std::string_view where) {
  return fail(std::move(error).in(fmt::format("{} is wrong", where)));
}

Result<Value> conformed_items(Value value, const Type& type) {
  Value::Items* items = value.if_items();
  if (!items) return must_be(type);
  bool is_tuple = type.is(Type::Kind::tuple);
  if (is_tuple && items->size() != type.elements().size()) return must_be(type);
  for (size_t i = 0; i < items->size(); ++i) {
    Result<Value> item = conformed(std::move((*items)[i]), is_tuple ? type.elements()[i] : type.element());
    if (!item) return wrong_at(std::move(item).error(), fmt::format("[{}]", i));
    (*items)[i] = *std::move(item);
  }
  return type.is(Type::Kind::set) ? Value::set(std::move(*items)) : Value::list(std::move(*items));
}

Result<Value> conformed_members(Value value, const Type& type) {
  Value::Members* members = value.if_members();
  if (!members) return must_be(type);
  bool is_map = type.is(Type::Kind::map);
  for (auto& [name, member] : *members) {
    auto field = type.fields().find(name);
    if (!is_map && field == type.fields().end()) return fail(ErrorKind::invalid, "there is no attribute \"{}\"", name);
    Result<Value> done = conformed(std::move(member), is_map ? type.element() : field->second);
    if (!done) return wrong_at(std::move(done).error(), name);
    member = *std::move(done);
  }
  for (const auto& [name, unused] : type.fields()) members->try_emplace(name);
  return value;
}

// Calls `visit` with each nested object of an attribute or block, and its path.
template <class V, class Visit>
void for_each_nested(V& value, Nesting nesting, const Path& path, Visit visit) {
  if (!value.is_known()) return;
  if (nesting == Nesting::single) return visit(value, path);
  if constexpr (std::is_const_v<V>) {
    int64_t index = 0;
    for (const Value& item : value.items()) visit(item, path.at(index++));
    for (const auto& [key, member] : value.members()) visit(member, path.key(key));
  } else {
    int64_t index = 0;
    if (Value::Items* items = value.if_items())
      for (Value& item : *items) visit(item, path.at(index++));
    if (Value::Members* members = value.if_members())
      for (auto& [key, member] : *members) visit(member, path.key(key));
  }
}

void check(const Value& value, const std::vector<Attribute>& attributes, const Path& path, Diagnostics& found) {
  if (!value.is_known()) return;
  for (const Attribute& attribute : attributes) {
    const Value& here = value[attribute.name];
    Path at = path[attribute.name];
    if (attribute.required && here.is_null())
      found.error("Missing required argument", fmt::format("The argument \"{}\" is required.", at.text()), at);
    if (!attribute.required && !attribute.optional && !here.is_null())
      found.error("Value for a computed attribute",
                  fmt::format("The provider computes \"{}\"; it cannot be set.", at.text()), at);
    if (attribute.nesting == Nesting::none) continue;
    for_each_nested(here, attribute.nesting, at,
                    [&](const Value& nested, const Path& where) { check(nested, attribute.nested, where, found); });
  }
}

void check(const Value& value, const std::vector<Block>& blocks, const Path& path, Diagnostics& found) {
  for (const Block& block : blocks) {
    const Value& here = value[block.name];
    Path at = path[block.name];
    auto count = int64_t(here.items().size());
    bool too_few = here.is_known() && is_sequence(block.nesting) && count < block.min_items;
    bool too_many = block.max_items > 0 && count > block.max_items;
    if (too_few)
      found.error("Too few blocks", fmt::format("At least {} \"{}\" must be there.", block.min_items, block.name), at);
    if (too_many)
      found.error("Too many blocks", fmt::format("No more than {} \"{}\" can be there.", block.max_items, block.name),
                  at);
    for_each_nested(here, block.nesting, at, [&](const Value& nested, const Path& where) {
      check(nested, block.attributes, where, found);
      check(nested, block.blocks, where, found);
    });
  }
}

// Calls `visit` with every write-only attribute in the value.
template <class V, class Visit>
void for_each_write_only(V& value, const std::vector<Attribute>& attributes, const Path& path, Visit& visit) {
  if (!value.is_object()) return;
  for (const Attribute& attribute : attributes) {
    if (!value.contains(attribute.name)) continue;
    auto& here = [&]() -> V& {
      if constexpr (std::is_const_v<V>) return value[attribute.name];
      else return value.make(attribute.name);
    }();
    Path at = path[attribute.name];
    if (attribute.write_only) visit(here, at);
    if (attribute.nesting == Nesting::none) continue;
    for_each_nested(here, attribute.nesting, at,
                    [&](V& nested, const Path& where) { for_each_write_only(nested, attribute.nested, where, visit); });
  }
}

template <class V, class Visit>
void for_each_write_only(V& value, const std::vector<Block>& blocks, const Path& path, Visit& visit) {
  if (!value.is_object()) return;
  for (const Block& block : blocks) {
    if (!value.contains(block.name)) continue;
    auto& here = [&]() -> V& {
      if constexpr (std::is_const_v<V>) return value[block.name];
      else return value.make(block.name);
    }();
    for_each_nested(here, block.nesting, path[block.name], [&](V& nested, const Path& where) {
      for_each_write_only(nested, block.attributes, where, visit);
      for_each_write_only(nested, block.blocks, where, visit);
    });
  }
}

}  // namespace

Type Attribute::whole_type() const { return nesting == Nesting::none ? type : nested_in(nesting, fields_of(nested)); }

Type Block::whole_type() const { return nested_in(nesting, fields_of(attributes, blocks)); }

Type Schema::type() const { return Type::object(fields_of(attributes, blocks)); }

const Attribute* Schema::find(std::string_view name) const {
  auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

Value Schema::null_value() const {
  Value::Members members;
  for (const Attribute& attribute : attributes) members.emplace(attribute.name, Value());
  for (const Block& block : blocks) members.emplace(block.name, empty_value(block.nesting));
  return Value::object(std::move(members));
}

Type IdentitySchema::type() const {
  Type::Fields fields;
  for (const IdentityAttribute& attribute : attributes) fields.emplace(attribute.name, attribute.type);
  return Type::object(std::move(fields));
}

Result<Value> conformed(Value value, const Type& type) {
  if (!value.is_known()) return value;
  switch (type.kind()) {
    case Type::Kind::dynamic: {
      if (value.dynamic_type()) return value;
      Type own = value.natural_type();
      return std::move(value).with_type(std::move(own));
    }
    case Type::Kind::boolean: return value.if_bool() ? Result<Value>(std::move(value)) : must_be(type);
    case Type::Kind::number: return value.if_number() ? Result<Value>(std::move(value)) : must_be(type);
    case Type::Kind::string: return value.if_string() ? Result<Value>(std::move(value)) : must_be(type);
    case Type::Kind::list:
    case Type::Kind::set:
    case Type::Kind::tuple: return conformed_items(std::move(value), type);
    case Type::Kind::map:
    case Type::Kind::object: return conformed_members(std::move(value), type);
  }
  return must_be(type);
}

Diagnostics check_config(const Value& config, const Schema& schema) {
  Diagnostics found;
  check(config, schema.attributes, {}, found);
  check(config, schema.blocks, {}, found);
  return found;
}

void clear_write_only(Value& value, const Schema& schema) {
  auto clear = [](Value& here, const Path&) { here = Value(); };
  for_each_write_only(value, schema.attributes, {}, clear);
  for_each_write_only(value, schema.blocks, {}, clear);
}

std::vector<Path> write_only_set(const Value& config, const Schema& schema) {
  std::vector<Path> paths;
  auto note = [&](const Value& here, const Path& at) {
    if (!here.is_null()) paths.push_back(at);
  };
  for_each_write_only(config, schema.attributes, {}, note);
  for_each_write_only(config, schema.blocks, {}, note);
  return paths;
}

}  // namespace fairlead::terraform
