// What a rule finds, and the shape that all three policies share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "webhook/policy/policy.h"

namespace fairlead::webhook::dynamo {

// Warnings of an object that is refused are those of the rule that refused it.
struct Verdict {
  // Empty if no rule is broken.
  std::string error;
  std::vector<std::string> warnings;
  int code = 403;

  bool ok() const { return error.empty(); }
};

Verdict refused(std::string error, std::vector<std::string> warnings = {});
// A field is of another type than the resource has.
Verdict malformed(std::string error);

// A policy whose rules look at the new object alone (`check`) or at its change (`check_change`).
class TwoStepPolicy : public Policy {
 public:
  Result<Decision> validate_create(const Request& request) const override;
  Result<Decision> validate_update(const Request& request) const override;

 private:
  virtual Verdict check(const Request& request) const = 0;
  // Called for an update whose new object is valid by itself.
  virtual Verdict check_change(const Request& request) const = 0;
};

// An object whose namespace the API server left to the request has that one.
std::string namespace_of(const Request& request);

// "spec.backendFramework": the rule and its warning, for components and graphs.
Verdict check_backend(const Json& spec);
Verdict check_backend_change(const Json& old_spec, const Json& spec);

}  // namespace fairlead::webhook::dynamo
