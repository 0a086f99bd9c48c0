// Parses arbitrary managedFields, and uses every operation on the sets.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fields/managed_fields.h"
#include "fields/owned.h"

using fairlead::Json;
using fairlead::fields::FieldSet;
using fairlead::fields::ManagedEntry;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto json =
      Json::parse(std::string_view(reinterpret_cast<const char*>(data), size), {.bytes = 64 << 10, .depth = 64});
  if (!json) return 0;
  fairlead::fields::is_unchanged(*json, *json, (*json)["metadata"]["managedFields"].item(0)["manager"].string_or(""));
  auto entries = fairlead::fields::parse_managed_fields((*json)["metadata"]["managedFields"]);
  if (!entries || entries->size() > 20) return 0;
  auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  auto is_subset = [](const FieldSet& part, const FieldSet& whole) { return part.without(whole).empty(); };
  for (const ManagedEntry& one : *entries) {
    auto again = FieldSet::parse(one.fields.dump());
    check(again.has_value() && *again == one.fields);
    fairlead::fields::owned_part(*json, one.fields);
    for (const ManagedEntry& two : *entries) {
      FieldSet both = one.fields.united(two.fields), common = one.fields.intersected(two.fields);
      check(is_subset(one.fields, both) && is_subset(two.fields, both));
      check(is_subset(common, one.fields) && is_subset(common, two.fields));
      check(one.fields.without(two.fields).intersected(two.fields).empty());
      check(is_subset(one.fields.without_trees(two.fields), one.fields.without(two.fields)));
      check(both.size() + common.size() == one.fields.size() + two.fields.size());
    }
  }
  return 0;
}
