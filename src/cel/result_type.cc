// What type an expression has, as far as its form alone tells.
#include <algorithm>
#include <array>

#include "cel/cel.h"
#include "cel/internal/node.h"

namespace fairlead::cel {
namespace {

struct Typed {
  std::string_view name;
  bool with_receiver;
  size_t arguments;
  std::string_view type;
};

std::string_view type_of_function(Function function) {
  static constexpr std::array<Typed, 20> kFunctions = {{
      {"size", false, 1, "int"},        {"string", false, 1, "string"},     {"int", false, 1, "int"},
      {"uint", false, 1, "uint"},       {"double", false, 1, "double"},     {"bool", false, 1, "bool"},
      {"bytes", false, 1, "bytes"},     {"startsWith", true, 2, "bool"},    {"endsWith", true, 2, "bool"},
      {"contains", true, 2, "bool"},    {"lowerAscii", true, 1, "string"},  {"upperAscii", true, 1, "string"},
      {"trim", true, 1, "string"},      {"join", true, 1, "string"},        {"join", true, 2, "string"},
      {"replace", true, 3, "string"},   {"replace", true, 4, "string"},     {"substring", true, 2, "string"},
      {"substring", true, 3, "string"}, {"split", true, 2, "list(string)"},
  }};
  for (const Typed& one : kFunctions)
    if (find_function(one.name, one.with_receiver, one.arguments) == function) return one.type;
  for (std::string_view sign : {"==", "!=", "<", "<=", ">", ">=", "in"})
    if (find_operator(sign, 2) == function) return "bool";
  return find_operator("!", 1) == function ? "bool" : "";
}

std::string_view type_of(const Node& node);

std::string_view common_type(const Node& a, const Node& b) {
  std::string_view type = type_of(a);
  return !type.empty() && type_of(b) == type ? type : std::string_view();
}

std::string_view type_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::constant: return node.constant.if_type() ? "" : node.constant.type_name();
    case Node::Kind::has:
    case Node::Kind::matches:
    case Node::Kind::all_true:
    case Node::Kind::any_true:
    case Node::Kind::all:
    case Node::Kind::exists:
    case Node::Kind::exists_one: return "bool";
    case Node::Kind::call: {
      if (std::string_view type = type_of_function(node.function); !type.empty()) return type;
      // Arithmetic is closed within a type.
      for (std::string_view sign : {"+", "-", "*", "/", "%"})
        if (find_operator(sign, 2) == node.function) return common_type(*node.parts[0], *node.parts[1]);
      return "";
    }
    case Node::Kind::message: return node.text;
    case Node::Kind::list: {
      if (node.parts.empty()) return "list(dyn)";
      bool patches = std::ranges::all_of(node.parts, [](const auto& part) { return type_of(*part) == "JSONPatch"; });
      return patches ? "list(JSONPatch)" : "";
    }
    case Node::Kind::conditional: return common_type(*node.parts[1], *node.parts[2]);
    default: return "";
  }
}

}  // namespace

std::string_view Program::result_type() const { return type_of(*root_); }

}  // namespace fairlead::cel
