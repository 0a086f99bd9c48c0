#include "terraform/value/path.h"

#include <fmt/format.h>

namespace fairlead::terraform {

Path Path::operator[](std::string_view attribute) const {
  Path longer = *this;
  longer.steps_.emplace_back(Attribute{std::string(attribute)});
  return longer;
}

Path Path::key(std::string_view key) const {
  Path longer = *this;
  longer.steps_.emplace_back(Key{std::string(key)});
  return longer;
}

Path Path::at(int64_t index) const {
  Path longer = *this;
  longer.steps_.emplace_back(Index{index});
  return longer;
}

const Value& Path::in(const Value& value) const {
  const Value* here = &value;
  for (const Step& step : steps_) {
    if (const auto* index = std::get_if<Index>(&step)) {
      here = &here->item(index->index < 0 ? SIZE_MAX : size_t(index->index));
    } else {
      const auto* attribute = std::get_if<Attribute>(&step);
      here = &(*here)[attribute ? attribute->name : std::get<Key>(step).key];
    }
  }
  return *here;
}

std::string Path::text() const {
  std::string text;
  for (const Step& step : steps_) {
    if (const auto* attribute = std::get_if<Attribute>(&step)) {
      text += text.empty() ? attribute->name : "." + attribute->name;
    } else if (const auto* key = std::get_if<Key>(&step)) {
      text += "[";
      append_json_string(text, key->key);
      text += "]";
    } else {
      text += fmt::format("[{}]", std::get<Index>(step).index);
    }
  }
  return text;
}

}  // namespace fairlead::terraform
