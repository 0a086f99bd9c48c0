// What an apply did, found out without a further request.
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

std::string two_maps(std::string_view value) {
  return fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: one}}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b}}\ndata: {{x: {}}}\n",
      value);
}

TEST_F(RolloutTest, WithoutANameTheAnswerTellsWhatHasChanged) {
  EXPECT_EQ(states(apply(two_maps("one"))), "ConfigMap default/a created\nConfigMap default/b created\n");
  uint64_t before = client_.counts().find("get")->second;
  // In the same second, and later.
  EXPECT_EQ(states(apply(two_maps("one"))), "ConfigMap default/a unchanged\nConfigMap default/b unchanged\n");
  EXPECT_EQ(states(apply(two_maps("two"))), "ConfigMap default/a unchanged\nConfigMap default/b changed\n");
  (void)loop_.run(sleep_for(loop_, seconds(120)));
  EXPECT_EQ(states(apply(two_maps("two"))), "ConfigMap default/a unchanged\nConfigMap default/b unchanged\n");
  EXPECT_EQ(states(apply(two_maps("three"))), "ConfigMap default/a unchanged\nConfigMap default/b changed\n");
  EXPECT_EQ(client_.counts().find("get")->second, before + 4 * 2) << "requests for discovery only";
}

TEST_F(RolloutTest, WhatOthersHaveWrittenIsNotOurChange) {
  (void)apply(two_maps("one"));
  (void)loop_.run(sleep_for(loop_, seconds(60)));
  journal_.read_by([this](const journal::Event& event) {
    if (event.kind != journal::EventKind::started) return;
    // After the run has read what there is, and before it sends anything.
    loop_.post([this] {
      injector_.spawn([](kube::Client& client) -> Task<void> {
        (void)co_await client.request({.verb = "patch",
                                       .method = "PATCH",
                                       .target = "/api/v1/namespaces/default/configmaps/a?fieldManager=somebody",
                                       .content_type = "application/merge-patch+json",
                                       .body = R"({"data":{"theirs":"1"}})"});
      }(client_));
    });
  });
  EXPECT_EQ(states(apply(two_maps("one"))), "ConfigMap default/a unchanged\nConfigMap default/b unchanged\n");
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/a")["data"]["theirs"].string_or(""), "1");
  loop_.run(injector_.join());
}

TEST_F(RolloutTest, ADryRunTellsWhatWouldChange) {
  std::string ns = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {x: LABEL}}\n";
  auto with = [&](std::string_view value, std::string_view label) {
    std::string text = two_maps(value) + ns;
    return text.replace(text.find("LABEL"), 5, label);
  };
  (void)apply(with("one", "one"));
  (void)loop_.run(sleep_for(loop_, seconds(10)));
  Options options;
  options.dry_run = true;
  EXPECT_EQ(states(apply(with("one", "one"), options)),
            "ConfigMap default/a unchanged\nConfigMap default/b unchanged\nNamespace team unchanged\n");
  EXPECT_EQ(states(apply(with("two", "two"), options)),
            "ConfigMap default/a unchanged\nConfigMap default/b changed\nNamespace team changed\n");
}

}  // namespace
}  // namespace fairlead::rollout
