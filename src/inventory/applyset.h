// The labels and annotations of ApplySets (KEP-3659), which kubectl and other tools understand. One object, the parent,
// lists the kinds and namespaces of the members, and every member has the parent's id as a label. Pure.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::inventory {

// On the parent:
inline constexpr std::string_view kIdLabel = "applyset.kubernetes.io/id";
inline constexpr std::string_view kToolingAnnotation = "applyset.kubernetes.io/tooling";
inline constexpr std::string_view kKindsAnnotation = "applyset.kubernetes.io/contains-group-kinds";
inline constexpr std::string_view kNamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces";
// On every member:
inline constexpr std::string_view kPartOfLabel = "applyset.kubernetes.io/part-of";

// Returns the value of both labels: "applyset-…-v1", with a hash of the name, namespace, kind and group of the parent.
std::string applyset_id(std::string_view name, std::string_view ns, std::string_view kind, std::string_view group);

struct GroupKind {
  std::string group;  // empty for the core group
  std::string kind;

  // The text is "KIND.GROUP" or "KIND", for example "Deployment.apps" or "ConfigMap".
  static GroupKind parse(std::string_view text);
  std::string text() const { return group.empty() ? kind : kind + "." + group; }
  auto operator<=>(const GroupKind&) const = default;
};

// The kinds and namespaces in which members can be. A member without a namespace only has to be of one of the kinds.
struct Coverage {
  std::set<GroupKind> kinds;
  std::set<std::string, std::less<>> namespaces;

  void add(const Coverage& other);
  bool operator==(const Coverage&) const = default;

  // Read and write the annotations of a parent in the namespace `home`. The home namespace is always covered and never
  // written.
  static Coverage read(const Json& annotations, std::string_view home);
  void write(Json& annotations, std::string_view home) const;
};

}  // namespace fairlead::inventory
