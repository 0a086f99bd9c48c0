#include "sandbox/go_decode.h"

#include <fmt/format.h>

#include "admission/go_json.h"
#include "base/base64.h"

namespace fairlead::sandbox {
namespace {

using schema::kNoType;
using schema::ListKind;
using schema::MapKind;
using schema::Scalar;
using schema::Schema;
using schema::Special;
using schema::Type;
using schema::TypeId;

// "core.v1.ConfigMap" is a ConfigMap; in another type's words it is v1.ConfigMap.
std::string short_name(const Type& type) { return type.name.substr(type.name.rfind('.') + 1); }

std::string qualified_name(const Type& type) {
  size_t last = type.name.rfind('.');
  size_t before = last == std::string::npos ? last : type.name.rfind('.', last - 1);
  return before == std::string::npos ? type.name : type.name.substr(before + 1);
}

class Walker {
 public:
  explicit Walker(const Schema& schema) : schema_(schema) {}

  Decoding run(const Json& object) {
    value(schema_.root, object, {"", "", ""});
    return std::move(found_);
  }

 private:
  // Where a value is: the struct that its field belongs to, the fields that lead there, and the way as people read it.
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
      return "map[string]" + go_type(type.element);
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
    found_.error = fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                               admission::go_kind(value), where.owner, where.fields, go_type(id));
  }

  void value(TypeId id, const Json& json, const Where& where) {
    if (id == kNoType || json.is_null()) return;
    const Type& type = schema_[id];
    if (type.scalar == Scalar::any || type.deduced) return;
    if (type.special == Special::quantity || type.special == Special::int_or_string) {
      if (json.is_array() || json.is_object() || json.is_bool()) mismatch(id, json, where);
      return;
    }
    if (type.list != ListKind::none) {
      if (!json.is_array()) return mismatch(id, json, where);
      for (size_t i = 0; i < json.items().size(); ++i)
        value(type.item, json.items()[i], {where.owner, where.fields, fmt::format("{}[{}]", where.path, i)});
      return;
    }
    if (type.map != MapKind::none || !type.fields.empty()) {
      if (!json.is_object()) return mismatch(id, json, where);
      return members(type, json, where);
    }
    scalar(id, type, json, where);
  }

  void members(const Type& type, const Json& json, const Where& where) {
    for (const Json::Member& member : json.members()) {
      std::string path = where.path.empty() ? member.key : where.path + "." + member.key;
      TypeId below = type.member(member.key);
      if (below == kNoType) {
        found_.unknown.push_back(std::move(path));
        continue;
      }
      // The keys of a map are no fields.
      if (!type.field(member.key)) {
        value(below, member.value, {where.owner, where.fields, std::move(path)});
        continue;
      }
      std::string fields = where.fields.empty() ? member.key : where.fields + "." + member.key;
      value(below, member.value, {short_name(type), std::move(fields), std::move(path)});
    }
  }

  void scalar(TypeId id, const Type& type, const Json& json, const Where& where) {
    bool fits = true;
    switch (type.scalar) {
      case Scalar::string: fits = json.is_string(); break;
      case Scalar::bytes:
        fits = json.is_string();
        if (fits && !found_.error && !from_base64(json.string_or("")))
          found_.error = fmt::format("illegal base64 data at input byte {}", first_bad(json.string_or("")));
        break;
      case Scalar::int32:
      case Scalar::int64: fits = json.is_integer(); break;
      case Scalar::number: fits = json.is_number(); break;
      case Scalar::boolean: fits = json.is_bool(); break;
      default: break;
    }
    if (!fits) mismatch(id, json, where);
  }

  static size_t first_bad(std::string_view text) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < text.size(); ++i)
      if (kAlphabet.find(text[i]) == std::string_view::npos) return i;
    return text.size() / 4 * 4;
  }

  const Schema& schema_;
  Decoding found_;
};

}  // namespace

Decoding decode_as(const Schema& schema, const Json& object) { return Walker(schema).run(object); }

}  // namespace fairlead::sandbox
