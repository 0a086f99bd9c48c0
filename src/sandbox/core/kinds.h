// The resources that are served: the built-in ones, and those that CustomResourceDefinitions add and take away.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sandbox/core/store.h"
#include "schema/types/builtin.h"

namespace fairlead::sandbox {

struct CustomKind;

struct Subresource {
  std::string name;
  // What it answers with, where that is of another group (scale).
  std::string group, version, kind;
  std::vector<std::string> verbs;
};

struct Kind {
  std::string group, version, resource, singular, kind, list_kind;
  bool namespaced = true;
  std::vector<std::string> verbs, short_names, categories;
  std::string storage_version_hash;
  std::vector<schema::Column> columns;
  std::vector<Subresource> subresources;
  // The version that objects of this resource are kept in.
  std::string storage_version;
  // Where its objects are kept: events are the same in both of their groups.
  ResourceId stored_as;
  std::shared_ptr<const CustomKind> custom;  // null for a built-in kind
  // The version of the store when it was first served.
  uint64_t served_from = 0;

  ResourceId id() const { return {group, resource}; }
  bool is(std::string_view of_group, std::string_view of_resource) const {
    return group == of_group && resource == of_resource;
  }
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  const Subresource* find_subresource(std::string_view name) const;
  bool allows(std::string_view verb) const;
  // The types of a built-in kind; those of a custom one are in `custom`.
  schema::SchemaPtr builtin_schema() const;
};

class Kinds {
 public:
  const Kind* find(std::string_view group, std::string_view version, std::string_view resource) const;
  const Kind* by_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  // In the version that clients prefer.
  const Kind* preferred(std::string_view group, std::string_view resource) const;
  // Whether the group is one of those that come with the server.
  static bool is_builtin_group(std::string_view group);
  bool has_version(std::string_view group, std::string_view version) const;
  // Groups in the order of discovery, the core group first; within a group versions by preference.
  std::vector<const Kind*> in_order() const;
  // Every resource once, in its preferred version.
  std::vector<const Kind*> each_resource() const;

  // Replaces what is served for that custom resource: none, one or several versions. `now` is the store's version.
  void set_custom(const ResourceId& resource, std::vector<Kind> versions, uint64_t now);

 private:
  std::map<ResourceId, std::vector<Kind>> custom_;
};

// v2 before v1 before v1beta2 before v1alpha1 before anything else, as kubectl and the server order versions.
bool version_comes_first(std::string_view a, std::string_view b);

}  // namespace fairlead::sandbox
