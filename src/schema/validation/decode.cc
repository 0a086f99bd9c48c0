#include "schema/validation/decode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/base64.h"
#include "base/go_quoted.h"
#include "schema/types/go_text.h"

namespace fairlead::schema {
namespace {

// "core.v1.ConfigMap" is a ConfigMap; other types call it v1.ConfigMap.
std::string short_name(const Type& type) { return type.name.substr(type.name.rfind('.') + 1); }

std::string qualified_name(const Type& type) {
  size_t last = type.name.rfind('.');
  size_t before = last == std::string::npos ? last : type.name.rfind('.', last - 1);
  return before == std::string::npos ? type.name : type.name.substr(before + 1);
}

bool is_integer(Scalar scalar) { return scalar == Scalar::int32 || scalar == Scalar::int64; }

bool fits(Scalar scalar, const Json& value) {
  switch (scalar) {
    case Scalar::string:
    case Scalar::bytes: return value.is_string();
    case Scalar::boolean: return value.is_bool();
    case Scalar::number: return value.is_number();
    case Scalar::int64: return value.is_int64();
    case Scalar::int32: return value.is_int64() && std::in_range<int32_t>(*value.if_int64());
    default: return true;
  }
}

// The place of the first byte that Go's decoder of base64 cannot take.
size_t first_bad_byte(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t found = text.find_first_not_of(kAlphabet);
  return found == std::string_view::npos ? text.size() / 4 * 4 : found;
}

class Decoder {
 public:
  explicit Decoder(const Schema& schema) : schema_(schema) {}

  Decoding run(const Json& object) {
    visit(schema_.root, object, {"", "", ""});
    return std::move(found_);
  }

 private:
  // Where a value is: the structure that its field belongs to, the fields that lead there, and the path with indices.
  struct Where {
    std::string owner;
    std::string fields;
    std::string path;
  };

  std::string go_type(TypeId id) const {
    if (id == kNoType) return "interface {}";
    const Type& type = schema_[id];
    if (type.special == Special::quantity) return "resource.Quantity";
    if (type.special == Special::int_or_string) return "intstr.IntOrString";
    if (type.special == Special::time) return "v1.Time";
    if (type.list != ListKind::none) return "[]" + go_type(type.item);
    if (type.map != MapKind::none && type.fields.empty() && type.element != kNoType)
      return schema_[type.element].special == Special::quantity ? "v1.ResourceList"
                                                                : "map[string]" + go_type(type.element);
    switch (type.scalar) {
      case Scalar::string: return "string";
      case Scalar::bytes: return "[]uint8";
      case Scalar::int32: return "int32";
      case Scalar::int64: return "int64";
      case Scalar::number: return "float64";
      case Scalar::boolean: return "bool";
      default: return qualified_name(type);
    }
  }

  void mismatch(TypeId id, const Json& value, const Where& where) {
    if (found_.error) return;
    std::string what = value.is_number() ? (is_integer(schema_[id].scalar) ? "number " + go_text(value) : "number")
                       : value.is_bool() ? "bool"
                                         : std::string(value.type_name());
    found_.error = fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", what, where.owner,
                               where.fields, go_type(id));
  }

  void visit(TypeId id, const Json& value, const Where& where) {
    if (id == kNoType || value.is_null()) return;
    const Type& type = schema_[id];
    if (type.scalar == Scalar::any || type.deduced) return;
    if (type.special == Special::quantity || type.special == Special::int_or_string) {
      if (value.is_array() || value.is_object() || value.is_bool()) mismatch(id, value, where);
    } else if (type.list != ListKind::none) {
      if (!value.is_array()) return mismatch(id, value, where);
      for (size_t i = 0; i < value.items().size(); ++i)
        visit(type.item, value.items()[i], {where.owner, where.fields, fmt::format("{}[{}]", where.path, i)});
    } else if (type.map != MapKind::none || !type.fields.empty()) {
      if (!value.is_object()) return mismatch(id, value, where);
      visit_members(type, value, where);
    } else if (!fits(type.scalar, value)) {
      mismatch(id, value, where);
    } else if (type.scalar == Scalar::bytes && !found_.error && !from_base64(value.string_or(""))) {
      found_.error = fmt::format("illegal base64 data at input byte {}", first_bad_byte(value.string_or("")));
    }
  }

  void visit_members(const Type& type, const Json& value, const Where& where) {
    for (const Json::Member& member : value.members()) {
      std::string path = where.path.empty() ? member.key : where.path + "." + member.key;
      TypeId below = type.member(member.key);
      if (below == kNoType) {
        found_.unknown.push_back(std::move(path));
      } else if (!type.field(member.key)) {
        // The keys of a map are not fields: the server names the map.
        visit(below, member.value, {where.owner, where.fields, std::move(path)});
      } else {
        std::string fields = where.fields.empty() ? member.key : where.fields + "." + member.key;
        visit(below, member.value, {short_name(type), std::move(fields), std::move(path)});
      }
    }
  }

  const Schema& schema_;
  Decoding found_;
};

}  // namespace

Decoding decode(const Schema& schema, const Json& object) { return Decoder(schema).run(object); }

std::string unknown_field(std::string_view path) { return fmt::format("unknown field {}", go_quoted(path)); }

std::string strict_error(const std::vector<std::string>& problems) {
  return fmt::format("strict decoding error: {}", fmt::join(problems, ", "));
}

Refusal cannot_be_handled(std::string_view kind, std::string_view version, std::string_view why) {
  return bad_request(
      fmt::format("{} in version {} cannot be handled as a {}: {}", kind, go_quoted(version), kind, why));
}

}  // namespace fairlead::schema
