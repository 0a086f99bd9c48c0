#include "doctor/snapshot.h"

namespace fairlead::doctor {

void Snapshot::add(Json object) {
  std::string kind(object["kind"].string_or(""));
  std::string ns(namespace_of(object));
  std::vector<Json>& of_kind = objects_[kind];
  places_[kind][std::move(ns)].push_back(of_kind.size());
  of_kind.push_back(std::move(object));
}

const std::vector<Json>& Snapshot::all(std::string_view kind) const {
  static const std::vector<Json> kNone;
  auto found = objects_.find(kind);
  return found == objects_.end() ? kNone : found->second;
}

std::vector<std::string_view> Snapshot::kinds() const {
  std::vector<std::string_view> kinds;
  for (const auto& [kind, objects] : objects_) kinds.push_back(kind);
  return kinds;
}

std::vector<const Json*> Snapshot::in_namespace(std::string_view kind, std::string_view ns) const {
  std::vector<const Json*> found;
  auto of_kind = places_.find(kind);
  if (of_kind == places_.end()) return found;
  auto here = of_kind->second.find(ns);
  if (here == of_kind->second.end()) return found;
  const std::vector<Json>& objects = all(kind);
  for (size_t index : here->second) found.push_back(&objects[index]);
  return found;
}

const Json* Snapshot::find(std::string_view kind, std::string_view ns, std::string_view name) const {
  for (const Json* object : in_namespace(kind, ns))
    if (name_of(*object) == name) return object;
  return nullptr;
}

object::Key key_of(const Json& object) {
  std::string_view version = object["apiVersion"].string_or("");
  size_t slash = version.find('/');
  return {.group = std::string(slash == std::string_view::npos ? "" : version.substr(0, slash)),
          .kind = std::string(object["kind"].string_or("")),
          .ns = std::string(namespace_of(object)),
          .name = std::string(name_of(object))};
}

std::string_view name_of(const Json& object) { return object["metadata"]["name"].string_or(""); }
std::string_view namespace_of(const Json& object) { return object["metadata"]["namespace"].string_or(""); }

}  // namespace fairlead::doctor
