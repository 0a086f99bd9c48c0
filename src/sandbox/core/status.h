// What a request is refused with: a Status object, in the words of the real API server.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sandbox/core/store.h"
#include "schema/types/refusal.h"

namespace fairlead::sandbox {

struct Status {
  int code = 500;
  std::string reason;
  std::string message;
  Json details;  // null: the Status has none
  // Some answers are no Status at all on the wire: the message, as plain text.
  bool plain_text = false;
  int retry_after = 0;
  Json metadata = Json::Object{};

  Json to_json() const;
};

template <class T>
using Outcome = std::expected<T, Status>;
inline std::unexpected<Status> refuse(Status status) { return std::unexpected(std::move(status)); }

// One thing that is wrong with an object: `field: message`.
struct Cause {
  std::string reason;  // FieldValueInvalid, ...
  std::string field;
  std::string message;
};
Cause required(std::string field, std::string_view detail);
Cause forbidden_field(std::string field, std::string_view detail);
Cause invalid_value(std::string field, const Json& value, std::string_view detail);
Cause unsupported_value(std::string field, const Json& value, const std::vector<std::string>& supported);
Cause duplicate_value(std::string field, const Json& value);

Status not_found(const ResourceId& resource, std::string_view name);
Status already_exists(const ResourceId& resource, std::string_view name);
Status conflict(const ResourceId& resource, std::string_view name, std::string_view why);
Status forbidden(const ResourceId& resource, std::string_view name, std::string_view why);
// `kind` as in "Deployment", group beside it.
Status invalid(std::string_view group, std::string_view kind, std::string_view name, const std::vector<Cause>& causes);
Status bad_request(std::string message);
// What the room schema refuses, as an answer.
Status from_refusal(schema::Refusal refusal);
Status method_not_allowed();
// A known group version, but no such resource in it.
Status unknown_resource();
// Nothing is served at that path.
Status page_not_found();
Status internal_error(std::string message);
// An error that the server passes on as it is, without a reason.
Status bare_error(std::string message);
Status expired(std::string message);
Status unauthorized();
// What the real server could do and the sandbox cannot: said rather than guessed.
Status not_implemented(std::string what);

// "pods", or "deployments.apps".
std::string qualified(const ResourceId& resource);

}  // namespace fairlead::sandbox
