#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using How = Ending::How;
using testing::ElementsAre;

std::string name_space(std::string_view name) {
  return fmt::format("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {}}}\n", name);
}

// Skipped by the API server, since there is no such Service; but it might refuse.
constexpr std::string_view kAskedAboutDeletions =
    "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: guard}\n"
    "webhooks:\n- name: v.example.com\n  clientConfig: {service: {name: nobody, namespace: nowhere}}\n"
    "  rules: [{apiGroups: [''], apiVersions: ['*'], operations: [DELETE], resources: [configmaps]}]\n"
    "  failurePolicy: Ignore\n  sideEffects: None\n  admissionReviewVersions: [v1]\n";

class SenderTest : public RemovalTest {
 protected:
  // The paths of the DELETEs that went out, in order.
  std::vector<std::string> deletes() {
    std::vector<std::string> all;
    for (const std::string& target : sent_) all.push_back(target.substr(0, target.find('?')));
    return all;
  }
  void listen(std::function<bool(const http::Request&)> fails = {}) {
    network_.fails = [this, fails](const http::Request& request) {
      if (request.method == "DELETE") sent_.push_back(request.target);
      return fails && fails(request);
    };
  }
  std::vector<std::string> sent_;
};

// The namespace controller waits for seconds first, so each namespace is deleted as soon as it is empty, while others
// are not yet.
TEST_F(SenderTest, ANamespaceIsToldToGoWhileTheContentsOfOthersStillAre) {
  std::string bundle = name_space("one") + name_space("two");
  for (int i = 0; i < 300; ++i) bundle += config_map(fmt::format("c{}", i), "", i % 2 == 0 ? "one" : "two");
  put(bundle + std::string(kAskedAboutDeletions));
  listen();
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  std::vector<std::string> order = deletes();
  ASSERT_EQ(order.size(), 302U);
  auto place = [&](std::string_view path) { return std::ranges::find(order, path) - order.begin(); };
  // The last of its own contents is the 150th.
  EXPECT_EQ(place("/api/v1/namespaces/one/configmaps/c298"), 149);
  EXPECT_GT(place("/api/v1/namespaces/one"), 149);
  EXPECT_LT(place("/api/v1/namespaces/one"), place("/api/v1/namespaces/two/configmaps/c299"));
  EXPECT_EQ(place("/api/v1/namespaces/two"), 301);
}

TEST_F(SenderTest, ANamespaceIsToldBeforeItsContentsWhereNobodyMayRefuseAnyOfThem) {
  std::string bundle = name_space("team") + config_map("a", "", "team");
  put(bundle);
  listen();
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(deletes(), ElementsAre("/api/v1/namespaces/team", "/api/v1/namespaces/team/configmaps/a"));
}

TEST_F(SenderTest, ANamespaceIsToldAfterItsContentsWhereItIsNotKnownWhoMayRefuse) {
  std::string bundle = name_space("team") + config_map("a", "", "team");
  put(bundle);
  listen([](const http::Request& request) {
    return request.target.find("validatingwebhookconfigurations") != std::string::npos;
  });
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(deletes(), ElementsAre("/api/v1/namespaces/team/configmaps/a", "/api/v1/namespaces/team"));
}

TEST_F(SenderTest, ANamespaceIsToldAfterItsContentsWhereAPolicyLooksAtDeletions) {
  std::string bundle = name_space("team") + config_map("a", "", "team");
  put(bundle +
      "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: keep}\n"
      "spec: {matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [DELETE], "
      "resources: ['*']}]}, validations: [{expression: 'true'}]}\n");
  listen();
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(deletes(), ElementsAre("/api/v1/namespaces/team/configmaps/a", "/api/v1/namespaces/team"));
}

TEST_F(SenderTest, ANamespaceWithSomethingProtectedIsNotTold) {
  std::string bundle = name_space("team") + config_map("a", "annotations: {fairlead.dev/delete: protected}", "team") +
                       config_map("b", "", "team");
  put(bundle);
  listen();
  Ending ending = remove(bundle);
  EXPECT_EQ(states(ending), "Namespace team blocked\nConfigMap team/a refused\nConfigMap team/b gone\n");
  EXPECT_THAT(deletes(), ElementsAre("/api/v1/namespaces/team/configmaps/b"));
}

// Whoever may remove a namespace may remove what is in it, if not one by one.
TEST_F(SenderTest, WhatMayNotBeRemovedByItselfGoesWithItsNamespace) {
  std::string bundle = name_space("team") + config_map("a", "", "team");
  put(bundle);
  network_.forbids = [](const http::Request& request) {
    return request.method == "DELETE" && request.target.find("/configmaps/a") != std::string::npos;
  };
  Ending ending = remove(bundle);
  EXPECT_EQ(states(ending), "Namespace team gone\nConfigMap team/a gone\n") << reports(ending);
}

TEST_F(SenderTest, WhatMayNotBeRemovedBeforeItsNamespaceIsToldIsRefused) {
  std::string bundle = name_space("team") + config_map("a", "", "team");
  put(bundle + std::string(kAskedAboutDeletions));
  listen();
  network_.forbids = [](const http::Request& request) {
    return request.method == "DELETE" && request.target.find("/configmaps/a") != std::string::npos;
  };
  Ending ending = remove(bundle, {.timeout = std::chrono::minutes(1)});
  EXPECT_EQ(states(ending), "Namespace team blocked\nConfigMap team/a refused\n") << reports(ending);
  EXPECT_THAT(deletes(), ElementsAre("/api/v1/namespaces/team/configmaps/a"));
}

TEST_F(SenderTest, WhatIsNotTakenIsSentAgainAndHoldsUpNothingElse) {
  put(config_map("a") + config_map("b"));
  int refused = 0;
  listen([&](const http::Request& request) {
    return request.method == "DELETE" && request.target.find("/configmaps/a") != std::string::npos && ++refused <= 12;
  });
  Ending ending = remove(config_map("a") + config_map("b"));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(removed(), ElementsAre("ConfigMap default/b", "ConfigMap default/a"));
  // This is reported once.
  EXPECT_EQ(count_events(journal::EventKind::error, "not removed"), 1U);
}

TEST_F(SenderTest, WhatIsOnItsWayAlreadyIsNotToldAgain) {
  put(config_map("a", "finalizers: [acme.dev/never]"));
  remove_named({"configmap/a"}, {.wait = false});
  listen();
  Ending ending = remove_named({"configmap/a"}, {.wait = false});
  EXPECT_EQ(states(ending), "ConfigMap default/a leaving\n");
  EXPECT_THAT(deletes(), ElementsAre());
  // Another propagation needs another DELETE.
  remove_named({"configmap/a"}, {.cascade = Cascade::foreground, .wait = false});
  EXPECT_THAT(deletes(), ElementsAre("/api/v1/namespaces/default/configmaps/a"));
}

TEST_F(SenderTest, AnotherObjectThatTookTheNameBeforeTheDeletionIsNotTouched) {
  put(config_map("a"));
  std::string before(get("/api/v1/namespaces/default/configmaps/a")["metadata"]["uid"].string_or(""));
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (request.method != "DELETE") co_return;
    std::string maps = "/api/v1/namespaces/default/configmaps";
    EXPECT_TRUE(co_await admin_.request({.method = "DELETE", .target = maps + "/a"}));
    EXPECT_TRUE(co_await admin_.request({.method = "POST",
                                         .target = maps,
                                         .content_type = "application/json",
                                         .body = R"({"metadata":{"name":"a"}})"}));
  };
  Ending ending = remove(config_map("a"));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap default/a gone\n");
  EXPECT_THAT(events(), testing::HasSubstr("another object has its name now and is not touched"));
  Json after = get("/api/v1/namespaces/default/configmaps/a");
  EXPECT_TRUE(after.is_object());
  EXPECT_NE(after["metadata"]["uid"].string_or(""), before);
}

TEST_F(SenderTest, WhatWasMadeAnewSinceItWasListedIsNotTouched) {
  put(config_map("a"));
  ASSERT_TRUE(loop_.run(discovery_.all()));
  Target target{.key = {"", "ConfigMap", "default", "a"}, .version = "v1", .source = {}, .uid = "of-the-former"};
  Ending ending = loop_.run(take_out(client_, discovery_, {target}, {}, journal_, nullptr));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap default/a absent\n");
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/a").is_object());
}

TEST_F(SenderTest, WhatSomebodyElseDeletesJustBeforeIsDeleted) {
  put(config_map("a"));
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (request.method != "DELETE") co_return;
    (void)co_await admin_.request({.method = "DELETE", .target = "/api/v1/namespaces/default/configmaps/a"});
  };
  Ending ending = remove(config_map("a"));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap default/a gone\n");
  EXPECT_THAT(removed(), ElementsAre("ConfigMap default/a"));
}

}  // namespace
}  // namespace fairlead::removal
