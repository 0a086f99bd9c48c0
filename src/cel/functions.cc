#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "cel/internal/node.h"

namespace fairlead::cel {
namespace {

using Arguments = std::span<const Value>;

std::unexpected<Error> no_overload_for(std::string_view function, Arguments arguments) {
  std::vector<std::string_view> types;
  for (const Value& argument : arguments) types.push_back(argument.type_name());
  return fail(ErrorKind::invalid, "no such overload: {}({})", function, fmt::join(types, ", "));
}
std::unexpected<Error> no_conversion(const Value& from, std::string_view to) {
  return fail(ErrorKind::invalid, "type conversion error from '{}' to '{}'", from.type_name(), to);
}

// Characters, not bytes: each byte that does not continue one starts one.
bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

bool is_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    auto c = static_cast<unsigned char>(text[i]);
    size_t more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 4;
    if (more == 4 || i + more >= text.size()) return false;
    uint32_t rune = more == 0 ? c : c & (0x3FU >> more);
    for (size_t k = 1; k <= more; ++k) {
      auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      rune = rune << 6 | (next & 0x3F);
    }
    if ((more == 2 && rune < 0x800) || (more == 3 && rune < 0x10000) || rune > 0x10FFFF ||
        (rune >= 0xD800 && rune < 0xE000))
      return false;
    i += more + 1;
  }
  return true;
}

// ---- conversions

Result<Value> to_string(Arguments a, Cost& cost) {
  const Value& from = a[0];
  if (from.if_string()) return from;
  if (const int64_t* x = from.if_int()) return Value(fmt::format("{}", *x));
  if (const uint64_t* x = from.if_uint()) return Value(fmt::format("{}", *x));
  if (const double* x = from.if_double()) return Value(text_of(*x));
  if (const bool* x = from.if_bool()) return Value(std::string(*x ? "true" : "false"));
  if (const std::string* x = from.if_bytes()) {
    if (!cost.spend(walk_cost(x->size()))) return fail_cost();
    if (!is_utf8(*x)) return fail(ErrorKind::invalid, "invalid UTF-8 in bytes, cannot convert to string");
    return Value(*x);
  }
  return no_overload_for("string", a);
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Value> to_int(Arguments a, Cost&) {
  const Value& from = a[0];
  if (from.if_int() != nullptr) return from;
  if (const uint64_t* x = from.if_uint()) {
    if (*x > static_cast<uint64_t>(INT64_MAX)) return overflow();
    return Value(static_cast<int64_t>(*x));
  }
  if (const double* x = from.if_double()) {
    if (!(*x > -9223372036854775808.0 && *x < 9223372036854775808.0)) return overflow();
    return Value(static_cast<int64_t>(*x));
  }
  if (auto x = from.if_string()) {
    if (auto value = parse_whole<int64_t>(*x)) return Value(*value);
    return no_conversion(from, "int");
  }
  return no_overload_for("int", a);
}

Result<Value> to_uint(Arguments a, Cost&) {
  const Value& from = a[0];
  if (from.if_uint() != nullptr) return from;
  if (const int64_t* x = from.if_int()) {
    if (*x < 0) return unsigned_overflow();
    return Value(static_cast<uint64_t>(*x));
  }
  if (const double* x = from.if_double()) {
    if (!(*x >= 0 && *x < 18446744073709551616.0)) return unsigned_overflow();
    return Value(static_cast<uint64_t>(*x));
  }
  if (auto x = from.if_string()) {
    // Unlike the others, this one takes no sign.
    if (auto value = x->starts_with('+') ? std::nullopt : parse_whole<uint64_t>(*x)) return Value(*value);
    return no_conversion(from, "uint");
  }
  return no_overload_for("uint", a);
}

Result<Value> to_double(Arguments a, Cost&) {
  const Value& from = a[0];
  if (from.if_double() != nullptr) return from;
  if (const int64_t* x = from.if_int()) return Value(static_cast<double>(*x));
  if (const uint64_t* x = from.if_uint()) return Value(static_cast<double>(*x));
  if (auto x = from.if_string()) {
    if (auto value = parse_whole<double>(*x)) return Value(*value);
    return no_conversion(from, "double");
  }
  return no_overload_for("double", a);
}

Result<Value> to_bool(Arguments a, Cost&) {
  const Value& from = a[0];
  if (from.if_bool() != nullptr) return from;
  if (auto x = from.if_string()) {
    static constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
    static constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
    if (std::find(kTrue.begin(), kTrue.end(), *x) != kTrue.end()) return Value(true);
    if (std::find(kFalse.begin(), kFalse.end(), *x) != kFalse.end()) return Value(false);
    return no_conversion(from, "bool");
  }
  return no_overload_for("bool", a);
}

Result<Value> to_bytes(Arguments a, Cost& cost) {
  const Value& from = a[0];
  if (from.if_bytes() != nullptr) return from;
  if (auto x = from.if_string()) {
    if (!cost.spend(walk_cost(x->size()))) return fail_cost();
    return Value(Value::Bytes{std::string(*x)});
  }
  return no_overload_for("bytes", a);
}

Result<Value> as_is(Arguments a, Cost&) { return a[0]; }
Result<Value> type_of(Arguments a, Cost&) { return Value(Value::Type{a[0].type_name()}); }

// ---- functions

Result<Value> size_of(Arguments a, Cost& cost) {
  if (auto x = a[0].if_string()) {
    if (!cost.spend(walk_cost(x->size()))) return fail_cost();
    return Value(static_cast<int64_t>(characters(*x)));
  }
  if (const std::string* x = a[0].if_bytes()) return Value(static_cast<int64_t>(x->size()));
  if (a[0].is_list() || a[0].is_map()) return Value(static_cast<int64_t>(a[0].size()));
  return fail(ErrorKind::invalid, "no such overload: size");
}

// Both arguments as strings, paid for.
struct Two {
  std::string_view text;
  std::string_view other;
};
Result<Two> two_strings(Arguments a, Cost& cost) {
  auto x = a[0].if_string();
  auto y = a[1].if_string();
  if (!x || !y) return no_such_overload();
  if (!cost.spend(walk_cost(x->size() + y->size()))) return fail_cost();
  return Two{.text = *x, .other = *y};
}

// A search may look at every pair.
size_t search_cost(std::string_view text, std::string_view wanted) {
  return (1 + walk_cost(text.size())) * (1 + walk_cost(wanted.size()));
}

Result<Value> starts_with(Arguments a, Cost& cost) {
  TRY_ASSIGN(Two two, two_strings(a, cost));
  return Value(two.text.starts_with(two.other));
}
Result<Value> ends_with(Arguments a, Cost& cost) {
  TRY_ASSIGN(Two two, two_strings(a, cost));
  return Value(two.text.ends_with(two.other));
}
Result<Value> contains(Arguments a, Cost& cost) {
  auto x = a[0].if_string();
  auto y = a[1].if_string();
  if (!x || !y) return no_such_overload();
  if (!cost.spend(search_cost(*x, *y))) return fail_cost();
  return Value(x->find(*y) != std::string_view::npos);
}

template <class Change>
Result<Value> changed(std::string_view function, Arguments a, Cost& cost, Change change) {
  auto x = a[0].if_string();
  if (!x) return no_overload_for(function, a);
  if (!cost.spend(walk_cost(x->size()))) return fail_cost();
  return Value(change(*x));
}

Result<Value> lower_ascii(Arguments a, Cost& cost) {
  return changed("lowerAscii", a, cost, [](std::string_view text) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  });
}
Result<Value> upper_ascii(Arguments a, Cost& cost) {
  return changed("upperAscii", a, cost, [](std::string_view text) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
  });
}

Result<Value> trim(Arguments a, Cost& cost) {
  return changed("trim", a, cost, [](std::string_view text) {
    static constexpr std::array<std::string_view, 25> kSpaces = {
        " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00A0", "\u1680",
        "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
        "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};
    for (bool more = true; more;) {
      more = false;
      for (std::string_view space : kSpaces) {
        if (text.starts_with(space)) {
          text.remove_prefix(space.size());
          more = true;
        }
        if (text.ends_with(space)) {
          text.remove_suffix(space.size());
          more = true;
        }
      }
    }
    return std::string(text);
  });
}

size_t first_character(std::string_view text) {
  size_t size = std::min<size_t>(1, text.size());
  while (size < text.size() && !starts_character(text[size])) ++size;
  return size;
}

Result<Value> split(Arguments a, Cost& cost) {
  if (!a[0].if_string() || !a[1].if_string() || (a.size() == 3 && a[2].if_int() == nullptr))
    return no_overload_for("split", a);
  TRY_ASSIGN(Two two, two_strings(a, cost));
  if (!cost.spend(search_cost(two.text, two.other))) return fail_cost();
  int64_t limit = a.size() == 3 ? *a[2].if_int() : -1;
  Value::List parts;
  if (limit == 0) return Value(std::move(parts));
  std::string_view rest = two.text;
  while (limit < 0 || static_cast<int64_t>(parts.size()) < limit - 1) {
    if (!cost.spend(1)) return fail_cost();
    if (two.other.empty()) {
      size_t size = first_character(rest);
      if (size == rest.size()) break;
      parts.emplace_back(std::string(rest.substr(0, size)));
      rest.remove_prefix(size);
      continue;
    }
    size_t at = rest.find(two.other);
    if (at == std::string_view::npos) break;
    parts.emplace_back(std::string(rest.substr(0, at)));
    rest.remove_prefix(at + two.other.size());
  }
  // An empty text cut at nothing has no parts at all.
  if (!two.text.empty() || !two.other.empty()) parts.emplace_back(std::string(rest));
  return Value(std::move(parts));
}

Result<Value> join(Arguments a, Cost& cost) {
  std::string_view between;
  if (a.size() == 2) {
    auto text = a[1].if_string();
    if (!text) return no_overload_for("join", a);
    between = *text;
  }
  if (!a[0].is_list()) return no_overload_for("join", a);
  std::string out;
  for (size_t i = 0; i < a[0].size(); ++i) {
    Value item = a[0].item(i);
    auto text = item.if_string();
    if (!text) return no_overload_for("join", a);
    if (!cost.spend(1 + walk_cost(text->size() + between.size()))) return fail_cost();
    if (i > 0) out += between;
    out += *text;
  }
  return Value(std::move(out));
}

Result<Value> replace(Arguments a, Cost& cost) {
  auto with = a[2].if_string();
  if (!a[0].if_string() || !a[1].if_string() || !with || (a.size() == 4 && a[3].if_int() == nullptr))
    return no_overload_for("replace", a);
  TRY_ASSIGN(Two two, two_strings(a, cost));
  if (!cost.spend(search_cost(two.text, two.other))) return fail_cost();
  int64_t limit = a.size() == 4 ? *a[3].if_int() : -1;
  std::string out;
  std::string_view rest = two.text;
  for (int64_t done = 0; limit < 0 || done < limit; ++done) {
    // Nothing is found before every character and at the end.
    size_t at = two.other.empty() ? (done == 0 ? 0 : first_character(rest)) : rest.find(two.other);
    if (at == std::string_view::npos || (two.other.empty() && done > 0 && rest.empty())) break;
    if (!cost.spend(1 + walk_cost(at + with->size()))) return fail_cost();
    out.append(rest.substr(0, at)).append(*with);
    rest.remove_prefix(at + two.other.size());
  }
  return Value(out.append(rest));
}

Result<Value> substring(Arguments a, Cost& cost) {
  auto text = a[0].if_string();
  const int64_t* from = a[1].if_int();
  if (!text || from == nullptr || (a.size() == 3 && a[2].if_int() == nullptr)) return no_overload_for("substring", a);
  if (!cost.spend(walk_cost(text->size()))) return fail_cost();
  auto length = static_cast<int64_t>(characters(*text));
  int64_t to = a.size() == 3 ? *a[2].if_int() : length;
  if (a.size() == 3 && *from > to)
    return fail(ErrorKind::invalid, "invalid substring range. start: {}, end: {}", *from, to);
  if (*from < 0 || *from > length) return fail(ErrorKind::invalid, "index out of range: {}", *from);
  if (to < 0 || to > length) return fail(ErrorKind::invalid, "index out of range: {}", to);
  size_t begin = 0;
  for (int64_t i = 0; i < *from; ++i) begin += first_character(text->substr(begin));
  size_t end = begin;
  for (int64_t i = *from; i < to; ++i) end += first_character(text->substr(end));
  return Value(std::string(text->substr(begin, end - begin)));
}

// A key as a step of a JSON pointer.
Result<Value> escape_key(std::span<const Value> a, Cost& cost) {
  auto key = a[0].if_string();
  if (!key) return no_such_overload();
  if (!cost.spend(walk_cost(key->size()))) return fail_cost();
  std::string escaped;
  for (char c : *key) {
    if (c == '~') escaped += "~0";
    else if (c == '/') escaped += "~1";
    else escaped += c;
  }
  return Value(std::move(escaped));
}

enum class Form { global, member, both };
struct Entry {
  std::string_view name;
  Form form;
  size_t arguments;
  Function function;
};

constexpr std::array<Entry, 24> kFunctions = {{
    {"size", Form::both, 1, size_of},
    {"string", Form::global, 1, to_string},
    {"int", Form::global, 1, to_int},
    {"uint", Form::global, 1, to_uint},
    {"double", Form::global, 1, to_double},
    {"bool", Form::global, 1, to_bool},
    {"bytes", Form::global, 1, to_bytes},
    {"dyn", Form::global, 1, as_is},
    {"type", Form::global, 1, type_of},
    {"startsWith", Form::member, 2, starts_with},
    {"endsWith", Form::member, 2, ends_with},
    {"contains", Form::member, 2, contains},
    {"lowerAscii", Form::member, 1, lower_ascii},
    {"upperAscii", Form::member, 1, upper_ascii},
    {"trim", Form::member, 1, trim},
    {"split", Form::member, 2, split},
    {"split", Form::member, 3, split},
    {"join", Form::member, 1, join},
    {"join", Form::member, 2, join},
    {"replace", Form::member, 3, replace},
    {"replace", Form::member, 4, replace},
    {"substring", Form::member, 2, substring},
    {"substring", Form::member, 3, substring},
    {"jsonpatch.escapeKey", Form::global, 1, escape_key},
}};

std::string_view words_of(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape: return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass: return "invalid character class";
    case re2::RE2::ErrorBadCharRange: return "invalid character class range";
    case re2::RE2::ErrorMissingBracket: return "missing closing ]";
    case re2::RE2::ErrorMissingParen: return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen: return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash: return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument: return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize: return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp: return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp: return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8: return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture: return "invalid named capture";
    default: return "invalid expression";
  }
}

}  // namespace

Function find_function(std::string_view name, bool with_receiver, size_t arguments) {
  for (const Entry& entry : kFunctions) {
    bool fits = entry.form == Form::both || (entry.form == Form::member) == with_receiver;
    if (entry.name == name && fits && entry.arguments == arguments) return entry.function;
  }
  return nullptr;
}

Result<std::shared_ptr<const re2::RE2>> compile_pattern(std::string_view pattern) {
  static constexpr size_t kMaxPattern = 4096;
  if (pattern.size() > kMaxPattern) return fail(ErrorKind::limit, "the pattern is longer than is evaluated here");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(int64_t{4} << 20);
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (compiled->ok()) return compiled;
  if (compiled->error_code() == re2::RE2::ErrorPatternTooLarge || compiled->error_code() == re2::RE2::ErrorInternal)
    return fail(ErrorKind::limit, "the pattern is larger than is evaluated here");
  return fail(ErrorKind::invalid, "error parsing regexp: {}: `{}`", words_of(compiled->error_code()),
              compiled->error_arg());
}

}  // namespace fairlead::cel
