// What the author of an operator writes: policies that decide on requests to store, change or delete objects.
//
// This is the room's first header. A policy is pure: it gets a request and returns a decision. It does no I/O, reads no
// clock and holds no state that a request changes, so the server may call it for many requests, and a controller may
// call it for objects that were stored while nobody asked. Its input is hostile: a field may be missing or of any type.
//
//   class NoLatest : public webhook::Policy {
//     Result<Decision> validate_create(const Request& request) const override {
//       if (tag_of(request.object) == "latest") return deny("spec.image must name a version, not \"latest\"");
//       return allow();
//     }
//   };
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/attributes.h"
#include "base/error.h"
#include "base/json.h"

namespace fairlead::webhook {

// What an AdmissionReview asks about. `object` is null for a DELETE, `old_object` for a CREATE.
struct Request {
  std::string uid;
  admission::Operation operation = admission::Operation::create;
  admission::GroupVersionKind kind;
  admission::GroupVersionResource resource;
  std::string subresource;
  // Empty for objects without a namespace.
  std::string ns;
  // Empty where the API server makes the name.
  std::string name;
  admission::User user;
  Json object;
  Json old_object;
  bool dry_run = false;
  // CreateOptions and so on; null where the API server sends none.
  Json options = {};
};

struct Decision {
  bool allowed = true;
  // What the user reads if it is not allowed.
  std::string message;
  // The HTTP status of a refusal.
  int code = 403;
  // With code 429: when the client should try again. 0 for no advice.
  int64_t retry_after_seconds = 0;
  // Shown to the user whether it is allowed or not; a line of plain text each.
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> audit_annotations;
};

Decision allow();
Decision deny(std::string message);

// An error means that the policy itself failed: the server answers 500 with the cause, and the failurePolicy of the
// webhook decides. What is not overridden allows, and changes nothing.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual Result<Decision> validate_create(const Request& request) const;
  virtual Result<Decision> validate_update(const Request& request) const;
  virtual Result<Decision> validate_delete(const Request& request) const;
  // Returns the object as it should be stored; the server sends the difference. Called for CREATE and UPDATE.
  virtual Result<Json> mutate(const Request& request) const;
};

// Calls what fits the operation. A CONNECT is allowed.
Result<Decision> validate(const Policy& policy, const Request& request);

// One resource, in one version, with the policy that decides on it.
struct Registration {
  admission::GroupVersionKind kind;
  // The plural: "dynamomodels".
  std::string resource;
  std::shared_ptr<const Policy> policy;
  bool validates = true;
  bool mutates = false;
  // Besides the usual path (validating_path, mutating_path): those of earlier releases, still called during an upgrade.
  // One that begins with "/mutate" is for mutation, any other for validation.
  std::vector<std::string> earlier_paths;
};

// "/validate-nvidia-com-v1alpha1-dynamomodel", as kubebuilder names them.
std::string validating_path(const Registration& registration);
std::string mutating_path(const Registration& registration);

// One kind that is served in several versions.
struct Conversion {
  std::string group;
  std::string kind;
  // The plural, as for a Registration.
  std::string resource;
  std::vector<std::string> versions;
  // Returns the object in that version of the group. Metadata other than labels and annotations must stay as it is. The
  // object is in one of the versions above, and so is `version`; contents are hostile.
  std::function<Result<Json>(const Json& object, const std::string& version)> convert;
};

// Where conversions of all kinds are served, as controller-runtime has it.
inline constexpr std::string_view kConversionPath = "/convert";

struct PolicySet {
  // As in `fairlead webhook serve --policies NAME`.
  std::string name;
  std::vector<Registration> registrations;
  std::vector<Conversion> conversions;
};

}  // namespace fairlead::webhook
