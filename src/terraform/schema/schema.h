// What attributes a resource, a data source or the provider has: written as tables, told to Terraform, and checked.
//
//   const Schema kSchema = {
//       .version = 1,
//       .description = "One Kubernetes object.",
//       .attributes = {{.name = "yaml_body", .type = Type::string(), .required = true, .description = "…"},
//                      {.name = "cluster", .nesting = Nesting::single, .nested = {…}, .optional = true}}};
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "terraform/value/diagnostic.h"
#include "terraform/value/type.h"
#include "terraform/value/value.h"

namespace fairlead::terraform {

// How often the members of an attribute or block come.
enum class Nesting { none, single, list, set, map };

struct Attribute {
  std::string name;
  // Not for attributes with nested ones.
  Type type = Type::string();
  Nesting nesting = Nesting::none;
  std::vector<Attribute> nested;
  bool required = false;
  bool optional = false;
  bool computed = false;
  bool sensitive = false;
  // Never stored: null in every plan and state. Clients that do not know such attributes get an error when it is set.
  bool write_only = false;
  bool deprecated = false;
  // Markdown.
  std::string description;

  // With what is nested in it.
  Type whole_type() const;
};

// Written without an equals sign: `timeouts { create = "5m" }`. Prefer attributes with nested ones.
struct Block {
  std::string name;
  Nesting nesting = Nesting::single;
  std::vector<Attribute> attributes;
  std::vector<Block> blocks;
  int64_t min_items = 0;
  int64_t max_items = 0;
  bool deprecated = false;
  std::string description;

  Type whole_type() const;
};

struct Schema {
  // Terraform calls upgrade() for state of an older version.
  int64_t version = 0;
  std::string description;
  std::vector<Attribute> attributes;
  std::vector<Block> blocks;
  bool deprecated = false;

  Type type() const;
  // The attribute with that name at the top; null if there is none.
  const Attribute* find(std::string_view name) const;
  // An object in which everything is null (blocks that are lists or sets: empty).
  Value null_value() const;
};

// The same attributes for a resource's identity.
struct IdentityAttribute {
  std::string name;
  Type type = Type::string();
  bool required_for_import = false;
  bool optional_for_import = false;
  std::string description;
};

struct IdentitySchema {
  int64_t version = 0;
  std::vector<IdentityAttribute> attributes;

  Type type() const;
};

// The value with every attribute of the type: what is missing is null. Fails, with the path, for members that the type
// does not have and for values of the wrong kind. Null and unknown conform to every type.
Result<Value> conformed(Value value, const Type& type);

// What is wrong with a configuration: required attributes that are null, computed ones that are set, too few or too
// many blocks. The value conforms to the schema's type already.
Diagnostics check_config(const Value& config, const Schema& schema);

// Sets every write-only attribute to null, as plans and states must have them.
void clear_write_only(Value& value, const Schema& schema);
// The paths of write-only attributes that are set.
std::vector<Path> write_only_set(const Value& config, const Schema& schema);

}  // namespace fairlead::terraform
