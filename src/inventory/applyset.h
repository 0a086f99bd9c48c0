// The words of ApplySets (KEP-3659), which `kubectl` and others understand: an object, the parent, says of which kinds
// and in which namespaces there are members, and every member has the parent's id as a label. Pure.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::inventory {

// On the parent.
inline constexpr std::string_view kIdLabel = "applyset.kubernetes.io/id";
inline constexpr std::string_view kToolingAnnotation = "applyset.kubernetes.io/tooling";
inline constexpr std::string_view kKindsAnnotation = "applyset.kubernetes.io/contains-group-kinds";
inline constexpr std::string_view kNamespacesAnnotation = "applyset.kubernetes.io/additional-namespaces";
// On a member.
inline constexpr std::string_view kPartOfLabel = "applyset.kubernetes.io/part-of";

// The value of both labels: "applyset-…-v1", of the hash of what names the parent.
std::string applyset_id(std::string_view name, std::string_view ns, std::string_view kind, std::string_view group);

struct GroupKind {
  std::string group;  // empty for the core group
  std::string kind;

  // "Deployment.apps", "ConfigMap"
  static GroupKind parse(std::string_view text);
  std::string text() const { return group.empty() ? kind : kind + "." + group; }
  auto operator<=>(const GroupKind&) const = default;
};

// Where members can be: every one of them is of one of these kinds, and has one of these namespaces or none.
struct Coverage {
  std::set<GroupKind> kinds;
  std::set<std::string, std::less<>> namespaces;

  void add(const Coverage& other);
  bool operator==(const Coverage&) const = default;

  // As the annotations of a parent in the namespace `home` have it; home itself is never written, and always covered.
  static Coverage read(const Json& annotations, std::string_view home);
  void write(Json& annotations, std::string_view home) const;
};

}  // namespace fairlead::inventory
