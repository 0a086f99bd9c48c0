#include "schema/types/builtin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "schema/types/internal/builtin_table.h"

namespace fairlead::schema {
namespace {

// The table is ours: where it is wrong, so is the build.
[[noreturn]] void broken(std::string_view where) {
  fmt::print(stderr, "the table of built-in types is broken near {}\n", where.substr(0, 80));
  std::abort();
}

// Finds the line of a sorted table that starts with a word; what stands behind the word.
std::string_view find_line(std::span<const std::string_view> lines, std::string_view word) {
  auto word_of = [](std::string_view line) { return line.substr(0, line.find(' ')); };
  auto place = std::lower_bound(lines.begin(), lines.end(), word,
                                [&](std::string_view line, std::string_view w) { return word_of(line) < w; });
  if (place == lines.end() || word_of(*place) != word) return {};
  return place->substr(word.size() + 1);
}

Scalar scalar_of(char letter) {
  switch (letter) {
    case 's': return Scalar::string;
    case 'y': return Scalar::bytes;
    case 'b': return Scalar::boolean;
    case 'i': return Scalar::int32;
    case 'l': return Scalar::int64;
    case 'n': return Scalar::number;
    default: return Scalar::any;
  }
}

class BuiltinReader {
 public:
  explicit BuiltinReader(Schema& schema) : schema_(schema) {
    for (TypeId id = 0; id < schema.types.size(); ++id)
      if (!schema.types[id].name.empty()) known_.emplace(schema.types[id].name, id);
  }

  TypeId named(std::string_view name) {
    auto [place, is_new] = known_.try_emplace(std::string(name), kNoType);
    if (!is_new) return place->second;
    std::string_view text = find_line(table::types, name);
    if (text.empty()) broken(name);
    // The place is taken before its parts are read, since they may lead back to it.
    TypeId id = place->second = add(Type{});
    Type type = expression(text);
    if (!text.empty()) broken(text);
    type.name = name;
    schema_.types[id] = std::move(type);
    return id;
  }

  // Anything at all: as one thing, or with objects granular and lists as one thing.
  TypeId whole() {
    return once("=whole", [&](TypeId id) {
      return Type{.scalar = Scalar::any, .list = ListKind::atomic, .map = MapKind::atomic, .item = id, .element = id};
    });
  }
  TypeId deduced() {
    return once("=deduced", [&](TypeId id) {
      return Type{.scalar = Scalar::any,
                  .list = ListKind::atomic,
                  .map = MapKind::granular,
                  .item = whole(),
                  .element = id,
                  .deduced = true};
    });
  }

 private:
  TypeId add(Type type) {
    schema_.types.push_back(std::move(type));
    return TypeId(schema_.types.size() - 1);
  }

  template <class Make>
  TypeId once(std::string_view name, Make make) {
    auto [place, is_new] = known_.try_emplace(std::string(name), kNoType);
    if (!is_new) return place->second;
    TypeId id = place->second = add(Type{});
    Type type = make(id);
    type.name = name;
    schema_.types[id] = std::move(type);
    return id;
  }

  static bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  }

  static std::string_view take_until(std::string_view& text, std::string_view ends) {
    std::string_view word = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(word.size());
    return word;
  }

  // The place of a type that stands in an expression.
  TypeId part(std::string_view& text) {
    if (text.starts_with('@')) return reference(text);
    if (text.starts_with('a')) return text.remove_prefix(1), whole();
    char letter = text.empty() ? '?' : text[0];
    bool plain = text.size() < 2 || text[1] == ' ' || text[1] == ')' || text[1] == '=';
    if (plain && std::string_view("sytbilnqxjd").find(letter) != std::string_view::npos) {
      text.remove_prefix(1);
      return once(letter_name(letter), [&](TypeId) { return simple(letter); });
    }
    Type type = expression(text);
    return add(std::move(type));
  }

  static std::string_view letter_name(char letter) {
    static constexpr std::string_view kNames = "=s=y=t=b=i=l=n=q=x=j=d";
    return kNames.substr(kNames.find(letter) - 1, 2);
  }

  TypeId reference(std::string_view& text) {
    text.remove_prefix(1);
    std::string_view name = take_until(text, " )=!~");
    TypeId id = named(name);
    if (!text.starts_with('!') && !text.starts_with('~')) return id;
    MapKind kind = text[0] == '!' ? MapKind::atomic : MapKind::granular;
    text.remove_prefix(1);
    // A copy with another mind. Only types that do not lead back to themselves are referred to in this way.
    Type type = schema_.types[id];
    type.map = kind;
    return add(std::move(type));
  }

  Type simple(char letter) {
    Type type{.scalar = scalar_of(letter)};
    if (letter == 'q') type.special = Special::quantity;
    if (letter == 't') type.special = Special::time;
    if (letter == 'x') type.special = Special::int_or_string;
    if (letter == 'd') type.scalar = Scalar::none;
    if (letter == 'j' || letter == 'x') type.list = ListKind::atomic, type.item = whole();
    if (letter == 'j' || letter == 'd' || letter == 'x') {
      type.map = MapKind::granular;
      type.element = deduced();
      type.deduced = true;
    }
    return type;
  }

  Type expression(std::string_view& text) {
    if (text.starts_with("!(")) {
      text.remove_prefix(1);
      Type type = structure(text);
      type.map = MapKind::atomic;
      return type;
    }
    if (text.starts_with('(')) return structure(text);
    if (take(text, '[')) return list(text);
    if (take(text, '{')) {
      Type type{.map = take(text, '!') ? MapKind::atomic : MapKind::granular};
      if (!take(text, '}')) broken(text);
      type.element = part(text);
      return type;
    }
    if (text.empty()) broken("an empty expression");
    Type type = simple(text[0]);
    text.remove_prefix(1);
    if (take(text, '<')) {
      for (std::string_view values = take_until(text, ">");;) {
        type.values.emplace_back(take_until(values, "|"));
        if (!take(values, '|')) break;
      }
      take(text, '>');
    }
    return type;
  }

  Type list(std::string_view& text) {
    std::string_view keys = take_until(text, "]");
    if (!take(text, ']')) broken(text);
    std::optional<std::string> merge_key;
    if (size_t bar = keys.find('|'); bar != std::string_view::npos) {
      merge_key = keys.substr(bar + 1);
      keys = keys.substr(0, bar);
    }
    Type type{.list = keys.empty() ? ListKind::atomic : keys == "=" ? ListKind::set : ListKind::map};
    if (type.list == ListKind::map) {
      for (;; take(keys, ',')) {
        type.keys.emplace_back(take_until(keys, ","));
        if (keys.empty()) break;
      }
    }
    type.item = part(text);
    type.merge_key = std::move(merge_key);
    return type;
  }

  static bool take_last(std::string_view& text, char c) {
    if (!text.ends_with(c)) return false;
    text.remove_suffix(1);
    return true;
  }

  // A name and its marks.
  static Field named_field(std::string_view text) {
    Field field;
    field.retains_keys = take_last(text, '%');
    if (take_last(text, '+')) field.presence = Presence::always;
    else if (take_last(text, '-')) field.presence = Presence::null_if_unset;
    else if (take_last(text, '?')) field.presence = Presence::left_if_empty;
    field.required = take_last(text, '*');
    field.name = text;
    return field;
  }

  Type structure(std::string_view& text) {
    text.remove_prefix(1);
    Type type{.map = MapKind::granular};
    while (!take(text, ')')) {
      take(text, ' ');
      Field field = named_field(take_until(text, ":"));
      if (!take(text, ':')) broken(text);
      field.type = part(text);
      if (take(text, '=')) {
        Result<Json> value = Json::parse(take_until(text, " )"));
        if (!value) broken(text);
        field.fallback = *std::move(value);
      } else if (field.presence == Presence::always) {
        field.fallback = zero(schema_.types[field.type]);
      }
      type.fields.push_back(std::move(field));
    }
    std::sort(type.fields.begin(), type.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
    return type;
  }

  // A scalar that is always written has its zero for a default.
  static std::optional<Json> zero(const Type& type) {
    if (type.special != Special::none || type.map != MapKind::none || type.list != ListKind::none) return std::nullopt;
    switch (type.scalar) {
      case Scalar::string:
      case Scalar::bytes: return Json("");
      case Scalar::int32:
      case Scalar::int64:
      case Scalar::number: return Json(0);
      case Scalar::boolean: return Json(false);
      default: return std::nullopt;
    }
  }

  Schema& schema_;
  std::map<std::string, TypeId, std::less<>> known_;
};

std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items()) out.emplace_back(item.string_or(""));
  return out;
}

}  // namespace

std::string_view builtin_version() { return table::version; }

TypeId add_builtin_type(Schema& schema, std::string_view name) {
  BuiltinReader reader(schema);
  if (name == "=whole") return reader.whole();
  if (name == "=deduced") return reader.deduced();
  return reader.named(name);
}

SchemaPtr builtin_schema(std::string_view group, std::string_view version, std::string_view kind) {
  std::string_view name = find_line(table::kinds, fmt::format("{}/{}/{}", group, version, kind));
  if (name.empty()) return nullptr;
  auto schema = std::make_shared<Schema>();
  schema->root = add_builtin_type(*schema, name);
  return schema;
}

std::vector<Resource> builtin_resources() {
  std::vector<Resource> out;
  for (std::string_view line : table::resources) {
    size_t space = line.find(' '), slash = line.find('/');
    Result<Json> json = Json::parse(line.substr(space + 1));
    if (!json) broken(line);
    const Json& from = *json;
    Resource resource{.group = std::string(line.substr(0, slash)),
                      .version = std::string(line.substr(slash + 1, space - slash - 1)),
                      .name = std::string(from["name"].string_or("")),
                      .singular = std::string(from["singularName"].string_or("")),
                      .kind = std::string(from["kind"].string_or("")),
                      .kind_group = std::string(from["group"].string_or("")),
                      .kind_version = std::string(from["version"].string_or("")),
                      .namespaced = from["namespaced"].bool_or(false),
                      .verbs = strings(from["verbs"]),
                      .short_names = strings(from["shortNames"]),
                      .categories = strings(from["categories"]),
                      .storage_version_hash = std::string(from["storageVersionHash"].string_or("")),
                      .columns = {}};
    for (const Json& column : from["columns"].items())
      resource.columns.push_back({std::string(column.item(0).string_or("")), std::string(column.item(1).string_or("")),
                                  std::string(column.item(2).string_or("")), std::string(column.item(3).string_or("")),
                                  column.item(4).int_or(0)});
    out.push_back(std::move(resource));
  }
  return out;
}

}  // namespace fairlead::schema
