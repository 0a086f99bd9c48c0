// What the types of a kind do to an object on its way in: room schema, for built-in and custom kinds alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/core/call.h"
#include "sandbox/core/core.h"

namespace fairlead::sandbox {

schema::SchemaPtr schema_of(const Kind& kind);

// The object in a request, for POST and PUT: read, checked against its types as fieldValidation says (which may warn),
// in the server's own form, with its defaults.
Outcome<Json> decode_object(Call& call, const Kind& kind);
// The same for a value that a patch made. `repeated` are the keys that came twice in the request.
Outcome<Json> decode_value(Call& call, const Kind& kind, Json value, bool from_patch,
                           const std::vector<std::string>& repeated = {});
// JSON, or YAML where the request says so.
Outcome<Json::Lenient> read_body(const Call& call, Json::Repeats repeats);
Outcome<Json> parse_body(const Call& call);

// Pruned and with its defaults: what a custom resource's schema makes of it.
Json structural_form(const Kind& kind, Json object);

// Defaults, and the form that the server keeps.
Json settle(const Kind& kind, Json object);

// A configuration applied to an object (null: there is none yet), with managedFields.
Outcome<Json> apply_configuration(const Core& core, const Kind& kind, std::string_view subresource, const Json* live,
                                  const Json& configuration, std::string_view manager, bool force);
// managedFields of an object that was written as a whole.
Json with_managers(const Core& core, const Kind& kind, std::string_view subresource, const Json* live, Json object,
                   std::string_view manager);

// What a custom resource's schema finds wrong with it. What was wrong before and has not changed is let pass.
std::vector<Cause> schema_causes(const Kind& kind, std::string_view subresource, const Json* live, const Json& object);
// A rule in CEL of its schema that cannot be evaluated here; empty if there is none.
std::string undecided_rule(const Kind& kind, const Json* live, const Json& object);

}  // namespace fairlead::sandbox
