#include "readiness/json_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace fairlead::readiness {
namespace {

constexpr size_t kMaxBytes = 1000;

const Json* child(const Json& from, std::string_view key) {
  const Json::Object* object = from.if_object();
  return object ? object->find(key) : nullptr;
}

const Json* child(const Json& from, int64_t index) {
  const Json::Array* array = from.if_array();
  if (!array) return nullptr;
  auto size = static_cast<int64_t>(array->size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &(*array)[static_cast<size_t>(index)] : nullptr;
}

std::optional<double> number(const Json& value) {
  if (const int64_t* i = value.if_int64()) return static_cast<double>(*i);
  if (const uint64_t* u = value.if_uint64()) return static_cast<double>(*u);
  if (const double* d = value.if_double()) return *d;
  return std::nullopt;
}

// Returns a number below zero, zero or above zero, or nothing if the values cannot be compared.
std::optional<int> compare(const Json& left, const Json& right) {
  if (left.if_string() && right.if_string()) return left.if_string()->compare(*right.if_string());
  std::optional<double> a = number(left);
  std::optional<double> b = number(right);
  if (a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
  if (left == right) return 0;
  return std::nullopt;
}

}  // namespace

bool JsonPath::Filter::takes(const Json& item) const {
  const Json* at = &item;
  for (const auto& step : path) {
    at =
        std::holds_alternative<Key>(step) ? child(*at, std::get<Key>(step).name) : child(*at, std::get<Index>(step).at);
    if (!at) return false;
  }
  std::optional<int> order = compare(*at, value);
  switch (comparison) {
    case Comparison::exists: return true;
    case Comparison::equal: return order == 0;
    case Comparison::unequal: return order != 0;
    case Comparison::less: return order && *order < 0;
    case Comparison::at_most: return order && *order <= 0;
    case Comparison::greater: return order && *order > 0;
    case Comparison::at_least: return order && *order >= 0;
  }
  return false;
}

void JsonPath::walk(const Step& step, const Json& from, std::vector<const Json*>& into) {
  if (const Key* key = std::get_if<Key>(&step)) {
    if (const Json* found = child(from, key->name)) into.push_back(found);
  } else if (const Index* index = std::get_if<Index>(&step)) {
    if (const Json* found = child(from, index->at)) into.push_back(found);
  } else if (const Filter* filter = std::get_if<Filter>(&step)) {
    for (const Json& item : from.items())
      if (filter->takes(item)) into.push_back(&item);
  } else {
    for (const Json& item : from.items()) into.push_back(&item);
    for (const Json::Member& member : from.members()) into.push_back(&member.value);
  }
}

std::vector<const Json*> JsonPath::find(const Json& root) const {
  std::vector<const Json*> found = {&root};
  for (const Step& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* from : found) walk(step, *from, next);
    found = std::move(next);
  }
  return found;
}

class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_(text) {}

  Result<JsonPath> parse() {
    JsonPath path;
    if (text_.empty()) return wrong("the path is empty");
    if (text_.size() > kMaxBytes) return fail(ErrorKind::limit, "it is longer than {} characters", kMaxBytes);
    if (peek() == '$') ++at_;
    if (at_ == text_.size()) return wrong("expected a field");
    if (peek() != '.' && peek() != '[') {
      TRY_ASSIGN(JsonPath::Key key, take_field());
      path.steps_.emplace_back(std::move(key));
    }
    while (at_ < text_.size()) {
      TRY_ASSIGN(JsonPath::Step step, take_step());
      path.steps_.push_back(std::move(step));
    }
    return path;
  }

 private:
  std::unexpected<Error> wrong(std::string_view why) const {
    return fail(ErrorKind::invalid, "{} at character {} of \"{}\"", why, at_ + 1, text_);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }
  static bool ends_field(char c) {
    return c == '.' || c == '[' || c == ']' || c == ')' || c == '(' || c == '=' || c == '!' || c == '<' || c == '>' ||
           c == ' ' || c == ',' || c == '\'' || c == '"' || c == '{' || c == '}' || c == '|' || c == '&';
  }

  // "name" or "name\.with\.dots"
  Result<JsonPath::Key> take_field() {
    JsonPath::Key key;
    for (; at_ < text_.size() && !ends_field(text_[at_]); ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      key.name += text_[at_];
    }
    if (key.name.empty()) return wrong("expected a field");
    return key;
  }

  Result<std::string> take_quoted() {
    char quote = text_[at_++];
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (at_ == text_.size()) return wrong("a quote is not closed");
    ++at_;
    return out;
  }

  Result<JsonPath::Step> take_step() {
    if (take("..")) return wrong("recursive descent is not supported here: write the whole path");
    if (take(".*")) return JsonPath::All{};
    if (take(".")) {
      if (peek() == '[') return take_brackets();
      return take_field();
    }
    if (peek() == '[') return take_brackets();
    return wrong("expected '.' or '['");
  }

  Result<JsonPath::Step> take_brackets() {
    take("[");
    JsonPath::Step step = JsonPath::All{};
    if (take("?(")) {
      TRY_ASSIGN(step, take_filter());
    } else if (!take("*")) {
      TRY_ASSIGN(auto one, take_key_or_index());
      std::visit([&](auto& value) { step = std::move(value); }, one);
    }
    if (peek() == ':') return wrong("slices are not supported here");
    if (peek() == ',') return wrong("unions are not supported here");
    if (!take("]")) return wrong("expected ']'");
    return step;
  }

  Result<std::variant<JsonPath::Key, JsonPath::Index>> take_key_or_index() {
    if (peek() == '\'' || peek() == '"') {
      TRY_ASSIGN(std::string name, take_quoted());
      return JsonPath::Key{.name = std::move(name)};
    }
    if (peek() == ':') return wrong("slices are not supported here");
    JsonPath::Index index;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), index.at);
    if (error != std::errc()) return wrong("expected an index, a quoted field, '*' or a filter");
    at_ = static_cast<size_t>(end - text_.data());
    return index;
  }

  Result<JsonPath::Filter> take_filter() {
    JsonPath::Filter filter;
    skip_spaces();
    if (!take("@")) return wrong("expected '@'");
    while (peek() == '.' || peek() == '[') {
      if (take(".")) {
        TRY_ASSIGN(JsonPath::Key key, take_field());
        filter.path.emplace_back(std::move(key));
        continue;
      }
      take("[");
      TRY_ASSIGN(auto step, take_key_or_index());
      filter.path.push_back(std::move(step));
      if (!take("]")) return wrong("expected ']'");
    }
    skip_spaces();
    if (take(")")) return filter;
    TRY_ASSIGN(filter.comparison, take_comparison());
    skip_spaces();
    TRY_ASSIGN(filter.value, take_literal());
    skip_spaces();
    if (!take(")")) return wrong("expected ')'");
    return filter;
  }

  Result<JsonPath::Comparison> take_comparison() {
    using enum JsonPath::Comparison;
    struct Sign {
      std::string_view text;
      JsonPath::Comparison comparison;
    };
    // Longer signs come first, because they start with shorter ones.
    constexpr std::array kSigns{Sign{"==", equal},    Sign{"!=", unequal}, Sign{"<=", at_most},
                                Sign{">=", at_least}, Sign{"<", less},     Sign{">", greater}};
    for (const Sign& sign : kSigns)
      if (take(sign.text)) return sign.comparison;
    return wrong("expected ==, !=, <, <=, > or >=");
  }

  Result<Json> take_literal() {
    if (peek() == '\'' || peek() == '"') {
      TRY_ASSIGN(std::string value, take_quoted());
      return Json(std::move(value));
    }
    size_t start = at_;
    while (at_ < text_.size() && peek() != ')' && peek() != ' ') ++at_;
    Result<Json> value = Json::parse(text_.substr(start, at_ - start));
    if (value && (value->is_number() || value->is_bool())) return value;
    at_ = start;
    return wrong("expected a quoted text, a number, true or false");
  }

  std::string_view text_;
  size_t at_ = 0;
};

Result<JsonPath> JsonPath::parse(std::string_view text) { return JsonPathParser(text).parse(); }

}  // namespace fairlead::readiness
