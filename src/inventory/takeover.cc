#include "inventory/takeover.h"

#include <algorithm>

#include "fields/managed_fields.h"
#include "inventory/membership.h"

namespace fairlead::inventory {
namespace {

using fields::ManagedEntry;
using fields::Operation;
using fields::PathElement;

constexpr std::string_view kClientSideKubectl = "kubectl-client-side-apply";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kHelm = "helm";
constexpr std::string_view kHelmRelease = "meta.helm.sh/release-name";

bool owns_last_applied(const ManagedEntry& entry) {
  const PathElement path[] = {PathElement::field("metadata"), PathElement::field("annotations"),
                              PathElement::field(kLastApplied)};
  return entry.fields.has(path);
}

bool is_moved_from(std::string_view manager, const Json& object, const Successor& successor) {
  return !successor.label_value.empty() && part_of(object) == successor.label_value &&
         BundleName::of_manager(manager).has_value();
}

bool is_former(const ManagedEntry& entry, const Json& object, const Successor& successor) {
  bool applies = entry.operation == Operation::apply;
  if (!entry.subresource.empty() || (applies && entry.manager == successor.field_manager)) return false;
  if (entry.manager == kHelm && object["metadata"]["annotations"].contains(kHelmRelease)) return true;
  if (!applies) return entry.manager == kClientSideKubectl || owns_last_applied(entry);
  return successor.predecessors.contains(entry.manager) || is_moved_from(entry.manager, object, successor);
}

std::vector<ManagedEntry> entries_of(const Json& object) {
  auto entries = fields::parse_managed_fields(object["metadata"]["managedFields"]);
  return entries ? *std::move(entries) : std::vector<ManagedEntry>();
}

}  // namespace

std::vector<std::string> former_managers(const Json& object, const Successor& successor) {
  std::vector<std::string> managers;
  for (const ManagedEntry& entry : entries_of(object))
    if (is_former(entry, object, successor) && std::ranges::find(managers, entry.manager) == managers.end())
      managers.push_back(entry.manager);
  return managers;
}

bool gives_way(std::string_view manager, const Json& object, const Successor& successor) {
  if (manager == kHelm) return false;
  if (manager == kClientSideKubectl || successor.predecessors.contains(manager)) return true;
  std::vector<std::string> managers = former_managers(object, successor);
  return std::ranges::find(managers, manager) != managers.end();
}

Json managed_fields_after_takeover(const Json& object, const Successor& successor) {
  std::vector<ManagedEntry> entries = entries_of(object);
  auto is_own = [&](const ManagedEntry& entry) {
    return entry.operation == Operation::apply && entry.subresource.empty() && entry.manager == successor.field_manager;
  };
  // The version of the object itself comes first: then nothing of the successor's own entry is lost.
  const ManagedEntry* first = nullptr;
  for (const ManagedEntry& entry : entries) {
    if (!is_former(entry, object, successor)) continue;
    if (!first || entry.api_version == object["apiVersion"].string_or("")) first = &entry;
  }
  if (!first) return {};
  ManagedEntry taken{.manager = successor.field_manager,
                     .operation = Operation::apply,
                     .api_version = first->api_version,
                     .time = first->time};
  std::vector<ManagedEntry> rest;
  for (const ManagedEntry& entry : entries) {
    bool passes = is_own(entry) || is_former(entry, object, successor);
    if (passes && entry.api_version == taken.api_version) taken.fields = taken.fields.united(entry.fields);
    // The successor's own entry in another version is dropped, because a manager has only one entry for apply. The next
    // apply of the object restores it.
    else if (!is_own(entry)) rest.push_back(entry);
  }
  rest.push_back(std::move(taken));
  return fields::dump_managed_fields(std::move(rest));
}

Json takeover_patch(const Json& object, const Successor& successor) {
  Json managed = managed_fields_after_takeover(object, successor);
  if (managed.is_null()) return managed;
  auto replace = [](std::string_view path, Json value) {
    return Json::Object{{"op", "replace"}, {"path", path}, {"value", std::move(value)}};
  };
  return Json::Array{replace("/metadata/managedFields", std::move(managed)),
                     replace("/metadata/resourceVersion", object["metadata"]["resourceVersion"])};
}

}  // namespace fairlead::inventory
