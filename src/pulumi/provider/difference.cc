#include "pulumi/provider/difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "pulumi/value/envelope.h"

namespace fairlead::pulumi {
namespace {

bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

void compare(const Json& before, const Json& after, const std::string& path, std::vector<Difference>& found) {
  if (before.same_as(after)) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [name, value] : before.members()) compare(value, after[name], with_name(path, name), found);
    for (const auto& [name, value] : after.members())
      if (!before.contains(name)) compare({}, value, with_name(path, name), found);
    return;
  }
  if (before.is_array() && after.is_array()) {
    size_t size = std::max(before.items().size(), after.items().size());
    for (size_t i = 0; i < size; ++i) compare(before.item(i), after.item(i), fmt::format("{}[{}]", path, i), found);
    return;
  }
  using Kind = Difference::Kind;
  found.push_back({.path = path, .kind = before.is_null() ? Kind::add : after.is_null() ? Kind::remove : Kind::update});
}

}  // namespace

std::string with_name(const std::string& path, std::string_view name) {
  if (!is_plain(name)) return fmt::format("{}[{}]", path, Json(name).dump());
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string top_of(const std::string& path) { return path.substr(0, path.find_first_of(".[")); }

std::vector<Difference> differences(const Json& before, const Json& after, const std::string& path) {
  std::vector<Difference> found;
  Result<Json> old_value = unwrapped(before), new_value = unwrapped(after);
  if (old_value && new_value) compare(*old_value, *new_value, path, found);
  return found;
}

}  // namespace fairlead::pulumi
