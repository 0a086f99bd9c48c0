#include "inventory/applyset.h"

#include "base/base64.h"
#include "inventory/digest.h"

namespace fairlead::inventory {
namespace {

// Uses the URL-safe alphabet without padding.
std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

// Splits "a,b,c". Empty parts are left out.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

void append(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

}  // namespace

std::string applyset_id(std::string_view name, std::string_view ns, std::string_view kind, std::string_view group) {
  return fmt::format("applyset-{}-v1", to_base64url(sha256(fmt::format("{}.{}.{}.{}", name, ns, kind, group))));
}

GroupKind GroupKind::parse(std::string_view text) {
  size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

void Coverage::add(const Coverage& other) {
  kinds.insert(other.kinds.begin(), other.kinds.end());
  namespaces.insert(other.namespaces.begin(), other.namespaces.end());
}

Coverage Coverage::read(const Json& annotations, std::string_view home) {
  Coverage coverage;
  for (std::string_view kind : split(annotations[kKindsAnnotation].string_or("")))
    coverage.kinds.insert(GroupKind::parse(kind));
  for (std::string_view ns : split(annotations[kNamespacesAnnotation].string_or(""))) coverage.namespaces.emplace(ns);
  coverage.namespaces.emplace(home);
  return coverage;
}

void Coverage::write(Json& annotations, std::string_view home) const {
  // Sorted by their text, as in kubectl.
  std::set<std::string> texts;
  for (const GroupKind& kind : kinds) texts.insert(kind.text());
  std::string kind_list, namespace_list;
  for (const std::string& kind : texts) append(kind_list, kind);
  for (const std::string& ns : namespaces)
    if (ns != home) append(namespace_list, ns);
  annotations.make(kKindsAnnotation) = std::move(kind_list);
  annotations.make(kNamespacesAnnotation) = std::move(namespace_list);
}

}  // namespace fairlead::inventory
