// What we own of an object, as flat maps that Terraform can compare and show.
//
// This is the room's first header. The room is pure: objects go in as the API server returned them, texts come out. It
// sends no requests, and it does not know the protocol of Terraform. place.h reads and writes paths of fields,
// import_id.h reads ids of objects, moved.h reads the state of other providers.
//
// The values come from answers of the API server, never from the user's YAML. So quantities and defaults have the
// server's form on both sides of a comparison.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "fields/field_set.h"
#include "terraform/projection/place.h"

namespace fairlead::terraform {

// By path. The values are texts; a text that could be taken for a number, true, false or null stands in quotes.
using Flat = std::map<std::string, std::string, std::less<>>;

// Fields that the user treats in a special way.
struct FieldRules {
  // Not compared, and not applied once the object exists.
  std::vector<fields::Path> ignored;
  // Hashed wherever they are shown. The data of Secrets always are.
  std::vector<fields::Path> sensitive;
  // Every value is hashed: the manifest is write-only.
  bool hides_all = false;

  static Result<std::vector<fields::Path>> parse(std::span<const std::string> texts);
};

// Returns the fields that `manager` applied, without those below other fields of the set: each with its whole value.
std::vector<fields::Path> fields_of(const Json& object, std::string_view manager);

// Returns the values of these fields, and of the fields that `before` names as far as the object has them. Fields that
// are ignored, and the annotation of the owner, are left out. Values that must not be shown are hashed.
Flat projection_of(const Json& object, std::string_view manager, const FieldRules& rules, const Flat& before = {});

// Returns the values of these fields. Fields that the object does not have are left out.
Flat values_at(const Json& object, std::span<const fields::Path> paths, const FieldRules& rules);

// Returns who owns each field: "fairlead-terraform", or several managers with commas. Fields of the status are left
// out, because they change all the time.
Flat owners_of(const Json& object, const FieldRules& rules);

// Returns the text of a value as a projection shows it.
std::string shown_value(const Json& value);
// Returns a digest that tells whether a value has changed, and not which value it is.
std::string hashed_value(const Json& value);
// True if the value at this path must not be shown.
bool is_hidden(const Json& object, std::span<const fields::PathElement> path, const FieldRules& rules);

// Returns the object with every value hashed that must not be shown.
Json with_hashed_secrets(Json object, const FieldRules& rules);

}  // namespace fairlead::terraform
