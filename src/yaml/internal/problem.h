// What libyaml complains about, in words for people who write manifests.
#pragma once

#include <yaml.h>

#include <string>

#include "yaml/internal/excerpt.h"

namespace fairlead::yaml {

struct Problem {
  std::string what;
  // From 0, in the text of the place.
  size_t line = 0;
  size_t column = 0;
};

// For every failure of the parser but reader errors.
Problem describe_problem(const yaml_parser_t& parser, const Place& place);
// For bytes that cannot be read as text, which have an offset instead.
std::string describe_reader_problem(const yaml_parser_t& parser);

}  // namespace fairlead::yaml
