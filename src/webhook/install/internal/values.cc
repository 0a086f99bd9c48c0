#include "webhook/install/internal/values.h"

#include "base/nearest.h"
#include "base/printable.h"
#include "config/assignments.h"
#include "webhook/install/internal/chart_texts.h"

namespace fairlead::webhook::install {
namespace {

using config::child;
using config::Fields;
using config::Path;
using config::text_of;

constexpr std::string_view kOperator = "dynamo-operator";

// Keys below it are up to the user: a selector, labels, resources.
bool is_free(const Json& fallback, const Path& key) {
  return fallback.members().empty() || text_of(key) == "webhook.resources";
}

// As Helm does it: mappings are merged, and a null removes what was there.
void override_with(Json& target, const Json& given) {
  if (!target.is_object() || !given.is_object()) {
    target = given;
    return;
  }
  for (const Json::Member& member : given.members()) {
    if (member.value.is_null()) target.if_object()->erase(member.key);
    else override_with((*target.if_object())[member.key], member.value);
  }
}

std::string_view type_text(const Json& fallback) {
  if (fallback.is_bool()) return "true or false";
  if (fallback.is_integer()) return "a whole number";
  if (fallback.is_string()) return "a string";
  return fallback.is_array() ? "a list" : "a mapping";
}

bool has_type(const Json& value, const Json& fallback) {
  if (fallback.is_integer()) return value.is_int64();
  return value.type_name() == fallback.type_name();
}

using Origins = std::map<std::string, std::string, std::less<>>;

// What is given in one of the two places: at the top, or below `dynamo-operator`.
struct Layer {
  Json values;
  // By key.
  std::map<std::string, Json> given = {};
  Origins origins = {};
};

// Whether something of `given` is not there any more once `other` was put over it.
bool is_lost(const Json& given, const Json& other) {
  if (!given.is_object() || !other.is_object()) return !given.same_as(other);
  return std::ranges::any_of(given.members(), [&](const Json::Member& member) {
    const Json* over = other.if_object()->find(member.key);
    return over && is_lost(member.value, *over);
  });
}

// Takes what one file or --set says, and where it says so.
class Taker {
 public:
  // `position` makes the origin of a value from its place in the text.
  using Position = std::function<std::string(const Path&)>;

  // `literal` is the text of the one value that is taken, which a key with a string gets as it is: "1.20".
  Taker(Layer& top, Layer& below, std::vector<Error>& errors, Position position,
        std::optional<std::string> literal = {})
      : top_(top), below_(below), errors_(errors), position_(std::move(position)), literal_(std::move(literal)) {}

  void take(const Json& given, const Json& defaults) {
    if (!given.is_object()) return add({}, fmt::format("values must be a mapping, not {}", given.type_name()));
    Json plain = given;
    plain.if_object()->erase(kOperator);
    take_object(plain, defaults, {}, {});
    const Json& nested = given[kOperator];
    if (nested.is_null()) return;
    Path path = {std::string(kOperator)};
    if (!nested.is_object()) return add(path, fmt::format("{} must be a mapping", kOperator));
    layer_ = &below_;
    take_object(nested, defaults, path, {});
  }

 private:
  // `path` is the place in the text, `key` the one among the values.
  void take_object(const Json& given, const Json& defaults, const Path& path, const Path& key) {
    for (const Json::Member& member : given.members()) {
      const Json* fallback = defaults.if_object()->find(member.key);
      Path member_path = child(path, member.key);
      if (!fallback || member.key == kOperator) {
        add_unknown(member.key, defaults, member_path);
        continue;
      }
      if (member.value.is_null()) forget(*fallback, child(key, member.key));
      else take_value(member.value, *fallback, member_path, child(key, member.key));
    }
  }

  // A null takes back what was given before.
  void forget(const Json& fallback, const Path& key) {
    std::string name = text_of(key);
    std::string below = name + ".";
    auto is_in = [&](const auto& entry) { return entry.first == name || entry.first.starts_with(below); };
    std::erase_if(layer_->given, is_in);
    std::erase_if(layer_->origins, is_in);
    if (layer_ == &top_) *place_of(key) = fallback;
    else if (Json* parent = place_of(Path(key.begin(), key.end() - 1)); parent->is_object())
      parent->if_object()->erase(std::get<std::string>(key.back()));
  }

  Json* place_of(const Path& key) {
    Json* place = &layer_->values;
    for (const yaml::Step& step : key) place = &place->make(std::get<std::string>(step));
    return place;
  }

  void take_value(const Json& parsed, const Json& fallback, const Path& path, const Path& key) {
    bool is_literal = literal_ && fallback.is_string() && !parsed.is_object();
    const Json given = is_literal ? Json(*literal_) : parsed;
    if (!has_type(given, fallback))
      return add(path, fmt::format("{} must be {}, not {}", text_of(path), type_text(fallback), given.type_name()));
    if (const std::string* text = given.if_string(); text && text->contains('\0'))
      return add(path, fmt::format("{} has a zero byte in it", text_of(path)));
    if (fallback.is_object() && !is_free(fallback, key)) return take_object(given, fallback, path, key);
    std::string name = text_of(key);
    auto [taken, is_new] = taken_.emplace(name, given);
    if (!is_new && !taken->second.same_as(given))
      return add(path, fmt::format("{} is given twice, with different values", name),
                 fmt::format("remove {} or {}.{}", name, kOperator, name));
    override_with(*place_of(key), given);
    override_with(layer_->given[name], given);
    layer_->origins[name] = position_(path);
  }

  void add_unknown(const std::string& key, const Json& defaults, const Path& path) {
    std::vector<std::string> known;
    for (const Json::Member& member : defaults.members())
      if (member.key != kOperator) known.push_back(member.key);
    std::optional<std::string> meant = nearest(key, known);
    add(path,
        fmt::format("unknown key {}{}", text_of(path).substr(0, 200),
                    meant ? fmt::format("; did you mean {}?", *meant) : ""),
        fmt::format("the keys here are {}", fmt::join(known, ", ")));
  }

  void add(const Path& path, std::string what, std::string next = {}) {
    if (errors_.size() >= 20) return;
    Error error = Error(ErrorKind::invalid, std::move(what)).at(position_(path));
    errors_.push_back(next.empty() ? std::move(error) : std::move(error).next(std::move(next)));
  }

  Layer& top_;
  Layer& below_;
  Layer* layer_ = &top_;
  std::vector<Error>& errors_;
  Position position_;
  std::optional<std::string> literal_;
  // What this text says, by key.
  std::map<std::string, Json> taken_;
};

const Json& at_path(const Json& values, const Path& path) {
  const Json* value = &values;
  for (const yaml::Step& step : path) value = &(*value)[std::get<std::string>(step)];
  return *value;
}

// What is given for one assignment, as a file would have it. An item of a list is put into the list that is there.
Result<Json> given_by(const config::Assignment& assignment, const Layer& top, const Layer& below) {
  auto item = std::ranges::find_if(assignment.path,
                                   [](const yaml::Step& step) { return std::holds_alternative<size_t>(step); });
  Json given = Json::Object();
  Json* place = &given;
  for (auto step = assignment.path.begin(); step != item; ++step) place = &place->make(std::get<std::string>(*step));
  *place = assignment.value;
  if (item == assignment.path.end()) return given;
  bool is_below = assignment.path.front() == yaml::Step(std::string(kOperator));
  Json list = at_path(is_below ? below.values : top.values, Path(assignment.path.begin() + (is_below ? 1 : 0), item));
  TRY(config::assign(list, assignment, static_cast<size_t>(item - assignment.path.begin())));
  *place = std::move(list);
  return given;
}

}  // namespace

std::expected<Values, std::vector<Error>> Values::read(const Inputs& inputs) {
  Values values;
  std::vector<Error> errors;
  const Json defaults = yaml::parse_one(kValues, "values.yaml").value();
  Layer top{.values = defaults}, below{.values = Json::Object()};
  for (const ValuesFile& file : inputs.files) {
    Fields fields(file.text, file.name);
    Result<Json> given = fields.parse();
    if (!given) {
      errors.push_back(given.error());
      continue;
    }
    Taker(top, below, errors, [&](const Path& path) {
      return fields.position(path);
    }).take(given->is_null() ? Json(Json::Object()) : *given, defaults);
  }
  for (const Inputs::Set& set : inputs.sets) {
    config::AssignmentFlag flag{.example = "webhook.failurePolicy=Ignore", .is_text = set.is_text};
    if (set.is_text) flag.name = "--set-string";
    auto assignments = config::parse_assignments(set.text, flag);
    if (!assignments) errors.push_back(assignments.error());
    for (const config::Assignment& one : assignments ? *assignments : std::vector<config::Assignment>()) {
      std::string position = fmt::format("{} {}", flag.name, text_of(one.path));
      Result<Json> given = given_by(one, top, below);
      if (!given) errors.push_back(Error(given.error()).at(position));
      else Taker(top, below, errors, [&](const Path&) { return position; }, one.text).take(*given, defaults);
    }
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  for (const auto& [name, given] : top.given) {
    auto over = below.given.find(name);
    if (over == below.given.end() || !is_lost(given, over->second)) continue;
    values.warnings_.push_back(fmt::format("{} of {} does not count: {} gives it below {}", name, top.origins[name],
                                           below.origins[name], kOperator));
  }
  values.values_ = std::move(top.values);
  override_with(values.values_, below.values);
  values.origins_ = std::move(below.origins);
  values.origins_.merge(top.origins);
  return values;
}

const Json& Values::at(std::string_view path) const {
  const Json* value = &values_;
  while (!path.empty()) {
    size_t dot = path.find('.');
    value = &(*value)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *value;
}

std::string Values::origin(std::string_view path) const {
  auto found = origins_.find(path);
  return found == origins_.end() ? std::string() : found->second;
}

}  // namespace fairlead::webhook::install
