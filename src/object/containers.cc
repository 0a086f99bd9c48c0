#include "object/containers.h"

namespace fairlead::object {
namespace {

constexpr std::string_view kNamespace = "Namespace";
constexpr std::string_view kCrd = "CustomResourceDefinition";
constexpr std::string_view kCrdGroup = "apiextensions.k8s.io";

}  // namespace

bool is_namespace(const Key& key) { return key.group.empty() && key.kind == kNamespace; }
bool is_crd(const Key& key) { return key.kind == kCrd && key.group == kCrdGroup; }

Key namespace_key(std::string_view name) {
  return {.group = "", .kind = std::string(kNamespace), .ns = "", .name = std::string(name)};
}
Key crd_key(std::string_view name) {
  return {.group = std::string(kCrdGroup), .kind = std::string(kCrd), .ns = "", .name = std::string(name)};
}

}  // namespace fairlead::object
