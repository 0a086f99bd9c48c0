// Where things are in a JSON text, which Json::parse does not tell. For text that Json::parse has taken.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/yaml.h"

namespace fairlead::yaml {

// Reads JSON values one after the other, without making them, and tells what comes. Stops where a callback returns
// false, and where the text is no JSON.
struct JsonSkimmer {
  std::function<bool(bool object, Position at)> begin;
  std::function<bool(const std::string& key, Position at)> key;
  std::function<bool(Position at)> scalar;
  std::function<bool()> end;

  void skim(std::string_view text, size_t first_line) const;
};

// The line of each item of the array `items` at the top of the text's first value.
std::vector<uint32_t> json_item_lines(std::string_view text, size_t first_line);

}  // namespace fairlead::yaml
