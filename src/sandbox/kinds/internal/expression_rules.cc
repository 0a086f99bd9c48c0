#include "sandbox/kinds/internal/expression_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/cel.h"
#include "sandbox/kinds/internal/validate_meta.h"

namespace fairlead::sandbox {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

void check_expression(const Json& expression, const std::string& at, std::string_view type,
                      const ExpressionVariables& variables, std::vector<Cause>& causes, cel::Purpose purpose) {
  Result<cel::Program> program = cel::compile(expression.string_or(""), variables, purpose);
  if (!program) {
    if (program.error().kind() == ErrorKind::limit) return;
    causes.push_back(invalid_value(at, expression, fmt::format("compilation failed: {}", program.error().what())));
    return;
  }
  std::string_view found = program->result_type();
  if (type.empty() || found.empty() || found == type) return;
  causes.push_back(invalid_value(at, expression, fmt::format("must evaluate to {} but got {}", type, found)));
}

void check_conditions(const Json& conditions, const std::string& at, const ExpressionVariables& variables,
                      std::vector<Cause>& causes) {
  constexpr size_t kMost = 64;
  const Json::Array& list = conditions.items();
  if (list.size() > kMost)
    causes.push_back(
        {"FieldValueTooMany", at, fmt::format("Too many: {}: must have at most {} items", list.size(), kMost)});
  std::vector<std::string_view> names;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string here = fmt::format("{}[{}]", at, i);
    if (is_blank(list[i]["expression"].string_or(""))) causes.push_back(required(here + ".expression", ""));
    else check_expression(list[i]["expression"], here + ".expression", "bool", variables, causes);
    std::string_view name = list[i]["name"].string_or("");
    if (name.empty()) {
      causes.push_back(required(here + ".name", ""));
      continue;
    }
    for (const std::string& flaw : qualified_name_flaws(name))
      causes.push_back(invalid_value(here + ".name", list[i]["name"], flaw));
    if (std::find(names.begin(), names.end(), name) != names.end())
      causes.push_back(duplicate_value(here + ".name", list[i]["name"]));
    names.push_back(name);
  }
}

}  // namespace fairlead::sandbox
