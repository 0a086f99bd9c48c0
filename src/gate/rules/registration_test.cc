#include "gate/rules/registration.h"

#include <gmock/gmock.h>

#include "gate/rules/kinds.h"
#include "gate/rules/rules_testing.h"

namespace fairlead::gate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Registrar registrar() {
  return {.ns = "fairlead-gate",
          .service = admission::ServiceReference{.ns = "fairlead-gate", .name = "fairlead-gate", .path = {}},
          .ca_bundle = "Q0E="};
}

std::vector<Json> made(const std::set<std::string>& groups, const std::vector<Hook>& hooks = {},
                       const std::vector<Hook>& awaited = {}) {
  std::vector<const Hook*> all;
  std::vector<const Hook*> waits;
  for (const Hook& one : hooks) all.push_back(&one);
  for (const Hook& one : awaited) waits.push_back(&one);
  return configurations(registrar(), groups, all, waits);
}

std::string name_in(const Json& configuration) { return std::string(configuration["metadata"]["name"].string_or("")); }

std::string rules_in(const Json& configuration, size_t hook = 0) {
  std::string text;
  for (const Json& rule : configuration["webhooks"].item(hook)["rules"].items())
    text += fmt::format("{}:{} ", rule["apiGroups"].item(0).string_or("?"), rule["resources"].dump());
  return text;
}

TEST(Registration, has_one_configuration_per_group_of_crds) {
  std::vector<Json> all = made({"a.example.com", "b.example.com"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(name_in(all[0]), testing::MatchesRegex("0-fairlead-gate-kinds-a.example.com-[0-9a-f]{8}"));
  EXPECT_EQ(rules_in(all[0]), R"(a.example.com:["*"] )");
  EXPECT_EQ(rules_in(all[1]), R"(b.example.com:["*"] )");
}

TEST(Registration, fails_open_soon_and_has_no_side_effects) {
  Json configuration = made({"a.example.com"}).at(0);
  EXPECT_EQ(configuration["kind"].string_or(""), "MutatingWebhookConfiguration");
  EXPECT_TRUE(is_own(configuration, "fairlead-gate"));
  EXPECT_FALSE(is_own(configuration, "other"));
  const Json& hook = configuration["webhooks"].item(0);
  EXPECT_EQ(hook["failurePolicy"].string_or(""), "Ignore");
  EXPECT_EQ(hook["timeoutSeconds"].int_or(0), 2);
  EXPECT_EQ(hook["sideEffects"].string_or(""), "None");
  EXPECT_EQ(hook["reinvocationPolicy"].string_or(""), "Never");
  EXPECT_EQ(
      hook["clientConfig"].dump(),
      R"({"service":{"namespace":"fairlead-gate","name":"fairlead-gate","path":"/gate","port":443},"caBundle":"Q0E="})");
  EXPECT_EQ(
      hook["namespaceSelector"].dump(),
      R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["fairlead-gate","kube-node-lease","kube-system"]},{"key":"fairlead.dev/gate","operator":"NotIn","values":["off"]}]})");
  EXPECT_EQ(hook["rules"].item(0)["operations"].dump(), R"(["CREATE","UPDATE"])");
}

TEST(Registration, changes_the_name_with_the_contents_and_only_then) {
  std::string name = name_in(made({"a.example.com"}).at(0));
  EXPECT_EQ(name_in(made({"a.example.com", "b.example.com"}).at(0)), name);
  Registrar other = registrar();
  other.ca_bundle = "T1RIRVI=";
  EXPECT_NE(name_in(configurations(other, {"a.example.com"}, {}, {}).at(0)), name);
}

TEST(Registration, has_the_built_in_kinds_that_a_webhook_guards) {
  Hook pods = hook(R"({"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]},
      {"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/*"]},
      {"operations":["DELETE"],"apiGroups":["batch"],"apiVersions":["v1"],"resources":["jobs"]},
      {"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/status"]}]})");
  std::vector<Json> all = made({}, {pods});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(name_in(all[0]), testing::StartsWith("0-fairlead-gate-kinds-core-"));
  EXPECT_EQ(rules_in(all[0]), R"(:["pods"] )");
  EXPECT_EQ(rules_in(all[1]), R"(apps:["deployments"] )");
  EXPECT_THAT(made({}, {}), IsEmpty());
}

TEST(Registration, leaves_out_what_nobody_may_wait_for) {
  Hook all_kinds =
      hook(R"({"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]})");
  for (const Json& configuration : made({}, {all_kinds})) {
    std::string rules = rules_in(configuration);
    for (std::string_view vital : {"leases", "nodes", "events", "endpoints", "\"*\""})
      EXPECT_THAT(rules, testing::Not(testing::HasSubstr(vital)));
  }
}

TEST(Registration, does_not_ask_about_what_webhooks_with_a_url_guard) {
  Hook by_url = hook(R"({"clientConfig":{"url":"https://x.example.com"},
      "rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["pods"]}]})");
  EXPECT_THAT(made({}, {by_url}), IsEmpty());
}

TEST(Registration, holds_for_long_only_what_an_awaited_webhook_is_called_for) {
  Hook awaited =
      hook(R"({"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1"],"resources":["widgets","pods"]}],
      "namespaceSelector":{"matchLabels":{"stage":"prod"}},"objectSelector":{"matchLabels":{"a":"b"}},
      "matchConditions":[{"name":"c","expression":"true"}]})");
  std::vector<Json> all = made({"shop.example.com"}, {awaited}, {awaited});
  const Json& hold = all.back();
  EXPECT_THAT(name_in(hold), testing::StartsWith("0-fairlead-gate-hold-"));
  EXPECT_LT(name_in(hold), name_in(all.front())) << "the long time-out must come first";
  EXPECT_EQ(rules_in(hold), R"(:["pods"] shop.example.com:["pods","widgets"] )");
  const Json& one = hold["webhooks"].item(0);
  EXPECT_EQ(one["timeoutSeconds"].int_or(0), 8);
  EXPECT_EQ(one["objectSelector"].dump(), R"({"matchLabels":{"a":"b"}})");
  EXPECT_EQ(one["matchConditions"].item(0)["expression"].string_or(""), "true");
  EXPECT_EQ(one["namespaceSelector"]["matchLabels"].dump(), R"({"stage":"prod"})");
  EXPECT_EQ(one["namespaceSelector"]["matchExpressions"].items().size(), 2U);
  EXPECT_EQ(made({"shop.example.com"}, {awaited}).size(), all.size() - 1);
}

TEST(CustomKinds, know_the_versions_that_are_served) {
  CustomKinds kinds;
  kinds.set(widget_definition());
  EXPECT_THAT(kinds.groups(), ElementsAre("shop.example.com"));
  EXPECT_TRUE(kinds.contains("shop.example.com", "widgets"));
  std::vector<admission::Equivalent> others = kinds.equivalents({"shop.example.com", "v1", "widgets"});
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].kind, (admission::GroupVersionKind{"shop.example.com", "v2", "Widget"}));
  EXPECT_FALSE(kinds.converts("shop.example.com", "widgets"));
  kinds.remove("widgets.shop.example.com");
  EXPECT_THAT(kinds.groups(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::gate
