#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "base/go_quoted.h"
#include "fields/member_index.h"
#include "fields/path_element.h"
#include "schema/types/go_text.h"
#include "schema/types/list_item.h"
#include "schema/validation/internal/string_format.h"
#include "schema/validation/structural.h"

namespace fairlead::schema {
namespace {

using fields::equal_values;

// What one look at a value finds, and how many checks it passed: of several schemas that all fail, the server shows
// what is wrong with the one that came closest.
struct Findings {
  std::vector<Cause> causes;
  int passed = 0;

  bool fine() const { return causes.empty(); }
  void add(Cause cause) {
    for (const Cause& known : causes)
      if (known.message == cause.message && known.field == cause.field) return;
    causes.push_back(std::move(cause));
  }
  void merge(Findings other) {
    for (Cause& cause : other.causes) add(std::move(cause));
    passed += other.passed;
  }
};

std::string value_text(const Json& value) {
  if (const std::string* string = value.if_string()) return go_quoted(*string);
  if (value.is_number() || value.is_bool()) return go_text(value);
  return value.dump();
}

std::string field_of(const std::string& path) { return path.starts_with('.') ? path.substr(1) : path; }

Cause wrong(std::string_view reason, const std::string& path, const Json& value, const std::string& detail) {
  return {std::string(reason), field_of(path), fmt::format("Invalid value: {}: {}", value_text(value), detail)};
}
Cause wrong_value(const std::string& path, const Json& value, const std::string& what) {
  return wrong("FieldValueInvalid", path, value, fmt::format("{} in body {}", path, what));
}
Cause wrong_type(const std::string& path, std::string_view wanted, const std::string& found) {
  return wrong("FieldValueTypeInvalid", path, found,
               fmt::format("{} in body must be of type {}: {}", path, wanted, go_quoted(found)));
}
// An error about several schemas at once has no field of its own.
Cause wrong_choice(const std::string& path, std::string_view what) {
  return {"FieldValueInvalid", "<nil>", fmt::format("Invalid value: \"\": {} {}", go_quoted(path), what)};
}

// Larger ones than a double can count to are not taken for whole.
bool is_whole(const Json& number) {
  constexpr double kMost = 9007199254740991;
  const double* value = number.if_double();
  return !value || (std::trunc(*value) == *value && std::abs(*value) <= kMost);
}

double number_of(const Json& value) {
  if (const int64_t* integer = value.if_int64()) return double(*integer);
  if (const uint64_t* integer = value.if_uint64()) return double(*integer);
  const double* number = value.if_double();
  return number ? *number : 0;
}

std::string_view json_type(const Json& value) {
  if (value.is_double()) return "number";
  return value.type_name();
}

int64_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

struct Order {
  bool operator()(const Json& a, const Json& b) const { return fields::compare_values(a, b) < 0; }
};

class Validator {
 public:
  // `old` is what was there before, if that can be told.
  Findings visit(const Json& schema, const std::string& path, const Json& value, const Json* old) const {
    if (old && equal_values(*old, value)) return {};
    Findings out;
    if (value.is_null()) {
      out.merge(check_type(schema, path, value));
      check_enum(schema, path, value, out);
      return out;
    }
    bool typed =
        !schema["type"].string_or("").empty() || flag(schema, "x-kubernetes-int-or-string") || format_of(schema);
    if (typed) step(out, check_type(schema, path, value));
    step(out, check_choices(schema, path, value));
    if (value.is_string()) step(out, check_string(schema, path, *value.if_string()));
    if (value.is_string() && format_of(schema)) step(out, check_format(schema, path, *value.if_string()));
    if (value.is_number()) step(out, check_number(schema, path, value));
    if (value.is_array()) step(out, check_list(schema, path, value, old));
    Findings choice;
    check_enum(schema, path, value, choice);
    step(out, std::move(choice));
    if (value.is_object()) step(out, check_object(schema, path, value, old));
    ++out.passed;
    return out;
  }

 private:
  static bool flag(const Json& schema, std::string_view name) { return schema[name].bool_or(false); }

  // Formats that nobody knows are not there.
  static std::optional<std::string_view> format_of(const Json& schema) {
    std::string_view type = schema["type"].string_or(""), format = schema["format"].string_or("");
    bool known = type == "integer"                  ? format == "int32" || format == "int64"
                 : type == "number"                 ? format == "float" || format == "double"
                 : type == "string" || type.empty() ? !format.empty() && has_format(format, "")
                                                    : false;
    return known ? std::optional(format) : std::nullopt;
  }

  static void step(Findings& out, Findings found) {
    out.merge(std::move(found));
    ++out.passed;
  }

  static Findings check_type(const Json& schema, const std::string& path, const Json& value) {
    Findings out;
    bool int_or_string = flag(schema, "x-kubernetes-int-or-string");
    std::string wanted = int_or_string ? "integer,string" : std::string(schema["type"].string_or(""));
    auto allows = [&](std::string_view type) {
      return int_or_string ? type == "integer" || type == "string" : wanted == type;
    };
    out.passed = 1;
    if (value.is_null()) {
      if (!wanted.empty() && !flag(schema, "nullable")) return {{wrong_type(path, wanted, "null")}, 0};
      return out;
    }
    std::string_view found = json_type(value);
    bool fits = allows(found) || (found == "number" && is_whole(value) && allows("integer")) ||
                (found == "integer" && allows("number"));
    if (auto format = format_of(schema)) {
      std::string_view go_format = value.is_integer() ? "int64" : value.is_double() ? "float64" : "";
      if (!value.is_string() && !value.is_array() && !fits)
        return {{wrong_type(path, *format, std::string(go_format))}, 0};
      if (!allows("number") && !allows("integer") && (value.is_string() || value.is_array())) return out;
    }
    if (!wanted.empty() && !fits) return {{wrong_type(path, wanted, std::string(found))}, 0};
    return out;
  }

  static void check_enum(const Json& schema, const std::string& path, const Json& value, Findings& out) {
    const Json::Array& allowed = schema["enum"].items();
    if (allowed.empty()) return;
    for (const Json& one : allowed)
      if (!one.is_null() && equal_values(one, value)) return;
    std::string list;
    for (const Json& one : allowed)
      list += (list.empty() ? "" : ", ") + go_quoted(one.is_string() ? *one.if_string() : one.dump());
    out.add({"FieldValueNotSupported", field_of(path),
             fmt::format("Unsupported value: {}: supported values: {}", value_text(value), list)});
  }

  // Made once for all the strings that it is held against.
  const RE2& expression_of(std::string_view pattern) const {
    std::unique_ptr<RE2>& place = expressions_[pattern];
    if (!place) {
      RE2::Options options;
      options.set_log_errors(false);
      place = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    }
    return *place;
  }

  Findings check_string(const Json& schema, const std::string& path, const std::string& text) const {
    Findings out;
    if (const int64_t* most = schema["maxLength"].if_int64(); most && characters(text) > *most) {
      out.add({"FieldValueTooLong", field_of(path),
               fmt::format("Too long: may not be more than {} {}", *most, *most == 1 ? "byte" : "bytes")});
      return out;
    }
    if (const int64_t* least = schema["minLength"].if_int64(); least && characters(text) < *least) {
      out.add(wrong_value(path, text, fmt::format("should be at least {} chars long", *least)));
      return out;
    }
    if (std::string_view pattern = schema["pattern"].string_or(""); !pattern.empty()) {
      const RE2& expression = expression_of(pattern);
      if (!expression.ok() || !RE2::PartialMatch(text, expression))
        out.add(wrong_value(path, text, fmt::format("should match '{}'", pattern)));
    }
    return out;
  }

  static Findings check_format(const Json& schema, const std::string& path, const std::string& text) {
    std::string_view format = *format_of(schema);
    if (has_format(format, text).value_or(true)) return {};
    return {{wrong_type(path, format, text)}, 0};
  }

  // Whether a number can be held by the type and format that the schema names. `what` is the number's part in it.
  static void check_range(const Json& schema, const std::string& path, std::string_view what, const Json& value,
                          Findings& out) {
    std::string_view type = schema["type"].string_or(""), format = format_of(schema).value_or("");
    double number = number_of(value);
    bool whole = std::trunc(number) == number;
    bool fits = true;
    if (type == "integer") {
      if (format == "int32") fits = whole && number >= INT32_MIN && number <= INT32_MAX;
      else fits = value.if_int64() || (whole && std::abs(number) < 9223372036854775808.0);
    } else if (type == "number" && format == "float") {
      fits = std::abs(number) <= double(std::numeric_limits<float>::max());
    }
    if (fits) return;
    std::string form = format.empty() ? "(default format)" : fmt::format("with format {}", format);
    out.add({"FieldValueInvalid", "<nil>",
             fmt::format("Invalid value: \"\": {} value must be of type {} {} in {}", what, type, form, path)});
  }

  static Findings check_number(const Json& schema, const std::string& path, const Json& value) {
    Findings out;
    double number = number_of(value);
    check_range(schema, path, "Checked", value, out);
    if (schema["multipleOf"].is_number()) check_range(schema, path, "MultipleOf", schema["multipleOf"], out);
    if (schema["multipleOf"].is_number()) {
      double factor = number_of(schema["multipleOf"]);
      double times = factor < 1 ? 1 / factor * number : number / factor;
      if (factor > 0 && std::abs(times - std::round(times)) > 1e-9)
        out.add(wrong_value(path, value, "should be a multiple of " + go_text(schema["multipleOf"])));
    }
    auto limit = [&](std::string_view name, std::string_view exclusive, bool upper) {
      if (!schema[name].is_number()) return;
      check_range(schema, path, upper ? "Maximum boundary" : "Minimum boundary", schema[name], out);
      double bound = number_of(schema[name]);
      bool strict = flag(schema, exclusive);
      bool inside = upper ? (strict ? number < bound : number <= bound) : (strict ? number > bound : number >= bound);
      if (inside) return;
      out.add(wrong_value(path, value,
                          fmt::format("should be {} than {}{}", upper ? "less" : "greater",
                                      strict ? "" : "or equal to ", go_text(schema[name]))));
    };
    limit("minimum", "exclusiveMinimum", false);
    limit("maximum", "exclusiveMaximum", true);
    out.passed = 1;
    return out;
  }

  static Json keys_of(const Json& schema, const Json& item) {
    Json::Array keys;
    for (const Json& name : schema["x-kubernetes-list-map-keys"].items()) keys.push_back(item[name.string_or("")]);
    return keys;
  }

  Findings check_list(const Json& schema, const std::string& path, const Json& value, const Json* old) const {
    Findings out;
    const Json::Array& items = value.items();
    // Where keys tell, an item is held against what it was.
    std::map<Json, const Json*, Order> before;
    if (old && schema["x-kubernetes-list-type"].string_or("") == "map")
      for (const Json& item : old->items()) before.try_emplace(keys_of(schema, item), &item);
    for (size_t i = 0; i < items.size() && schema["items"].is_object(); ++i) {
      auto was = before.empty() ? before.end() : before.find(keys_of(schema, items[i]));
      out.merge(visit(schema["items"], fmt::format("{}[{}]", path, i), items[i],
                      was == before.end() ? nullptr : was->second));
    }
    int64_t size = int64_t(items.size());
    if (const int64_t* least = schema["minItems"].if_int64(); least && size < *least)
      out.add(wrong_value(path, size, fmt::format("should have at least {} items", *least)));
    if (const int64_t* most = schema["maxItems"].if_int64(); most && size > *most) out.add(too_many(path, size, *most));
    ++out.passed;
    return out;
  }

  static Cause too_many(const std::string& path, int64_t size, int64_t most) {
    return {"FieldValueTooMany", field_of(path),
            fmt::format("Too many: {}: must have at most {} {}", size, most, most == 1 ? "item" : "items")};
  }

  Findings check_object(const Json& schema, const std::string& path, const Json& value, const Json* old) const {
    Findings out;
    const Json::Object& members = value.members();
    int64_t size = int64_t(members.size());
    if (const int64_t* least = schema["minProperties"].if_int64(); least && size < *least)
      out.add(wrong_value(path, size, fmt::format("should have at least {} properties", *least)));
    if (const int64_t* most = schema["maxProperties"].if_int64(); most && size > *most)
      out.add(too_many(path, size, *most));
    const Json& extra = schema["additionalProperties"];
    static const Json kNone;
    fields::MemberIndex there(old ? old->members() : kNone.members());
    for (const Json::Member& member : members) {
      const Json* property = schema["properties"].members().find(member.key);
      std::string below = property && path.empty() ? member.key : path + "." + member.key;
      const Json* before = old ? there.find(member.key) : nullptr;
      if (property) out.merge(visit(*property, below, member.value, before));
      else if (extra.is_object()) out.merge(visit(extra, below, member.value, before));
    }
    for (const Json& name : schema["required"].items())
      if (!members.contains(name.string_or("")))
        out.add({"FieldValueRequired", field_of(path + "." + std::string(name.string_or(""))), "Required value"});
    return out;
  }

  Findings check_choices(const Json& schema, const std::string& path, const Json& value) const {
    Findings out;
    if (const Json::Array& any = schema["anyOf"].items(); !any.empty()) {
      std::optional<Findings> best;
      bool found = false;
      for (const Json& one : any) {
        Findings result = visit(one, path, value, nullptr);
        if ((found = result.fine())) {
          best = std::move(result);
          break;
        }
        if (!best || result.passed > best->passed) best = std::move(result);
      }
      if (!found) out.add(wrong_choice(path, "must validate at least one schema (anyOf)"));
      out.merge(*std::move(best));
    }
    if (const Json::Array& one_of = schema["oneOf"].items(); !one_of.empty()) {
      std::optional<Findings> best;
      int fine = 0;
      for (const Json& one : one_of) {
        Findings result = visit(one, path, value, nullptr);
        if (result.fine()) {
          if (++fine == 1) best = std::move(result);
        } else if (fine == 0 && (!best || result.passed > best->passed)) {
          best = std::move(result);
        }
      }
      if (fine != 1)
        out.add(wrong_choice(path,
                             "must validate one and only one schema (oneOf). " +
                                 (fine == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", fine))));
      if (fine <= 1) out.merge(*std::move(best));
    }
    if (const Json::Array& all = schema["allOf"].items(); !all.empty()) {
      size_t fine = 0;
      for (const Json& one : all) {
        Findings result = visit(one, path, value, nullptr);
        fine += result.fine();
        out.merge(std::move(result));
      }
      if (fine != all.size())
        out.add(wrong_choice(
            path, fmt::format("must validate all the schemas (allOf){}", fine == 0 ? ". None validated" : "")));
    }
    if (schema["not"].is_object() && visit(schema["not"], path, value, nullptr).fine())
      out.add(wrong_choice(path, "must not validate the schema (not)"));
    ++out.passed;
    return out;
  }

  mutable std::map<std::string_view, std::unique_ptr<RE2>> expressions_;  // patterns live as long as the schema
};

// Sets and lists of kind map that name something twice: the second time is what counts.
void check_uniqueness(const Json& schema, const std::string& path, const Json& value, std::vector<Cause>& out) {
  auto duplicate = [&](size_t i, const Json& what) {
    out.push_back({"FieldValueDuplicate", fmt::format("{}[{}]", path, i), "Duplicate value: " + value_text(what)});
  };
  if (value.is_object()) {
    const Json& extra = schema["additionalProperties"];
    for (const Json::Member& member : value.members()) {
      const Json* property = schema["properties"].members().find(member.key);
      if (property) check_uniqueness(*property, path.empty() ? member.key : path + "." + member.key, member.value, out);
      else if (extra.is_object()) check_uniqueness(extra, fmt::format("{}[{}]", path, member.key), member.value, out);
    }
  }
  const Json::Array& items = value.items();
  std::string_view kind = schema["x-kubernetes-list-type"].string_or("");
  std::map<Json, int, Order> seen;
  for (size_t i = 0; i < items.size() && (kind == "set" || kind == "map"); ++i) {
    Json key = items[i];
    if (kind == "map") {
      if (!key.is_null() && !key.is_object()) {
        out.push_back(wrong("FieldValueInvalid", fmt::format("{}[{}]", path, i), key,
                            "must be an object for an array of list-type map"));
        break;
      }
      Json::Object keys;
      for (const Json& name : schema["x-kubernetes-list-map-keys"].items())
        if (const Json* part = items[i].members().find(name.string_or("")))
          keys.append(std::string(name.string_or("")), *part);
      key = std::move(keys);
    }
    if (++seen[key] == 2) duplicate(i, key);
  }
  if (schema["items"].is_object())
    for (size_t i = 0; i < items.size(); ++i)
      check_uniqueness(schema["items"], fmt::format("{}[{}]", path, i), items[i], out);
}

}  // namespace

std::vector<Cause> violations(const Json& schema, const Json& object, const Json& live) {
  if (schema.is_null()) return {};
  std::vector<Cause> out = Validator().visit(schema, "", object, live.is_null() ? nullptr : &live).causes;
  std::vector<Cause> before;
  if (!live.is_null()) check_uniqueness(schema, "", live, before);
  if (before.empty()) check_uniqueness(schema, "", object, out);
  return out;
}

}  // namespace fairlead::schema
