// For tests of the policy set: requests from objects written as YAML would be read, in JSON.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "webhook/dynamo/dynamo.h"

namespace fairlead::webhook {

inline constexpr std::string_view kOperator = "system:serviceaccount:dynamo-system:dynamo-operator-controller-manager";

inline Json with_spec(std::string_view kind, std::string_view spec) {
  return Json(Json::Object{{"apiVersion", "nvidia.com/v1alpha1"},
                           {"kind", kind},
                           {"metadata", Json::Object{{"name", "chat"}, {"namespace", "team-a"}}},
                           {"spec", Json::parse(spec).value()}});
}

// Requests about one kind, with the decision of its policy.
class Asked {
 public:
  explicit Asked(std::string kind, const DynamoOptions& options = {.operator_account = std::string(kOperator)})
      : kind_(std::move(kind)) {
    PolicySet set = dynamo_policies(options);
    for (const Registration& registration : set.registrations)
      if (registration.kind.kind == kind_) policy_ = registration.policy;
  }

  Decision create(std::string_view spec) const {
    return ask({.operation = admission::Operation::create, .ns = "team-a", .object = with_spec(kind_, spec)});
  }
  Decision update(std::string_view old_spec, std::string_view spec, std::string user = "alice") const {
    return ask({.operation = admission::Operation::update,
                .ns = "team-a",
                .user = {.name = std::move(user)},
                .object = with_spec(kind_, spec),
                .old_object = with_spec(kind_, old_spec)});
  }
  Decision ask(const Request& request) const { return validate(*policy_, request).value(); }

 private:
  std::string kind_;
  std::shared_ptr<const Policy> policy_;
};

// "" for an object that is allowed, otherwise the message.
inline std::string refusal(const Decision& decision) {
  EXPECT_EQ(decision.allowed, decision.message.empty());
  return decision.message;
}

}  // namespace fairlead::webhook
