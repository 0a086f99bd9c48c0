// How deletions are followed where the API server fails, forbids watches, or another object takes the name.
#include "removal/internal/tracking.h"

#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using How = Ending::How;

TEST_F(RemovalTest, AnApiThatFailsForMinutesIsToldAndNothingIsTakenForGone) {
  put(std::string(kWidgets) + widget("one"));
  loop_.call_after(seconds(5), [this] { network_.fails = [](const http::Request&) { return true; }; });
  // The watch is cut, and cannot be opened again.
  loop_.call_after(seconds(6), [this] { sandbox_.set_down(0, true); });
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(4)});
  sandbox_.set_down(0, false);
  EXPECT_EQ(ending.how, How::failed) << events();
  EXPECT_EQ(states(ending), "Widget default/one unknown\n");
  EXPECT_THAT(reports(ending), HasSubstr("after 4m it is not known whether Widget default/one is deleted\n"));
  EXPECT_GE(count_events(EventKind::error, ""), 1U) << events();
}

TEST_F(RemovalTest, AnApiThatComesBackIsGoneOnWith) {
  put(std::string(kWidgets) + widget("one"));
  start_operator(seconds(1));
  loop_.call_after(std::chrono::milliseconds(500), [this] { sandbox_.set_down(0, true); });
  loop_.call_after(minutes(3), [this] { sandbox_.set_down(0, false); });
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(10)});
  EXPECT_EQ(ending.how, How::done) << events();
}

TEST_F(RemovalTest, AnotherOneUnderTheNameStays) {
  put(config_map("a", "finalizers: [example.com/x]"));
  object::Resource maps{.group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true};
  loop_.call_after(seconds(3), [&] {
    actors_.spawn([](RemovalTest& test, kube::Client& admin, object::Resource of) -> Task<void> {
      (void)test;
      Json patch(Json::Object{{"metadata", Json::Object{{"finalizers", nullptr}}}});
      (void)co_await admin.patch(of, "default", "a", kube::PatchType::merge, patch);
      (void)co_await admin.create(
          of, "default",
          Json(Json::Object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", Json::Object{{"name", "a"}}}}));
    }(*this, admin_, maps));
  });
  Ending ending = remove(config_map("a"));
  EXPECT_EQ(ending.how, How::done) << events();
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/a")["metadata"]["name"].string_or(""), "a");
}

class WatchingForbidden : public RemovalTest {
 protected:
  WatchingForbidden() : RemovalTest(options()) {}
  static sandbox::Options options() {
    sandbox::Options options;
    options.forbids = [](std::string_view, std::string_view verb, std::string_view, std::string_view resource,
                         std::string_view, std::string_view) { return verb == "watch" && resource == "widgets"; };
    return options;
  }
};

TEST_F(WatchingForbidden, ItPolls) {
  put(std::string(kWidgets) + widget("one"));
  start_operator(seconds(25));
  Ending ending = remove_named({"widget/one"});
  EXPECT_EQ(ending.how, How::done) << events();
}

TEST_F(WatchingForbidden, WhatMayNotBeReadAnyMoreIsNotTakenForGone) {
  put(std::string(kWidgets) + widget("one"));
  bool is_deleted = false;
  network_.forbids = [&](const http::Request& request) {
    if (request.method == "DELETE") is_deleted = true;
    return is_deleted && request.method == "GET" && request.target.contains("/widgets");
  };
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(2)});
  EXPECT_EQ(ending.how, How::failed) << events();
  EXPECT_EQ(states(ending), "Widget default/one unknown\n");
}

// A user of a few namespaces, whose bundle is in more of them than are watched one by one.
TEST_F(RemovalTest, WhatMayNotBeReadInTheWholeClusterIsReadByNamespaceOrByName) {
  std::string bundle;
  for (std::string_view ns : {"n1", "n2", "n3", "n4"}) {
    put(fmt::format("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {}}}\n", ns));
    bundle += config_map("a", "", ns) + config_map("b", "", ns);
  }
  for (std::string_view allowed : {"/namespaces/", "metadata.name%3D"}) {
    put(bundle);
    events_.clear();
    network_.forbids = [&](const http::Request& request) {
      bool lists = request.method == "GET" && request.target.find("/configmaps?") != std::string::npos;
      return lists && request.target.find(allowed) == std::string::npos;
    };
    Ending ending = remove(bundle);
    EXPECT_EQ(ending.how, How::done) << allowed << reports(ending) << events();
    EXPECT_EQ(events().find("cannot be watched"), std::string::npos) << events();
    EXPECT_EQ(std::ranges::count(ending.objects, ObjectEnding::State::gone, &ObjectEnding::state), 8);
  }
}

TEST_F(WatchingForbidden, ThatNobodyServesTheInstancesOfADefinitionThatWentIsNoNews) {
  // A namespace takes longer than the CRD.
  std::string bundle =
      std::string(kWidgets) + widget("one") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: slow}\n";
  put(bundle);
  start_operator(seconds(1));
  sandbox_.core().options.delays.controller = seconds(10);
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(events(), testing::Not(HasSubstr("cannot be watched")));
}

}  // namespace
}  // namespace fairlead::removal
