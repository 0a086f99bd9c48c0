#include "removal/order/asked.h"

#include <gtest/gtest.h>

namespace fairlead::removal {
namespace {

const Json kTeam = *Json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");

// Returns whether a webhook with that condition is asked about the deletion of the namespace team.
bool is_asked_if(std::string_view condition) {
  Json configuration = *Json::parse(R"({"apiVersion":"admissionregistration.k8s.io/v1",
      "kind":"ValidatingWebhookConfiguration","metadata":{"name":"guard"},"webhooks":[{"name":"v.example.com",
      "clientConfig":{"service":{"name":"v","namespace":"guards"}},"rules":[{"apiGroups":[""],"apiVersions":["v1"],
      "operations":["DELETE"],"resources":["namespaces"]}],"sideEffects":"None","admissionReviewVersions":["v1"],
      "matchConditions":[{"name":"c"}]}]})");
  configuration.make("webhooks").if_array()->front().make("matchConditions").if_array()->front().make("expression") =
      condition;
  LiveTarget team{.key = {"", "Namespace", "", "team"},
                  .resource = {.group = "", .version = "v1", .kind = "Namespace", .plural = "namespaces"},
                  .live = &kTeam};
  std::vector<admission::Webhook> webhooks = admission::read_webhooks(configuration);
  EXPECT_EQ(webhooks.size(), 1U);
  return is_asked(webhooks.at(0), team, admission::Operation::remove);
}

TEST(Asked, TheNamespaceOfANamespaceIsThatNamespace) {
  EXPECT_TRUE(is_asked_if("request.namespace == 'team'"));
  EXPECT_FALSE(is_asked_if("request.namespace == 'other'"));
}

}  // namespace
}  // namespace fairlead::removal
