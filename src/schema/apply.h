// Server-side apply, and who owns what after any other write: metadata.managedFields as the API server keeps it.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fields/managed_fields.h"
#include "schema/types/refusal.h"
#include "schema/types/type.h"

namespace fairlead::schema {

// A resource as a write sees it.
struct Target {
  std::string api_version;  // of the request and of every object that is passed in or returned
  std::string kind;
  std::string subresource;  // "status"; empty for the object itself
  // Every version that is served; owners of fields may have written in any of them.
  std::map<std::string, SchemaPtr, std::less<>> versions;
  // Fields that a write through here does not change, so that nobody owns them through here (`reset_fields`).
  fields::FieldSet reset;
  // An object in another version; none: the versions differ in nothing but their name.
  std::function<Json(const Json& object, std::string_view api_version)> convert;
  // What happens to an object after it has been merged and before it is stored: stored form and defaults.
  std::function<Json(Json object)> complete;
};

struct Writer {
  std::string manager;
  std::chrono::sys_seconds now;
  bool force = false;  // take fields from their owners; for apply only
};

// The live object (null if there is none) with the configuration applied. Who else owns a field that the configuration
// would change is a conflict, unless forced; what this manager applied before and no longer does goes, unless it has
// another owner.
std::expected<Json, Refusal> apply(const Target& target, const Json& live, const Json& configuration,
                                   const Writer& writer);

// Every other write: `updated` is the object as it is to be stored (null `live`: it is created). Returns it with
// managedFields brought up to date; where these make no sense, without them, as the real server does.
Json track_update(const Target& target, const Json& live, Json updated, const Writer& writer);

// If nothing but times in managedFields has changed, these go back to what they were: such a write changes nothing.
// To be called last, before an object is stored.
void keep_times(const Json& live, Json& updated);

// Never owned by anybody: apiVersion, kind, and what of metadata names the object or is the server's.
const fields::FieldSet& server_fields();

// What a write through the resource, or its status or scale, leaves alone.
fields::FieldSet reset_fields(std::string_view group, std::string_view kind, std::string_view subresource,
                              bool has_status);

// The manager of a write that names none: the start of the user agent.
std::string manager_name(std::string_view field_manager, std::string_view user_agent);

}  // namespace fairlead::schema
