// A schema, an object that is there and one that is applied, all from somebody who means no good.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "schema/apply.h"
#include "schema/defaults/defaults.h"
#include "schema/defaults/stored.h"
#include "schema/strategic.h"
#include "schema/types/builtin.h"
#include "schema/types/custom.h"
#include "schema/types/typed.h"
#include "schema/validation/decode.h"
#include "schema/validation/structural.h"

namespace schema = fairlead::schema;
using fairlead::Json;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto json =
      Json::parse(std::string_view(reinterpret_cast<const char*>(data), size), {.bytes = 64 << 10, .depth = 60});
  if (!json) return 0;
  const Json &open_api = (*json)["schema"], &live = (*json)["live"], &applied = (*json)["applied"];
  auto check = [](bool holds) {
    if (!holds) std::abort();
  };

  bool builtin = json->contains("builtin");
  schema::SchemaPtr types =
      builtin ? schema::builtin_schema("apps", "v1", "Deployment") : schema::custom_schema(open_api);
  if (builtin) {
    (void)schema::decode(*types, applied);
    Json stored = schema::with_defaults(*types, schema::stored_form(*types, applied));
    check(schema::with_defaults(*types, stored).same_as(stored));
    (void)schema::strategic_merge(*types, live, applied);
  } else {
    schema::Pruned pruned = schema::prune(open_api, applied);
    check(schema::prune(open_api, pruned.object).object.same_as(pruned.object));
    schema::violations(open_api, schema::with_structural_defaults(open_api, pruned.object), live);
    schema::uses_cel(open_api);
  }

  std::string version(applied["apiVersion"].string_or(""));
  // Every target has a version; without one, managedFields could not be read again.
  if (version.empty()) return 0;
  schema::Target target{.api_version = version,
                        .kind = std::string(applied["kind"].string_or("")),
                        .subresource = "",
                        .versions = {{version, types}, {"v1", types}},
                        .reset = {},
                        .convert = {},
                        .complete = {}};
  schema::Writer writer{.manager = "m", .now = {}, .force = true};
  auto first = schema::apply(target, live, applied, writer);
  if (first) {
    // To apply the same again changes nothing.
    auto second = schema::apply(target, *first, applied, writer);
    check(second.has_value() || !schema::misfits(*types, *first, schema::Duplicates::allowed).empty());
    schema::track_update(target, live, *first, writer);
  }
  return 0;
}
