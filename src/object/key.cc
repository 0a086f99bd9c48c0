#include "object/key.h"

#include "base/printable.h"

namespace fairlead::object {
namespace {

// Both become part of a path, as they are.
bool is_plain(std::string_view text) {
  if (text.empty() || text.starts_with('.') || text.ends_with('.')) return false;
  for (char c : text) {
    bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!good) return false;
  }
  return true;
}

}  // namespace

Result<ApiVersion> ApiVersion::parse(std::string_view text) {
  size_t slash = text.find('/');
  ApiVersion result;
  if (slash == std::string_view::npos) {
    result.version = text;
  } else {
    result.group = text.substr(0, slash);
    result.version = text.substr(slash + 1);
  }
  bool good = is_plain(result.version) && (slash == std::string_view::npos || is_plain(result.group));
  if (!good)
    return fail(ErrorKind::invalid, "apiVersion \"{}\" is not of the form GROUP/VERSION or VERSION",
                printable_line(text.substr(0, 300)));
  return result;
}

std::string Key::text() const { return ns.empty() ? kind + " " + name : fmt::format("{} {}/{}", kind, ns, name); }

std::string Key::text_with_group() const {
  std::string kind_and_group = group.empty() ? kind : kind + "." + group;
  return ns.empty() ? kind_and_group + " " + name : fmt::format("{} {}/{}", kind_and_group, ns, name);
}

}  // namespace fairlead::object

size_t std::hash<fairlead::object::Key>::operator()(const fairlead::object::Key& key) const noexcept {
  size_t seed = 0;
  for (const std::string* part : {&key.name, &key.ns, &key.kind, &key.group})
    seed = seed * 0x9e3779b97f4a7c15u + std::hash<std::string>()(*part);
  return seed;
}
