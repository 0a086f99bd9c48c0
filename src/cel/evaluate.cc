#include <re2/re2.h>

#include <cmath>

#include "cel/cel.h"
#include "cel/internal/node.h"

namespace fairlead::cel {
namespace {

std::unexpected<Error> no_such_key(const Value& key) {
  std::string name = key.text();
  if (auto text = key.if_string()) name = *text;
  if (const double* number = key.if_double()) name = text_of(*number);
  return fail(ErrorKind::invalid, "no such key: {}", name);
}

// The name of a type as the API server's own errors have it.
std::string_view go_name(const Value& value) {
  if (value.is_null()) return "types.Null";
  if (value.if_bool() != nullptr) return "types.Bool";
  if (value.if_int() != nullptr) return "types.Int";
  if (value.if_uint() != nullptr) return "types.Uint";
  if (value.if_double() != nullptr) return "types.Double";
  if (value.if_string()) return "types.String";
  if (value.if_bytes() != nullptr) return "types.Bytes";
  return "*types.Type";
}

Result<size_t> position_in(const Value& list, const Value& index) {
  int64_t at = -1;
  if (const int64_t* value = index.if_int()) {
    at = *value;
  } else if (const uint64_t* big = index.if_uint()) {
    if (*big > static_cast<uint64_t>(INT64_MAX))
      return fail(ErrorKind::invalid, "unsupported index value {} in list", *big);
    at = static_cast<int64_t>(*big);
  } else if (const double* number = index.if_double()) {
    if (std::trunc(*number) != *number || std::abs(*number) >= 9223372036854775808.0)
      return fail(ErrorKind::invalid, "unsupported index value {} in list", text_of(*number));
    at = static_cast<int64_t>(*number);
  } else {
    return fail(ErrorKind::invalid, "unsupported index type '{}' in list", index.type_name());
  }
  if (at < 0 || static_cast<uint64_t>(at) >= list.size())
    return fail(ErrorKind::invalid, "index out of bounds: {}", at);
  return static_cast<size_t>(at);
}

class Evaluator {
 public:
  Evaluator(const Bindings& bindings, size_t& budget) : bindings_(bindings), cost_(budget) {}

  Result<Value> evaluate(const Node& node) {
    if (!cost_.spend(1)) return fail_cost();
    switch (node.kind) {
      case Node::Kind::constant: return node.constant;
      case Node::Kind::name: return named(node.text);
      case Node::Kind::select: return select(node);
      case Node::Kind::has: return has(node);
      case Node::Kind::index: return index(node);
      case Node::Kind::call: return call(node);
      case Node::Kind::matches: return matches(node);
      case Node::Kind::list: return list(node);
      case Node::Kind::map: return map(node);
      case Node::Kind::message: return message(node);
      case Node::Kind::conditional: return conditional(node);
      case Node::Kind::all_true: return combine(node, false);
      case Node::Kind::any_true: return combine(node, true);
      case Node::Kind::all: return fold_to_bool(node, false);
      case Node::Kind::exists: return fold_to_bool(node, true);
      case Node::Kind::exists_one: return exists_one(node);
      case Node::Kind::filter:
      case Node::Kind::transform:
      case Node::Kind::transform_some: return fold_to_list(node);
    }
    return Value();
  }

 private:
  Value named(std::string_view name) const {
    for (auto it = scope_.rbegin(); it != scope_.rend(); ++it)
      if (it->first == name) return it->second;
    for (const auto& [bound, value] : bindings_)
      if (bound == name) return value;
    return {};
  }

  Result<Value> qualify(const Value& value, const Value& key) {
    // Keys are found by a scan.
    size_t length = key.if_string().value_or("").size();
    if (!cost_.spend(walk_cost(value.is_map() ? value.size() + length : length))) return fail_cost();
    if (value.if_message() != nullptr) return fail_message();
    // No key of anything that there is.
    if (key.is_list() || key.is_map() || key.if_record() != nullptr) return no_such_overload();
    if (const Record* record = value.if_record()) {
      auto name = key.if_string();
      std::optional<Result<Value>> field = name ? record->field(*name) : std::nullopt;
      if (!field) return no_such_key(key);
      return *std::move(field);
    }
    if (value.is_list()) {
      TRY_ASSIGN(size_t at, position_in(value, key));
      return value.item(at);
    }
    std::optional<Value> found = value.find(key);
    if (!found) return no_such_key(key);
    return *std::move(found);
  }

  Result<Value> select(const Node& node) {
    TRY_ASSIGN(Value value, evaluate(*node.parts[0]));
    return qualify(value, Value::view(node.text));
  }

  Result<Value> index(const Node& node) {
    TRY_ASSIGN(Value value, evaluate(*node.parts[0]));
    TRY_ASSIGN(Value key, evaluate(*node.parts[1]));
    return qualify(value, key);
  }

  Result<Value> has(const Node& node) {
    TRY_ASSIGN(Value value, evaluate(*node.parts[0]));
    Value key = Value::view(node.text);
    if (const Record* record = value.if_record()) {
      std::optional<Result<Value>> field = record->field(node.text);
      if (field && !*field && field->error().kind() == ErrorKind::limit) return *std::move(field);
      return Value(field.has_value());
    }
    if (value.if_message() != nullptr) return fail_message();
    if (value.is_list()) return fail(ErrorKind::invalid, "unsupported index type 'string' in list");
    return Value(value.find(key).has_value());
  }

  Result<Value> call(const Node& node) {
    std::vector<Value> arguments;
    arguments.reserve(node.parts.size());
    for (const auto& part : node.parts) {
      TRY_ASSIGN(Value argument, evaluate(*part));
      if (argument.if_record() != nullptr && !takes_records(node.function)) return fail_record();
      if (argument.if_message() != nullptr) return fail_message();
      arguments.push_back(std::move(argument));
    }
    return node.function(arguments, cost_);
  }

  Result<Value> matches(const Node& node) {
    TRY_ASSIGN(Value value, evaluate(*node.parts[0]));
    TRY_ASSIGN(Value expression, evaluate(*node.parts[1]));
    auto text = value.if_string();
    auto pattern = expression.if_string();
    if (!text || !pattern) return no_such_overload();
    if (!cost_.spend((1 + text->size() / 10) * (1 + pattern->size() / 4))) return fail_cost();
    std::shared_ptr<const re2::RE2> compiled = node.pattern;
    if (compiled == nullptr) {
      TRY_ASSIGN(compiled, compile_pattern(*pattern));
    }
    return Value(re2::RE2::PartialMatch(re2::StringPiece(text->data(), text->size()), *compiled));
  }

  Result<Value> list(const Node& node) {
    Value::List items;
    items.reserve(node.parts.size());
    for (const auto& part : node.parts) {
      TRY_ASSIGN(Value item, evaluate(*part));
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }

  Result<Value> map(const Node& node) {
    Value::Map entries;
    for (size_t i = 0; i + 1 < node.parts.size(); i += 2) {
      TRY_ASSIGN(Value key, evaluate(*node.parts[i]));
      TRY_ASSIGN(Value value, evaluate(*node.parts[i + 1]));
      if (!cost_.spend(1 + entries.size() / 10)) return fail_cost();
      if (key.is_list() || key.is_map() || key.if_record() != nullptr) return no_such_overload();
      // The last one of a key stays.
      bool replaced = false;
      for (auto& [name, held] : entries) {
        if (!name.equals(key)) continue;
        held = value;
        replaced = true;
        break;
      }
      if (!replaced) entries.emplace_back(std::move(key), std::move(value));
    }
    return Value(std::move(entries));
  }

  Result<Value> message(const Node& node) {
    Value::Message made{.type = node.text, .fields = {}};
    for (size_t i = 0; i < node.parts.size(); ++i) {
      TRY_ASSIGN(Value value, evaluate(*node.parts[i]));
      made.fields.emplace_back(node.fields[i], std::move(value));
    }
    return Value(std::move(made));
  }

  Result<Value> conditional(const Node& node) {
    TRY_ASSIGN(Value condition, evaluate(*node.parts[0]));
    const bool* yes = condition.if_bool();
    if (yes == nullptr) return no_such_overload();
    return evaluate(*node.parts[*yes ? 1 : 2]);
  }

  // One term that decides makes the errors of all others void. Otherwise what cannot be told counts before what is
  // wrong: it might have decided. (A budget that is used up is used up for all terms that follow.)
  struct Decision {
    bool decisive;
    std::optional<Error> error;

    // True once it is decided.
    bool take(const Result<Value>& term) {
      if (!term) {
        bool unknown = term.error().kind() == ErrorKind::limit;
        if (!error || (unknown && error->kind() != ErrorKind::limit)) error = term.error();
        return false;
      }
      const bool* value = term->if_bool();
      if (value == nullptr && !error) error = Error(ErrorKind::invalid, "no such overload");
      return value != nullptr && *value == decisive;
    }
    Result<Value> end() const {
      if (error) return std::unexpected(*error);
      return Value(!decisive);
    }
  };

  Result<Value> combine(const Node& node, bool decisive) {
    Decision decision{.decisive = decisive, .error = std::nullopt};
    for (const auto& part : node.parts) {
      Result<Value> term = evaluate(*part);
      if (decision.take(term)) return Value(decisive);
    }
    return decision.end();
  }

  Result<Value> range_of(const Node& node) {
    TRY_ASSIGN(Value range, evaluate(*node.parts[0]));
    if (range.if_record() != nullptr) return fail_record();
    if (range.if_message() != nullptr) return fail_message();
    if (!range.is_list() && !range.is_map())
      return fail(ErrorKind::invalid, "got '{}', expected iterable type", go_name(range));
    return range;
  }

  Result<Value> with(const Node& macro, const Value& item, size_t part) {
    scope_.emplace_back(macro.text, item);
    Result<Value> result = evaluate(*macro.parts[part]);
    scope_.pop_back();
    return result;
  }

  static Value element(const Value& range, size_t i) { return range.is_list() ? range.item(i) : range.key(i); }

  Result<Value> fold_to_bool(const Node& node, bool decisive) {
    TRY_ASSIGN(Value range, range_of(node));
    Decision decision{.decisive = decisive, .error = std::nullopt};
    for (size_t i = 0; i < range.size(); ++i) {
      Result<Value> term = with(node, element(range, i), 1);
      if (decision.take(term)) return Value(decisive);
    }
    return decision.end();
  }

  Result<bool> holds(const Node& node, const Value& item) {
    TRY_ASSIGN(Value value, with(node, item, 1));
    const bool* yes = value.if_bool();
    if (yes == nullptr) return no_such_overload();
    return *yes;
  }

  Result<Value> exists_one(const Node& node) {
    TRY_ASSIGN(Value range, range_of(node));
    size_t count = 0;
    for (size_t i = 0; i < range.size(); ++i) {
      TRY_ASSIGN(bool yes, holds(node, element(range, i)));
      if (yes) ++count;
    }
    return Value(count == 1);
  }

  Result<Value> fold_to_list(const Node& node) {
    TRY_ASSIGN(Value range, range_of(node));
    Value::List items;
    for (size_t i = 0; i < range.size(); ++i) {
      Value item = element(range, i);
      if (node.kind != Node::Kind::transform) {
        TRY_ASSIGN(bool yes, holds(node, item));
        if (!yes) continue;
      }
      if (node.kind != Node::Kind::filter) {
        TRY_ASSIGN(item, with(node, item, node.kind == Node::Kind::transform ? 1 : 2));
      }
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }

  const Bindings& bindings_;
  Cost cost_;
  std::vector<std::pair<std::string_view, Value>> scope_;
};

}  // namespace

Result<Value> Program::evaluate(const Bindings& bindings, size_t& budget) const {
  return Evaluator(bindings, budget).evaluate(*root_);
}

Result<Value> Program::evaluate(const Bindings& bindings) const {
  size_t budget = kCostLimit;
  return evaluate(bindings, budget);
}

}  // namespace fairlead::cel
