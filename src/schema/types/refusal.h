// Why an API server does not take an object: the Status that it answers with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::schema {

// One thing that is wrong, and where.
struct Cause {
  std::string reason;  // FieldValueInvalid, FieldManagerConflict, …
  std::string field;
  std::string message;
};

struct Refusal {
  int code = 500;
  std::string reason;  // empty: the Status has none
  std::string message;
  Json details;  // null: the Status has none

  // The whole Status object.
  Json status() const;
};

Refusal bad_request(std::string message);
// An error that the server passes on as it is: 500, and no reason.
Refusal bare_error(std::string message);
// 422: `kind "name" is invalid: …`. The group is empty for the core group.
Refusal invalid(std::string_view group, std::string_view kind, std::string_view name, const std::vector<Cause>& causes);

Json dump_causes(const std::vector<Cause>& causes);

}  // namespace fairlead::schema
