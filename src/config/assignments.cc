#include "config/assignments.h"

#include <charconv>

#include "base/printable.h"

namespace fairlead::config {
namespace {

constexpr size_t kShown = 100;

class AssignmentReader {
 public:
  AssignmentReader(std::string_view text, const AssignmentFlag& flag) : rest_(text), flag_(flag) {}

  Result<std::vector<Assignment>> read() {
    std::vector<Assignment> assignments;
    do {
      start_ = rest_;
      TRY_ASSIGN(Assignment one, read_one());
      assignments.push_back(std::move(one));
    } while (take(','));
    if (!rest_.empty()) return wrong("a list ends with }, and a comma or nothing follows it");
    return assignments;
  }

 private:
  Result<Assignment> read_one() {
    Assignment one;
    TRY_ASSIGN(one.path, read_path());
    if (!take('{')) {
      one.text = read_text(",");
      one.value = scalar(*one.text);
      return one;
    }
    one.value = Json::Array();
    if (take('}')) return one;
    do one.value.if_array()->push_back(scalar(read_text(",}")));
    while (take(','));
    if (!take('}')) return wrong("the list is not closed by }");
    return one;
  }

  Result<Path> read_path() {
    Path path;
    do {
      if (!rest_.starts_with('[')) {
        std::string key = read_text(".[=,");
        if (key.empty() && rest_.starts_with('=')) return wrong("a key is empty");
        if (rest_.empty() || rest_.front() == ',') return wrong("is not PATH=VALUE");
        if (key.empty()) return wrong("a key is empty");
        path.emplace_back(std::move(key));
      }
      while (take('[')) {
        TRY_ASSIGN(yaml::Step step, read_bracket());
        path.push_back(std::move(step));
      }
    } while (take('.'));
    if (!take('=')) return wrong("is not PATH=VALUE");
    if (std::holds_alternative<size_t>(path.front())) return wrong("the values are a mapping, and have no item");
    return path;
  }

  // What is between [ and ]: the number of an item, or a key in quotes.
  Result<yaml::Step> read_bracket() {
    constexpr size_t kMost = 1000;
    if (take('"')) {
      std::string key = read_text("\"");
      if (key.empty() || !take('"') || !take(']')) return wrong("a key in brackets is written [\"KEY\"]");
      return yaml::Step(std::move(key));
    }
    size_t index = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), index);
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (error != std::errc() || index > kMost || !take(']')) return wrong("an item of a list is written [0]");
    return yaml::Step(index);
  }

  // Up to one of these characters, or to the end.
  std::string read_text(std::string_view ends) {
    std::string text;
    while (!rest_.empty() && !ends.contains(rest_.front())) {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    return text;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Json scalar(const std::string& text) const {
    if (flag_.is_text) return Json(text);
    return text == "null" ? Json() : scalar_of(text);
  }

  std::unexpected<Error> wrong(std::string_view why) const {
    std::string shown = printable_line(start_.substr(0, kShown));
    bool is_sentence = why.starts_with("is ");
    return fail(
        Error(ErrorKind::invalid, fmt::format("{}: \"{}\"{} {}", flag_.name, shown, is_sentence ? "" : ":", why))
            .next(fmt::format("write it like {}; \\, is a comma in a value, and \\. a dot in a key", flag_.example)));
  }

  std::string_view rest_;
  // Where the assignment begins that is read.
  std::string_view start_;
  const AssignmentFlag& flag_;
};

}  // namespace

Json scalar_of(std::string_view text) {
  Result<Json> value = yaml::parse_one(text, "value");
  bool is_scalar = value && !value->is_array() && !value->is_object() && !value->is_null();
  return is_scalar ? *std::move(value) : Json(text);
}

Result<std::vector<Assignment>> parse_assignments(std::string_view text, const AssignmentFlag& flag) {
  return AssignmentReader(text, flag).read();
}

Result<void> assign(Json& values, const Assignment& assignment, size_t from) {
  const Path& path = assignment.path;
  Json* place = &values;
  for (size_t i = from; i < path.size(); ++i) {
    bool is_last = i + 1 == path.size();
    auto leads_nowhere = [&](std::string_view why) {
      return fail(ErrorKind::invalid, "{} cannot be set: {} {}", text_of(path),
                  text_of(Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i))), why);
    };
    if (const std::string* key = std::get_if<std::string>(&path[i])) {
      if (place->is_null()) *place = Json::Object();
      if (!place->is_object()) return leads_nowhere("is no mapping");
      if (is_last && assignment.value.is_null()) {
        place->if_object()->erase(*key);
        return {};
      }
      place = &place->make(*key);
    } else {
      size_t index = std::get<size_t>(path[i]);
      if (place->is_null()) *place = Json::Array();
      Json::Array* items = place->if_array();
      if (!items) return leads_nowhere("is no list");
      if (index > items->size()) return leads_nowhere(fmt::format("has {} items", items->size()));
      if (index == items->size()) items->emplace_back();
      place = &(*items)[index];
    }
  }
  *place = assignment.value;
  return {};
}

}  // namespace fairlead::config
