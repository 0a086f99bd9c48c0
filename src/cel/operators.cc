#include <algorithm>
#include <array>
#include <cmath>

#include "cel/internal/node.h"

namespace fairlead::cel {
namespace {

using Arguments = std::span<const Value>;

// The API server's words depend on whether the left side takes part in such an operation at all.
std::unexpected<Error> no_operation(char sign, const Value& left) {
  bool takes_part = left.if_string() || left.if_int() != nullptr || left.if_uint() != nullptr ||
                    (sign != '%' && left.if_double() != nullptr) ||
                    (sign == '+' && (left.is_list() || left.if_bytes() != nullptr));
  if (takes_part) return no_such_overload();
  return fail(ErrorKind::invalid, "no such overload: _{}_", sign);
}

Result<Value> add(Arguments a, Cost& cost) {
  if (const int64_t *x = a[0].if_int(), *y = a[1].if_int(); x != nullptr && y != nullptr) {
    int64_t sum = 0;
    if (__builtin_add_overflow(*x, *y, &sum)) return overflow();
    return Value(sum);
  }
  if (const uint64_t *x = a[0].if_uint(), *y = a[1].if_uint(); x != nullptr && y != nullptr) {
    uint64_t sum = 0;
    if (__builtin_add_overflow(*x, *y, &sum)) return unsigned_overflow();
    return Value(sum);
  }
  if (const double *x = a[0].if_double(), *y = a[1].if_double(); x != nullptr && y != nullptr) return Value(*x + *y);
  if (auto x = a[0].if_string(), y = a[1].if_string(); x && y) {
    if (!cost.spend(walk_cost(x->size() + y->size()))) return fail_cost();
    return Value(std::string(*x).append(*y));
  }
  if (const std::string *x = a[0].if_bytes(), *y = a[1].if_bytes(); x != nullptr && y != nullptr) {
    if (!cost.spend(walk_cost(x->size() + y->size()))) return fail_cost();
    return Value(Value::Bytes{*x + *y});
  }
  if (a[0].is_list() && a[1].is_list()) {
    if (!cost.spend(a[0].size() + a[1].size())) return fail_cost();
    Value::List list;
    list.reserve(a[0].size() + a[1].size());
    for (const Value& part : a)
      for (size_t i = 0; i < part.size(); ++i) list.push_back(part.item(i));
    return Value(std::move(list));
  }
  return no_operation('+', a[0]);
}

Result<Value> subtract(Arguments a, Cost&) {
  if (const int64_t *x = a[0].if_int(), *y = a[1].if_int(); x != nullptr && y != nullptr) {
    int64_t rest = 0;
    if (__builtin_sub_overflow(*x, *y, &rest)) return overflow();
    return Value(rest);
  }
  if (const uint64_t *x = a[0].if_uint(), *y = a[1].if_uint(); x != nullptr && y != nullptr) {
    if (*y > *x) return unsigned_overflow();
    return Value(*x - *y);
  }
  if (const double *x = a[0].if_double(), *y = a[1].if_double(); x != nullptr && y != nullptr) return Value(*x - *y);
  return no_operation('-', a[0]);
}

Result<Value> multiply(Arguments a, Cost&) {
  if (const int64_t *x = a[0].if_int(), *y = a[1].if_int(); x != nullptr && y != nullptr) {
    int64_t result = 0;
    if (__builtin_mul_overflow(*x, *y, &result)) return overflow();
    return Value(result);
  }
  if (const uint64_t *x = a[0].if_uint(), *y = a[1].if_uint(); x != nullptr && y != nullptr) {
    uint64_t result = 0;
    if (__builtin_mul_overflow(*x, *y, &result)) return unsigned_overflow();
    return Value(result);
  }
  if (const double *x = a[0].if_double(), *y = a[1].if_double(); x != nullptr && y != nullptr) return Value(*x * *y);
  return no_operation('*', a[0]);
}

Result<Value> divide(Arguments a, Cost&) {
  if (const int64_t *x = a[0].if_int(), *y = a[1].if_int(); x != nullptr && y != nullptr) {
    if (*y == 0) return fail(ErrorKind::invalid, "division by zero");
    if (*x == INT64_MIN && *y == -1) return overflow();
    return Value(*x / *y);
  }
  if (const uint64_t *x = a[0].if_uint(), *y = a[1].if_uint(); x != nullptr && y != nullptr) {
    if (*y == 0) return fail(ErrorKind::invalid, "division by zero");
    return Value(*x / *y);
  }
  if (const double *x = a[0].if_double(), *y = a[1].if_double(); x != nullptr && y != nullptr) {
    if (*y == 0) return Value(std::isnan(*x) || *x == 0 ? NAN : std::copysign(INFINITY, *x) * std::copysign(1.0, *y));
    return Value(*x / *y);
  }
  return no_operation('/', a[0]);
}

Result<Value> remainder(Arguments a, Cost&) {
  if (const int64_t *x = a[0].if_int(), *y = a[1].if_int(); x != nullptr && y != nullptr) {
    if (*y == 0) return fail(ErrorKind::invalid, "modulus by zero");
    if (*x == INT64_MIN && *y == -1) return overflow();
    return Value(*x % *y);
  }
  if (const uint64_t *x = a[0].if_uint(), *y = a[1].if_uint(); x != nullptr && y != nullptr) {
    if (*y == 0) return fail(ErrorKind::invalid, "modulus by zero");
    return Value(*x % *y);
  }
  return no_operation('%', a[0]);
}

Result<Value> negate(Arguments a, Cost&) {
  if (const int64_t* x = a[0].if_int()) {
    if (*x == INT64_MIN) return overflow();
    return Value(-*x);
  }
  if (const double* x = a[0].if_double()) return Value(-*x);
  if (a[0].if_bool() != nullptr || a[0].if_string()) return no_such_overload();
  return fail(ErrorKind::invalid, "no such overload: -_");
}

Result<Value> is_not(Arguments a, Cost&) {
  if (const bool* x = a[0].if_bool()) return Value(!*x);
  return no_such_overload();
}

Result<Value> equal(Arguments a, Cost& cost) {
  TRY_ASSIGN(bool same, are_equal(a[0], a[1], cost));
  return Value(same);
}

Result<Value> not_equal(Arguments a, Cost& cost) {
  TRY_ASSIGN(bool same, are_equal(a[0], a[1], cost));
  return Value(!same);
}

Result<int> ordered(Arguments a, Cost& cost, std::string_view sign) {
  if (auto x = a[0].if_string(), y = a[1].if_string(); x && y && !cost.spend(walk_cost(std::min(x->size(), y->size()))))
    return fail_cost();
  if (std::optional<int> order = a[0].compare(a[1])) return *order;
  if (a[0].is_number() && a[1].is_number()) return fail(ErrorKind::invalid, "NaN values cannot be ordered");
  // Values that have an order, but not with what is on the other side.
  if (a[0].is_number() || a[0].if_bool() != nullptr || a[0].if_string() || a[0].if_bytes() != nullptr)
    return no_such_overload();
  return fail(ErrorKind::invalid, "no such overload: _{}_", sign);
}

Result<Value> less(Arguments a, Cost& cost) {
  TRY_ASSIGN(int order, ordered(a, cost, "<"));
  return Value(order < 0);
}
Result<Value> less_or_equal(Arguments a, Cost& cost) {
  TRY_ASSIGN(int order, ordered(a, cost, "<="));
  return Value(order <= 0);
}
Result<Value> greater(Arguments a, Cost& cost) {
  TRY_ASSIGN(int order, ordered(a, cost, ">"));
  return Value(order > 0);
}
Result<Value> greater_or_equal(Arguments a, Cost& cost) {
  TRY_ASSIGN(int order, ordered(a, cost, ">="));
  return Value(order >= 0);
}

Result<Value> is_in(Arguments a, Cost& cost) {
  if (const Record* record = a[1].if_record()) {
    auto name = a[0].if_string();
    std::optional<Result<Value>> field = name ? record->field(*name) : std::nullopt;
    if (field && !*field && field->error().kind() == ErrorKind::limit) return *std::move(field);
    return Value(field.has_value());
  }
  if (a[1].is_list()) {
    for (size_t i = 0; i < a[1].size(); ++i) {
      Value item = a[1].item(i);
      if (!cost.spend(1)) return fail_cost();
      TRY_ASSIGN(bool same, are_equal(a[0], item, cost));
      if (same) return Value(true);
    }
    return Value(false);
  }
  if (a[1].is_map()) {
    if (!cost.spend(walk_cost(a[1].size()))) return fail_cost();
    return Value(a[1].find(a[0]).has_value());
  }
  return no_such_overload();
}

struct OperatorEntry {
  std::string_view sign;
  size_t arguments;
  Function function;
};

constexpr std::array<OperatorEntry, 14> kOperators = {{
    {"+", 2, add},
    {"-", 2, subtract},
    {"*", 2, multiply},
    {"/", 2, divide},
    {"%", 2, remainder},
    {"-", 1, negate},
    {"!", 1, is_not},
    {"==", 2, equal},
    {"!=", 2, not_equal},
    {"<", 2, less},
    {"<=", 2, less_or_equal},
    {">", 2, greater},
    {">=", 2, greater_or_equal},
    {"in", 2, is_in},
}};

}  // namespace

Result<bool> are_equal(const Value& a, const Value& b, Cost& cost) {
  if (a.if_record() != nullptr || b.if_record() != nullptr) {
    if (a.is_null() || b.is_null()) return false;
    return fail_record();
  }
  if (auto x = a.if_string(), y = b.if_string(); x && y) {
    if (!cost.spend(walk_cost(std::min(x->size(), y->size())))) return fail_cost();
    return *x == *y;
  }
  bool lists = a.is_list() && b.is_list();
  if (!lists && !(a.is_map() && b.is_map())) return a.equals(b);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    // Keys are found by a scan.
    if (!cost.spend(1 + (lists ? 0 : walk_cost(a.size())))) return fail_cost();
    Value key = lists ? Value() : a.key(i);
    std::optional<Value> mine = lists ? a.item(i) : a.find(key);
    std::optional<Value> theirs = lists ? b.item(i) : b.find(key);
    if (!mine || !theirs) return false;
    TRY_ASSIGN(bool same, are_equal(*mine, *theirs, cost));
    if (!same) return false;
  }
  return true;
}

bool takes_records(Function function) { return function == equal || function == not_equal || function == is_in; }

Function find_operator(std::string_view sign, size_t arguments) {
  for (const OperatorEntry& entry : kOperators)
    if (entry.sign == sign && entry.arguments == arguments) return entry.function;
  return nullptr;
}

}  // namespace fairlead::cel
