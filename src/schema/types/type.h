// What the parts of an object are made of, as far as merging and ownership go. The header to read first in this room.
//
// The room says what a kind looks like and does with objects what an API server does: merge applied configurations,
// track who owns what, fill in defaults, refuse what does not fit. Pure functions over Json: no I/O, no time, no state.
//
// A Schema is a graph of types (a type may lead back to itself), held in one vector and named by position. It comes
// from the table of built-in kinds (builtin.h) or from a CustomResourceDefinition (custom.h), and is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::schema {

using TypeId = uint32_t;
constexpr TypeId kNoType = UINT32_MAX;

enum class Scalar : uint8_t { none, string, bytes, number, int32, int64, boolean, any };

// How a member is written when nothing has been set: the habits of the types that the real server is made of.
enum class Presence : uint8_t {
  kept,           // as it came
  left_if_empty,  // left out when it is zero or empty
  always,         // written even so: "", 0, {}
  null_if_unset,  // written as null
};

struct Field {
  std::string name;
  TypeId type = kNoType;
  Presence presence = Presence::kept;
  bool required = false;
  std::optional<Json> fallback;  // the default
  bool retains_keys = false;     // in strategic merge patches
};

enum class ListKind : uint8_t { none, atomic, set, map };
enum class MapKind : uint8_t { none, granular, atomic };
// Values that are rewritten when they are stored.
enum class Special : uint8_t { none, quantity, int_or_string, time };

// Can be several at once (a field of no type): then the value decides.
struct Type {
  std::string name;  // "core.v1.Container" for the server's own types; empty for those of custom resources
  Scalar scalar = Scalar::none;
  Special special = Special::none;
  ListKind list = ListKind::none;
  MapKind map = MapKind::none;
  TypeId item = kNoType;          // of a list
  TypeId element = kNoType;       // of the members that are not among the fields; none: there may be no such member
  std::vector<Field> fields;      // sorted by name
  std::vector<std::string> keys;  // of a list of kind map
  // In strategic merge patches: a list that is merged, by that member or, if it is empty, by value; none: it is
  // replaced.
  std::optional<std::string> merge_key;
  std::vector<std::string> values;  // the strings that it can be; empty: any
  // Members of any name and any type: there is nothing to reconcile with.
  bool deduced = false;

  const Field* field(std::string_view field_name) const;
  // The type of the member of that name; kNoType if there may be none.
  TypeId member(std::string_view member_name) const;
  bool associative() const { return list == ListKind::set || list == ListKind::map; }
};

struct Schema {
  std::vector<Type> types;
  TypeId root = kNoType;

  const Type& operator[](TypeId id) const { return types[id]; }
};

using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace fairlead::schema
