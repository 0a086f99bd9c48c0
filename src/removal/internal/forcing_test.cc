// Finalizers are removed by force; what happens when they cannot be, or when somebody else is faster.
#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using How = Ending::How;
using journal::EventKind;
using std::chrono::minutes;
using testing::ElementsAre;

class ForcingTest : public RemovalTest {
 protected:
  static Options forcing() { return {.timeout = minutes(2), .force_finalizers = true}; }
  static bool patches(const http::Request& request, std::string_view path) {
    return request.method == "PATCH" && request.target.contains(path);
  }
  Task<void> patch_held(std::string patch, std::string_view ns = "default") {
    auto done = co_await admin_.request({.method = "PATCH",
                                         .target = fmt::format("/api/v1/namespaces/{}/configmaps/held", ns),
                                         .content_type = "application/merge-patch+json",
                                         .body = std::move(patch)});
    EXPECT_TRUE(done);
  }
  std::vector<std::string> texts(EventKind kind, std::string_view state) const {
    std::vector<std::string> all;
    for (const journal::Event& event : events_)
      if (event.kind == kind && event.state == state) all.push_back(event.key.text() + ": " + event.text);
    return all;
  }
};

TEST_F(ForcingTest, WhatIsDeletedMeanwhileIsDeleted) {
  put(config_map("held", "finalizers: [acme.dev/never]"));
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (patches(request, "/configmaps/held")) co_await patch_held(R"({"metadata":{"finalizers":null}})");
  };
  Ending ending = remove_named({"configmap/held"}, forcing());
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending), "ConfigMap default/held gone\n");
  EXPECT_EQ(count_events(EventKind::error, "not forced"), 0U) << events();
}

TEST_F(ForcingTest, WhatIsChangedMeanwhileIsLookedAtAgain) {
  put(config_map("held", "finalizers: [acme.dev/never]"));
  int changes = 0;
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (patches(request, "/configmaps/held") && ++changes == 1)
      co_await patch_held(R"({"metadata":{"labels":{"changed":"yes"}}})");
  };
  Ending ending = remove_named({"configmap/held"}, forcing());
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(changes, 2) << events();
}

TEST_F(ForcingTest, WhatMayNotBeChangedIsReported) {
  put(config_map("held", "finalizers: [acme.dev/never]"));
  network_.forbids = [](const http::Request& request) { return patches(request, "/configmaps/held"); };
  Ending ending = remove_named({"configmap/held"}, forcing());
  EXPECT_EQ(ending.how, How::timed_out) << events();
  EXPECT_THAT(texts(EventKind::error, "not forced"),
              testing::Contains("ConfigMap default/held: the finalizers could not be removed"))
      << events();
}

TEST_F(ForcingTest, SayingNoLeavesTheFinalizers) {
  put(config_map("held", "finalizers: [acme.dev/never]"));
  Options options = forcing();
  int questions = 0;
  options.ask = [&](std::string) -> Task<bool> { co_return ++questions == 1; };
  Ending ending = remove_named({"configmap/held"}, options);
  EXPECT_EQ(ending.how, How::timed_out) << events();
  // The first question is about the deletion.
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/held")["metadata"]["finalizers"].items().size(), 1U);
  EXPECT_EQ(count_events(EventKind::warning, "forced"), 0U) << events();
}

TEST_F(ForcingTest, ContentsOfANamespaceThatMayNotBeChangedAreReported) {
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
      config_map("held", "finalizers: [acme.dev/never]", "team"));
  network_.forbids = [](const http::Request& request) { return patches(request, "/configmaps/held"); };
  Ending ending = remove_named({"namespace/team"}, forcing());
  EXPECT_EQ(ending.how, How::timed_out) << events();
  EXPECT_THAT(texts(EventKind::error, "not forced"),
              testing::Contains("ConfigMap team/held: the finalizers could not be removed"))
      << events();
}

TEST_F(ForcingTest, ContentsOfANamespaceThatAreDeletedMeanwhileAreDeleted) {
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
      config_map("held", "finalizers: [acme.dev/never]", "team"));
  bool is_outrun = false;
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (!patches(request, "/configmaps/held") || std::exchange(is_outrun, true)) co_return;
    co_await patch_held(R"({"metadata":{"finalizers":null}})", "team");
  };
  Ending ending = remove_named({"namespace/team"}, forcing());
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_TRUE(is_outrun);
  EXPECT_EQ(count_events(EventKind::error, "not forced"), 0U) << events();
}

TEST_F(ForcingTest, FinalizersOfKubernetesStayWhileThereAreOthers) {
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
      config_map("held", "finalizers: [acme.dev/never]", "team") +
      config_map("used", "finalizers: [kubernetes.io/pvc-protection]", "team"));
  std::vector<std::string> questions;
  Options options = forcing();
  options.ask = [&](std::string text) -> Task<bool> {
    questions.push_back(std::move(text));
    co_return questions.size() < 3;
  };
  remove_named({"namespace/team"}, options);
  ASSERT_GE(questions.size(), 2U) << events();
  EXPECT_EQ(questions[1],
            "Namespace team is stuck. The finalizers of the remaining objects in it would be removed by force, without "
            "the cleanup that they wait for: ConfigMap team/held (acme.dev/never).");
}

TEST_F(ForcingTest, AnEmptyNamespaceThatNobodyFinalizesLosesItsOwnFinalizers) {
  sandbox_.core().options.delays.controller = minutes(60);
  sandbox_.core().options.delays.namespace_retry = minutes(60);
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
  std::vector<std::string> questions;
  Options options = forcing();
  options.ask = [&](std::string text) -> Task<bool> {
    questions.push_back(std::move(text));
    co_return true;
  };
  Ending ending = remove_named({"namespace/team"}, options);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  ASSERT_EQ(questions.size(), 2U) << events();
  EXPECT_EQ(questions[1],
            "Namespace team is stuck. Its own finalizers (kubernetes) would be removed by force; nothing remains in "
            "it.");
  EXPECT_THAT(texts(EventKind::warning, "forced"),
              ElementsAre("Namespace team: removing its own finalizers by force: kubernetes; nothing remains in it"));
  EXPECT_TRUE(get("/api/v1/namespaces/team").is_null());
}

TEST_F(ForcingTest, FinalizersAreForcedOnlyWhenAskedAndOnlyWhatIsStuck) {
  put(config_map("a", "finalizers: [acme.dev/never]") + config_map("b", "finalizers: [acme.dev/never]"));
  std::vector<std::string> questions;
  Options options{.timeout = minutes(1), .force_finalizers = true};
  options.ask = [&](std::string text) -> Task<bool> {
    questions.push_back(std::move(text));
    co_return true;
  };
  Ending ending = remove_named({"configmap/a"}, options);
  EXPECT_EQ(ending.how, How::done) << events();
  EXPECT_THAT(questions, ElementsAre("1 object will be deleted (1 ConfigMap).",
                                     "ConfigMap default/a is stuck. Its finalizers (acme.dev/never) would be removed "
                                     "by force, without the cleanup that they wait for."));
  EXPECT_EQ(count_events(EventKind::warning, "forced"), 1U);
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/b")["metadata"]["finalizers"].items().empty());
}

TEST_F(ForcingTest, ANamespaceIsEmptiedByForceAndNothingComesBack) {
  std::string team = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";
  put(team + std::string("---\n") + std::string(kWidgets) + config_map("held", "finalizers: [acme.dev/never]", "team") +
      widget("held", "acme.dev/never", "team"));
  std::vector<std::string> questions;
  Options options{.timeout = minutes(2), .force_finalizers = true};
  options.ask = [&](std::string text) -> Task<bool> {
    questions.push_back(std::move(text));
    co_return true;
  };
  Ending ending = remove_named({"namespace/team"}, options);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  ASSERT_EQ(questions.size(), 2U);
  EXPECT_EQ(questions[1],
            "Namespace team is stuck. The finalizers of the remaining objects in it would be removed by force, without "
            "the cleanup that they wait for: ConfigMap team/held (acme.dev/never), Widget team/held "
            "(acme.dev/never).");
  EXPECT_EQ(count_events(EventKind::warning, "forced"), 2U) << events();
  put(team);
  EXPECT_TRUE(get("/api/v1/namespaces/team/configmaps/held").is_null());
  EXPECT_TRUE(get("/apis/example.com/v1/namespaces/team/widgets/held").is_null());
}

}  // namespace
}  // namespace fairlead::removal
