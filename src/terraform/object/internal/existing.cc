#include "terraform/object/internal/existing.h"

#include <fmt/format.h>

#include <algorithm>

#include "terraform/object/internal/state.h"
#include "terraform/objects/words.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

std::string who_manages(const Json& live) {
  if (live["metadata"]["annotations"].contains(tool().owner_annotation))
    return fmt::format("a {} created it: one of an earlier run that was interrupted, {}", tool().object_resource,
                       tool().other_creators);
  std::vector<std::string> managers;
  for (const Json& entry : live["metadata"]["managedFields"].items()) {
    std::string manager(entry["manager"].string_or(""));
    bool is_known = std::ranges::find(managers, manager) != managers.end();
    if (!manager.empty() && !is_known && entry["subresource"].is_null()) managers.push_back(std::move(manager));
  }
  if (managers.empty()) return "it was not created by this resource";
  return fmt::format("its fields are managed by {}", some_of(managers));
}

}  // namespace

Error created_twice(const Reference& reference) {
  return Error(ErrorKind::invalid, headline("Two resources have the same object", reference.key))
      .because(fmt::format("another {} of this run has created it", tool().object_resource))
      .next("remove one of the two, or give one of the objects another name");
}

Diagnostics exists_already(const Json& live, const Value& cluster, std::string_view connection,
                           const Reference& reference) {
  Diagnostics found;
  std::string import = tool().import.empty()
                           ? fmt::format(
                                 "import it, with the address of this resource{}:\n\n"
                                 "import {{\n  to = fairlead_object.NAME\n  id = \"{}\"\n}}\n",
                                 import_condition(cluster), import_id_for(cluster, connection, reference))
                           : fmt::format("import it: {}", fmt::format(fmt::runtime(tool().import), reference.id()));
  found.error(headline("The object exists already", reference.key),
              fmt::format("  because   {}\n"
                          "  next      {}\n"
                          "            or set adopt = true, and the next apply takes it over",
                          who_manages(live), import),
              "yaml_body");
  return found;
}

}  // namespace fairlead::terraform
