#include "yaml/internal/problem.h"

namespace fairlead::yaml {
namespace {

struct Wording {
  std::string_view problem;
  std::string_view what;
  // Where to point: where it went wrong, or where what went wrong begins.
  bool at_context = false;
  // Says also in which line the object, array or string begins.
  std::string_view begun;
};

constexpr std::string_view kNoTabs = "a tab cannot indent; use spaces";

constexpr Wording kWordings[] = {
    {"mapping values are not allowed in this context",
     "a ':' is not allowed here; quote the value, or check the indentation", false, ""},
    {"mapping keys are not allowed in this context", "a key is not allowed here; check the indentation", false, ""},
    {"block sequence entries are not allowed in this context",
     "a '-' is not allowed here; an array starts on a line of its own", false, ""},
    {"did not find expected key", "expected a key here; check the indentation", false, "object"},
    {"did not find expected '-' indicator", "expected a '-' here; check the indentation", false, "array"},
    {"did not find expected ',' or ']'", "expected ',' or ']' here", false, "array"},
    {"did not find expected ',' or '}'", "expected ',' or '}' here", false, "object"},
    {"did not find expected node content", "expected a value here", false, ""},
    {"could not find expected ':'", "expected a key with a ':' behind it here", true, ""},
    {"did not find expected <document start>", "something follows the end of the value", false, ""},
    {"found a tab character that violates indentation", kNoTabs, false, ""},
    {"found a tab character where an indentation space is expected", kNoTabs, false, ""},
    {"did not find expected alphabetic or numeric character",
     "expected a name behind '*' or '&'; quote it if it is meant as text", false, ""},
    {"found unknown escape character", "unknown escape in a double-quoted string; write \\\\ for a backslash", false,
     ""},
    {"found invalid Unicode character escape code", "this escape is no Unicode character", false, ""},
    {"found unexpected ':'", "a ':' is not allowed here; quote the value", false, ""},
    {"found undefined tag handle", "this tag has a handle that nothing declares", false, ""},
    {"found incompatible YAML document", "this version of YAML is unknown; Kubernetes reads YAML 1.1", false, ""},
};

std::string_view or_empty(const char* text) { return text ? std::string_view(text) : std::string_view(); }

std::string unknown_token(char c) {
  if (c == '\t') return std::string(kNoTabs);
  if (c == '%' || c == '@' || c == '`') return fmt::format("a value cannot start with '{}'; quote it", c);
  return "this character cannot start a value; quote it";
}

}  // namespace

Problem describe_problem(const yaml_parser_t& parser, const Place& place) {
  if (parser.error == YAML_MEMORY_ERROR) return {.what = "no memory left to read it"};
  std::string_view raw = or_empty(parser.problem);
  std::string_view context = or_empty(parser.context);
  auto at = [](std::string what, yaml_mark_t mark) {
    return Problem{.what = std::move(what), .line = mark.line, .column = mark.column};
  };
  auto number = [&](yaml_mark_t mark) { return place.first_line + mark.line; };

  if (raw == "found character that cannot start any token") {
    yaml_mark_t mark = parser.problem_mark;
    return at(unknown_token(byte_at(place, mark.line, mark.column)), mark);
  }
  if (context == "while scanning a quoted scalar" &&
      (raw == "found unexpected end of stream" || raw == "found unexpected document indicator"))
    return at("the string that begins here is not closed", parser.context_mark);
  if (raw == "did not find expected <document start>" && place.text.starts_with('%'))
    return at("directives cannot be used: documents are split at --- before they are read", {});

  for (const Wording& wording : kWordings) {
    if (wording.problem != raw) continue;
    std::string what(wording.what);
    if (!wording.begun.empty() && !context.empty())
      what += fmt::format(" (the {} begins in line {})", wording.begun, number(parser.context_mark));
    return at(std::move(what), wording.at_context ? parser.context_mark : parser.problem_mark);
  }
  std::string what(context);
  if (!what.empty()) what += ": ";
  return at(what + std::string(raw), parser.problem_mark);
}

std::string describe_reader_problem(const yaml_parser_t& parser) {
  if (or_empty(parser.problem) != "control characters are not allowed") return "this is not UTF-8 text";
  if (parser.problem_value == 0) return "there is a NUL byte";
  return fmt::format("the control character U+{:04X} is not allowed", parser.problem_value);
}

}  // namespace fairlead::yaml
