#include "object/selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "object/name.h"

namespace fairlead::object {
namespace {

std::optional<int64_t> to_integer(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

// The grammar of apimachinery's labels.Parse, with all its leniency about empty values.
class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : text_(text) {}

  Result<Selector> parse() {
    Selector selector;
    next();
    if (token_.empty()) return selector;
    while (true) {
      TRY(parse_requirement(selector));
      if (token_.empty()) return selector;
      if (token_ != ",") return unexpected("',' or the end");
      next();
    }
  }

 private:
  using Operator = Selector::Operator;

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  static bool is_special(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }
  bool at_word() const { return !token_.empty() && !is_special(token_[0]); }
  bool at_end_of_requirement() const { return token_.empty() || token_ == ","; }

  void next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    size_t start = at_;
    if (at_ < text_.size() && is_special(text_[at_])) {
      std::string_view two = text_.substr(at_, 2);
      at_ += two == "==" || two == "!=" ? 2 : 1;
    } else {
      while (at_ < text_.size() && !is_special(text_[at_]) && !is_space(text_[at_])) ++at_;
    }
    token_ = text_.substr(start, at_ - start);
  }

  std::unexpected<Error> unexpected(std::string_view wanted) const {
    std::string found = token_.empty() ? "the end" : fmt::format("'{}'", token_);
    return fail(ErrorKind::invalid, "selector \"{}\": found {}, expected {}", text_, found, wanted);
  }

  Result<void> parse_requirement(Selector& selector) {
    bool negated = token_ == "!";
    if (negated) next();
    if (!at_word()) return unexpected("a label");
    std::string key(token_);
    next();
    if (negated && !at_end_of_requirement()) return unexpected("',' or the end");
    if (at_end_of_requirement()) return add(selector, key, negated ? Operator::does_not_exist : Operator::exists, {});

    std::string_view op = token_;
    if (op == "in" || op == "notin") {
      next();
      TRY_ASSIGN(std::vector<std::string> values, parse_set());
      return add(selector, key, op == "in" ? Operator::in : Operator::not_in, std::move(values));
    }
    bool known = op == "=" || op == "==" || op == "!=" || op == ">" || op == "<";
    if (!known) return unexpected("in, notin, =, ==, !=, > or <");
    next();
    std::string value;
    if (!at_end_of_requirement()) {
      if (!at_word()) return unexpected("a value");
      value = token_;
      next();
    }
    Operator exact = op == "!="  ? Operator::not_in
                     : op == ">" ? Operator::greater
                     : op == "<" ? Operator::less
                                 : Operator::in;
    return add(selector, key, exact, {value});
  }

  // "(a,b)"; between commas may be nothing, which is the empty value.
  Result<std::vector<std::string>> parse_set() {
    if (token_ != "(") return unexpected("'('");
    std::vector<std::string> values;
    next();
    while (true) {
      if (at_word()) {
        values.emplace_back(token_);
        next();
      } else {
        values.emplace_back();
      }
      if (token_ == ")") break;
      if (token_ != ",") return unexpected("',' or ')'");
      next();
    }
    next();
    return values;
  }

  Result<void> add(Selector& selector, std::string key, Operator op, std::vector<std::string> values) {
    Result<void> added = selector.add(std::move(key), op, std::move(values));
    if (!added) return fail(std::move(added).error().in(fmt::format("selector \"{}\" is not valid", text_)));
    return {};
  }

  std::string_view text_;
  std::string_view token_;  // empty at the end
  size_t at_ = 0;
};

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Result<Selector> Selector::parse(std::string_view text) { return SelectorParser(text).parse(); }

Result<Selector> Selector::from_json(const Json& label_selector) {
  if (label_selector.is_null()) return nothing();
  if (!label_selector.is_object()) return fail(ErrorKind::invalid, "a label selector must be an object");
  Selector selector;
  for (const auto& [key, value] : label_selector["matchLabels"].members()) {
    if (!value.is_string()) return fail(ErrorKind::invalid, "matchLabels: the value of {} must be a string", key);
    TRY(selector.add(key, Operator::in, {*value.if_string()}));
  }
  for (const Json& expression : label_selector["matchExpressions"].items()) {
    std::string_view name = expression["operator"].string_or("");
    Operator op;
    if (name == "In") op = Operator::in;
    else if (name == "NotIn") op = Operator::not_in;
    else if (name == "Exists") op = Operator::exists;
    else if (name == "DoesNotExist") op = Operator::does_not_exist;
    else
      return fail(ErrorKind::invalid, "matchExpressions: operator \"{}\" must be In, NotIn, Exists or DoesNotExist",
                  name);
    std::vector<std::string> values;
    for (const Json& value : expression["values"].items()) {
      if (!value.is_string()) return fail(ErrorKind::invalid, "matchExpressions: values must be strings");
      values.push_back(*value.if_string());
    }
    TRY(selector.add(std::string(expression["key"].string_or("")), op, std::move(values)));
  }
  return selector;
}

Result<Selector> Selector::from_service(const Json& labels) {
  if (labels.members().empty()) return nothing();
  Selector selector;
  for (const auto& [key, value] : labels.members()) {
    if (!value.is_string()) return fail(ErrorKind::invalid, "selector: the value of {} must be a string", key);
    TRY(selector.add(key, Operator::in, {*value.if_string()}));
  }
  return selector;
}

Result<void> Selector::add(std::string key, Operator op, std::vector<std::string> values) {
  TRY(check_label_key(key));
  for (const std::string& value : values) TRY(check_label_value(value));
  bool wants_values = op != Operator::exists && op != Operator::does_not_exist;
  if (wants_values && values.empty()) return fail(ErrorKind::invalid, "label \"{}\": In and NotIn need values", key);
  if (!wants_values && !values.empty())
    return fail(ErrorKind::invalid, "label \"{}\": Exists and DoesNotExist take no values", key);
  if ((op == Operator::greater || op == Operator::less) && !to_integer(values[0]))
    return fail(ErrorKind::invalid, "label \"{}\": > and < need an integer", key);
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  requirements_.push_back({.key = std::move(key), .op = op, .values = std::move(values)});
  return {};
}

bool Selector::Requirement::matches(const Json& labels) const {
  const Json* label = labels.members().find(key);
  switch (op) {
    case Operator::exists: return label != nullptr;
    case Operator::does_not_exist: return label == nullptr;
    case Operator::in: return label && std::ranges::binary_search(values, label->string_or(""));
    case Operator::not_in: return !label || !std::ranges::binary_search(values, label->string_or(""));
    case Operator::greater:
    case Operator::less: {
      std::optional<int64_t> value = label ? to_integer(label->string_or("")) : std::nullopt;
      if (!value) return false;
      int64_t bound = *to_integer(values[0]);
      return op == Operator::greater ? *value > bound : *value < bound;
    }
  }
  return false;
}

bool Selector::matches(const Json& labels) const {
  if (nothing_) return false;
  return std::ranges::all_of(requirements_,
                             [&](const Requirement& requirement) { return requirement.matches(labels); });
}

std::string Selector::Requirement::text() const {
  switch (op) {
    case Operator::exists: return key;
    case Operator::does_not_exist: return "!" + key;
    case Operator::greater: return key + ">" + values[0];
    case Operator::less: return key + "<" + values[0];
    case Operator::in:
    case Operator::not_in: break;
  }
  bool in = op == Operator::in;
  if (values.size() == 1) return key + (in ? "=" : "!=") + values[0];
  return fmt::format("{} {} ({})", key, in ? "in" : "notin", fmt::join(values, ","));
}

std::string Selector::text() const {
  std::string out;
  for (const Requirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += requirement.text();
  }
  return out;
}

}  // namespace fairlead::object
