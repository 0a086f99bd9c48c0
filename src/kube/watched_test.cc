#include "kube/watched.h"

#include <gtest/gtest.h>

#include "async/scope.h"
#include "sandbox/sandbox.h"

namespace fairlead::kube {
namespace {

const object::Resource kConfigMaps{.group = "",
                                   .version = "v1",
                                   .kind = "ConfigMap",
                                   .plural = "configmaps",
                                   .singular = "configmap",
                                   .namespaced = true};

Json config_map(std::string_view name, std::string_view value) {
  return Json(Json::Object{{"apiVersion", "v1"},
                           {"kind", "ConfigMap"},
                           {"metadata", Json::Object{{"name", name}}},
                           {"data", Json::Object{{"value", value}}}});
}

// A server that cannot be reached while it is away.
class Away final : public http::Transport {
 public:
  explicit Away(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (is_away) co_return fail(ErrorKind::unavailable, "connection refused");
    co_return co_await to_.open(std::move(request));
  }
  bool is_away = false;

 private:
  http::Transport& to_;
};

class WatchedTest : public testing::Test {
 protected:
  explicit WatchedTest(sandbox::Forbids forbids = {})
      : sandbox_(loop_, {.forbids = std::move(forbids)}),
        network_(sandbox_.api_server()),
        client_(loop_, network_, nullptr, {}) {}
  ~WatchedTest() override { loop_.run(sandbox_.stop()); }

  // Runs the watch while things change, and tells what it said.
  std::vector<std::string> tell() {
    std::vector<std::string> told;
    Watched watched(client_, kConfigMaps, {.ns = "default", .field_selector = "metadata.name=a"},
                    [&](const Json& object, bool gone) {
                      told.push_back(object.is_null()
                                         ? "synced"
                                         : std::string(object["data"]["value"].string_or("")) + (gone ? " gone" : ""));
                    });
    loop_.run([](WatchedTest& test, Watched& it) -> Task<void> {
      Scope scope(test.loop_, nullptr);
      scope.spawn(it.run());
      auto pass = [&] { return sleep_for(test.loop_, std::chrono::seconds(30)); };
      (void)co_await pass();
      (void)co_await test.client_.create(kConfigMaps, "default", config_map("a", "1"));
      (void)co_await pass();
      (void)co_await test.client_.apply(kConfigMaps, "default", "a", config_map("a", "2"), {{}, true});
      (void)co_await pass();
      (void)co_await test.client_.remove(kConfigMaps, "default", "a");
      (void)co_await pass();
      scope.cancel();
      co_await scope.join();
    }(*this, watched));
    trouble_ = watched.trouble();
    return told;
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  Away network_;
  Client client_;
  std::optional<Error> trouble_;
};

TEST_F(WatchedTest, TellsEveryChange) {
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced", "1", "2", "2 gone"}));
  EXPECT_FALSE(trouble_);
  EXPECT_EQ(client_.counts().find("list")->second, 1u);
}

struct NoWatch : WatchedTest {
  NoWatch()
      : WatchedTest([](std::string_view, std::string_view verb, auto, auto, auto, auto) { return verb == "watch"; }) {}
};
TEST_F(NoWatch, ListsWhereWatchingIsForbidden) {
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced", "1", "2", "2 gone"}));
  EXPECT_FALSE(trouble_);
  EXPECT_LT(client_.counts().find("list")->second, 40u);
}

TEST_F(NoWatch, GoesOnListingAfterAServerThatWasAway) {
  // Longer than a request is repeated for.
  loop_.call_after(std::chrono::seconds(42), [this] { network_.is_away = true; });
  loop_.call_after(std::chrono::seconds(59), [this] { network_.is_away = false; });
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced", "1", "2", "2 gone"}));
  EXPECT_FALSE(trouble_);
}

struct OnlyGet : WatchedTest {
  OnlyGet()
      : WatchedTest([](std::string_view, std::string_view verb, auto, auto, auto, auto) {
          return verb == "watch" || verb == "list";
        }) {}
};
TEST_F(OnlyGet, GetsTheOneObjectWhereListingIsForbidden) {
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced", "1", "2", "2 gone"}));
  EXPECT_FALSE(trouble_);
  EXPECT_EQ(client_.counts().find("list")->second, 2u);
}

struct Nothing : WatchedTest {
  Nothing()
      : WatchedTest([](std::string_view, std::string_view verb, auto, auto, auto, auto) {
          return verb == "watch" || verb == "list" || verb == "get";
        }) {}
};
TEST_F(Nothing, SaysWhyItCannotTell) {
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced"}));
  ASSERT_TRUE(trouble_);
  EXPECT_EQ(trouble_->kind(), ErrorKind::denied);
}

struct ForbidsAtFirst : WatchedTest {
  ForbidsAtFirst()
      : WatchedTest([this](std::string_view, auto, auto, auto, auto, auto) {
          return loop_.now() < TimePoint(std::chrono::seconds(5));
        }) {}
};
// Everything is forbidden at first, and getting and watching afterwards too: a list is tried again.
struct AllowsListsLater : WatchedTest {
  AllowsListsLater()
      : WatchedTest([this](std::string_view, std::string_view verb, auto, auto, auto, auto) {
          return loop_.now() < TimePoint(std::chrono::seconds(5)) || verb == "get" || verb == "watch";
        }) {}
};
TEST_F(AllowsListsLater, IsListedThen) {
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced", "1", "2", "2 gone"}));
  EXPECT_FALSE(trouble_);
}

TEST_F(ForbidsAtFirst, IsAskedAgain) {
  EXPECT_EQ(tell(), (std::vector<std::string>{"synced", "1", "2", "2 gone"}));
  EXPECT_FALSE(trouble_);
}

}  // namespace
}  // namespace fairlead::kube
