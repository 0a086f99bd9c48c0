// What the attributes of several resources have in common.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "object/key.h"
#include "terraform/projection/projection.h"
#include "terraform/provider/resource.h"
#include "terraform/schema/schema.h"

namespace fairlead::terraform {

Attribute optional_attribute(std::string name, Type type, std::string description);
Attribute computed_attribute(std::string name, Type type, std::string description);
// The attribute cluster_gone.
Attribute cluster_gone_attribute();

// Adds an error unless the attribute is not set, unknown or one of the choices.
void check_choice(const Value& config, const char* name, std::initializer_list<std::string_view> choices,
                  Diagnostics& found);
// The same for a duration, such as "5m".
void check_duration(const Value& value, const Path& path, Diagnostics& found);
// Nothing if it is not set or not valid.
std::optional<Duration> duration_in(const Value& value);
// The texts of a list that are known.
std::vector<std::string> texts_in(const Value& list);

// Flat maps as values of Terraform.
Value value_of(const Flat& flat);
Flat flat_of(const Value& value);

// A new id of a resource: twelve hexadecimal digits.
std::string new_id();
// The first bytes of a digest of the text, in hexadecimal.
std::string short_digest(std::string_view text);

// Returns the cluster, or null with an error about `cluster`. `key` is the object that needs it.
Task<Connection*> connected(Context& context, Value cluster, object::Key key, Diagnostics& diagnostics);

}  // namespace fairlead::terraform
