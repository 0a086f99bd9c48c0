#include "gate/rules/verdict.h"

#include <gmock/gmock.h>

#include "gate/rules/rules_testing.h"

namespace fairlead::gate {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

const TimePoint kLater = TimePoint() + 1h;

class VerdictTest : public testing::Test {
 protected:
  VerdictTest() { kinds_.set(widget_definition()); }

  void await(Hook which, Phase phase = Phase::coming_up, TimePoint until = kLater) {
    hooks_.push_back(std::make_unique<Hook>(std::move(which)));
    awaited_.push_back({.hook = hooks_.back().get(),
                        .phase = phase,
                        .until = until,
                        .finding = {Finding::Kind::failing, "service shop/hook has no ready endpoint", "kubectl x"}});
    backing_.insert("shop");
  }
  std::optional<Wait> wait(const webhook::Request& request) const {
    return wait_for(request, {.awaited = awaited_,
                              .backing = backing_,
                              .kinds = kinds_,
                              .ns_object = parsed(R"({"metadata":{"name":"team","labels":{"stage":"prod"}}})")});
  }

  std::vector<std::unique_ptr<Hook>> hooks_;
  std::vector<AwaitedHook> awaited_;
  std::set<std::string, std::less<>> backing_;
  CustomKinds kinds_;
};

TEST_F(VerdictTest, lets_everything_pass_while_nothing_is_awaited) { EXPECT_FALSE(wait(widget())); }

TEST_F(VerdictTest, waits_for_a_webhook_that_would_be_called) {
  await(hook());
  std::optional<Wait> found = wait(widget());
  ASSERT_TRUE(found);
  EXPECT_THAT(found->hooks, ElementsAre("validating/shop/v.shop.example.com/0/u-1"));
  EXPECT_EQ(found->until, kLater);
  EXPECT_FALSE(found->is_provisional);
  EXPECT_EQ(refusal_text(*found),
            "webhook v.shop.example.com (ValidatingWebhookConfiguration shop) does not work yet: service shop/hook has "
            "no ready endpoint; see: kubectl x");
}

TEST_F(VerdictTest, waits_for_those_with_failure_policy_ignore_as_well) {
  await(hook(R"({"failurePolicy":"Ignore"})"));
  EXPECT_TRUE(wait(widget()));
}

TEST_F(VerdictTest, goes_by_rules_and_equivalent_versions) {
  std::string_view only_v2 = R"({"rules":[{"operations":["CREATE"],"apiGroups":["shop.example.com"],
      "apiVersions":["v2"],"resources":["widgets"]}])";
  await(hook(std::string(only_v2) + "}"));
  EXPECT_TRUE(wait(widget())) << "v1 is served as v2, too";
  awaited_.clear();
  await(hook(std::string(only_v2) + R"(,"matchPolicy":"Exact"})"));
  EXPECT_FALSE(wait(widget()));
}

TEST_F(VerdictTest, does_not_wait_where_only_the_conversion_webhook_knows_the_object) {
  kinds_.set(widget_definition(R"({"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://x.example.com"}}})"));
  await(hook(R"({"rules":[{"operations":["CREATE"],"apiGroups":["shop.example.com"],"apiVersions":["v2"],
                 "resources":["widgets"]}],"matchConditions":[{"name":"a","expression":"object.spec.size > 1"}]})"));
  EXPECT_FALSE(wait(widget()));
}

TEST_F(VerdictTest, goes_by_selectors) {
  await(hook(R"({"namespaceSelector":{"matchLabels":{"stage":"test"}}})"));
  EXPECT_FALSE(wait(widget()));
  await(hook(R"({"namespaceSelector":{"matchLabels":{"stage":"prod"}}})"));
  EXPECT_TRUE(wait(widget()));
}

TEST_F(VerdictTest, goes_by_conditions_and_lets_pass_what_it_cannot_read) {
  await(hook(R"({"matchConditions":[{"name":"a","expression":"request.userInfo.username != 'jane'"}]})"));
  EXPECT_FALSE(wait(widget()));
  awaited_.clear();
  await(hook(
      R"json({"matchConditions":[{"name":"a","expression":"authorizer.group('x').resource('y').check('z').allowed()"}]})json"));
  EXPECT_FALSE(wait(widget()));
  awaited_.clear();
  await(hook(R"({"matchConditions":[{"name":"a","expression":"request.userInfo.username == 'jane'"}]})"));
  EXPECT_TRUE(wait(widget()));
}

TEST_F(VerdictTest, does_not_wait_where_the_object_may_be_what_the_webhook_needs) {
  await(hook(R"({"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]})"));
  EXPECT_FALSE(wait(built_in("secrets", "Secret", "shop")));
  EXPECT_TRUE(wait(built_in("secrets", "Secret", "team")));
}

TEST_F(VerdictTest, tells_of_what_is_proved_and_counts_the_others) {
  await(hook(R"({"name":"a.example.com"})"), Phase::unseen, TimePoint() + 1s);
  std::optional<Wait> first = wait(widget());
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_provisional);
  await(hook(R"({"name":"b.example.com"})"));
  std::optional<Wait> both = wait(widget());
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->is_provisional);
  EXPECT_THAT(both->hooks, SizeIs(2));
  EXPECT_EQ(both->name, "b.example.com");
  EXPECT_EQ(both->until, kLater);
  EXPECT_THAT(refusal_text(*both), testing::StartsWith("webhook b.example.com (ValidatingWebhookConfiguration shop) "
                                                       "does not work yet (and 1 more): "));
}

TEST(HooksOf, leaves_out_those_of_gates_and_of_fairlead_itself) {
  EXPECT_THAT(hooks_of(configuration_of(stored_hook(), "x", true, R"({"labels":{"fairlead.dev/gate":"other"}})")),
              SizeIs(0));
  EXPECT_THAT(hooks_of(configuration_of(stored_hook(), "x", true, R"({"labels":{"fairlead.dev/shadow":"run"}})")),
              SizeIs(0));
  EXPECT_THAT(hooks_of(configuration_of(stored_hook())), SizeIs(1));
}

}  // namespace
}  // namespace fairlead::gate
