// create, update and patch: what they have in common from the decoded object to the store.
#pragma once

#include <functional>

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

// Where a write goes: the kind in the version of the request, and the part of the object that it is about.
struct Target {
  const Kind& kind;
  Place place;
  std::string subresource;
};

// A new object, from admission to the store. Gives it as it was stored, or as it would have been.
Task<Outcome<Json>> store_new(ApiServer& server, Call& call, const Target& target, Json object);

struct Change {
  // The object as it should be, from the object as it is; with managedFields, and with the resourceVersion that it
  // rests on, or none. Called again when the object changed meanwhile.
  std::function<Outcome<Json>(const Json& live)> make;
  // What to create when there is nothing; refused with not found if this is empty.
  std::function<Outcome<Json>()> create;
  // A patch is tried again when the object changed under it; a PUT that names a version is not.
  bool is_patch = false;
  // Where the PUT's uid has to match.
  std::string uid;
  // The form that admission sees, and what it changed there; none: the object itself.
  std::function<Json(const Json& object)> show;
  std::function<void(const Json& shown, Json& object)> take_back;
};
struct Written {
  Json object;
  bool created = false;
};
Task<Outcome<Written>> store_change(ApiServer& server, Call& call, const Target& target, Change change);

// The verbs.
Task<Outcome<Reply>> create_object(ApiServer& server, Call& call, const Kind& kind);
Task<Outcome<Reply>> update_object(ApiServer& server, Call& call, const Kind& kind);
Task<Outcome<Reply>> patch_object(ApiServer& server, Call& call, const Kind& kind);

// dryRun, fieldManager, fieldValidation and force, as each kind of request allows them. `options` is the name that
// errors use: CreateOptions, UpdateOptions, PatchOptions.
Outcome<void> check_write_options(const Call& call, std::string_view options, bool apply);
Json options_json(const Call& call, std::string_view options);

}  // namespace fairlead::sandbox
