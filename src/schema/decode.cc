#include "schema/decode.h"

#include <fmt/format.h>

#include <cmath>

#include "base/go_quoted.h"
#include "fields/path_element.h"
#include "schema/go_text.h"

namespace fairlead::schema {
namespace {

void collect_unknown(const Schema& schema, TypeId id, const Json& value, const std::string& path,
                     std::vector<std::string>& out) {
  const Type& type = schema[id];
  if (value.is_array() && type.item != kNoType)
    for (size_t i = 0; i < value.items().size(); ++i)
      collect_unknown(schema, type.item, value.items()[i], fmt::format("{}[{}]", path, i), out);
  if (!value.is_object() || type.map == MapKind::none) return;
  for (const Json::Member& member : value.members()) {
    std::string below = path.empty() ? member.key : path + "." + member.key;
    TypeId inside = type.member(member.key);
    if (inside == kNoType) out.push_back(std::move(below));
    else collect_unknown(schema, inside, member.value, below, out);
  }
}

class Reader {
 public:
  explicit Reader(const Schema& schema) : schema_(schema) {}

  std::optional<std::string> problem;

  // `structure` is the innermost structure on the way, which the server names.
  void visit(TypeId id, const Json& value, const std::string& structure, const std::string& path) {
    const Type& type = schema_[id];
    // These read themselves, and say other things.
    if (problem || value.is_null() || type.special != Special::none) return;
    bool several = (type.map != MapKind::none) + (type.list != ListKind::none) + (type.scalar != Scalar::none) > 1;
    if (several) return;
    if (type.map != MapKind::none) {
      if (!value.is_object()) return report(value, structure, path, id);
      std::string name = type.fields.empty() ? structure : type.name.substr(type.name.rfind('.') + 1);
      for (const Json::Member& member : value.members()) {
        TypeId inside = type.member(member.key);
        // What is in a map is named by the map.
        std::string below = !type.field(member.key) ? path : path.empty() ? member.key : path + "." + member.key;
        if (inside != kNoType) visit(inside, member.value, name, below);
      }
    } else if (type.list != ListKind::none) {
      if (!value.is_array()) return report(value, structure, path, id);
      for (const Json& item : value.items()) visit(type.item, item, structure, path);
    } else if (!reads(type.scalar, value)) {
      report(value, structure, path, id);
    }
  }

 private:
  static bool reads(Scalar scalar, const Json& value) {
    switch (scalar) {
      case Scalar::string:
      case Scalar::bytes: return value.is_string();
      case Scalar::boolean: return value.is_bool();
      case Scalar::number: return value.is_number();
      case Scalar::int64: return value.is_int64();
      case Scalar::int32: return value.is_int64() && std::abs(double(*value.if_int64())) <= 2147483647;
      default: return true;
    }
  }

  std::string go_name(TypeId id) const {
    const Type& type = schema_[id];
    if (type.list != ListKind::none) return "[]" + go_name(type.item);
    if (type.map != MapKind::none && type.fields.empty() && type.element != kNoType)
      return schema_[type.element].special == Special::quantity ? "v1.ResourceList"
                                                                : "map[string]" + go_name(type.element);
    if (type.map != MapKind::none) return type.name.substr(type.name.find('.') + 1);
    switch (type.scalar) {
      case Scalar::string: return "string";
      case Scalar::bytes: return "[]uint8";
      case Scalar::boolean: return "bool";
      case Scalar::number: return "float64";
      case Scalar::int64: return "int64";
      default: return "int32";
    }
  }

  void report(const Json& value, const std::string& structure, const std::string& path, TypeId id) {
    Scalar scalar = schema_[id].scalar;
    bool into_integer = scalar == Scalar::int32 || scalar == Scalar::int64;
    std::string what = value.is_number() ? (into_integer ? "number " + go_text(value) : "number")
                       : value.is_bool() ? "bool"
                                         : std::string(value.type_name());
    problem = fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", what, structure, path,
                          go_name(id));
  }

  const Schema& schema_;
};

}  // namespace

std::vector<std::string> unknown_fields(const Schema& schema, const Json& object) {
  std::vector<std::string> out;
  collect_unknown(schema, schema.root, object, "", out);
  return out;
}

std::optional<std::string> unreadable(const Schema& schema, const Json& object) {
  Reader reader(schema);
  reader.visit(schema.root, object, "", "");
  return std::move(reader.problem);
}

Refusal cannot_be_handled(std::string_view kind, std::string_view version, std::string_view why) {
  return bad_request(
      fmt::format("{} in version {} cannot be handled as a {}: {}", kind, go_quoted(version), kind, why));
}

std::string strict_error(const std::vector<std::string>& unknown) {
  std::string list;
  for (const std::string& path : unknown)
    list += (list.empty() ? "" : ", ") + fmt::format("unknown field {}", go_quoted(path));
  return "strict decoding error: " + list;
}

}  // namespace fairlead::schema
