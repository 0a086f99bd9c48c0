// What the computed attributes say of an object. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "terraform/object/settings.h"
#include "terraform/objects/reference.h"

namespace fairlead::terraform {

// "3f2a…": another one for another content of the fields that we manage, and for another object.
std::string revision_of(const Json& object, const Flat& projection);

// The values of `outputs`. Paths that lead nowhere are left out.
Flat outputs_of(const Json& object, const ObjectSettings& settings);

// Makes the computed attributes unknown, except for the id of an object that exists.
void set_unknown(Value& planned);

// Sets what a refresh finds out.
void set_read(Value& state, const Json& object, const ObjectSettings& settings);

// The identity of an object that is in the state. What `before` says of the connection stays, since an identity must
// not change. Null if there is no object.
Value identity_of(const Value& state, const Value& before);

// The id of an `import` block. `connection` is what the connection calls itself: "context prod". No id can have a
// token, or the content of a kubeconfig: import_condition() says what has to be so besides.
std::string_view import_condition(const Value& cluster);
std::string import_id_for(const Value& cluster, std::string_view connection, const Reference& reference);

}  // namespace fairlead::terraform
