#include "logs/logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "async/scope.h"
#include "journal/journal.h"
#include "kube/discovery.h"
#include "logs/bundle_logs.h"
#include "logs/run_logs.h"
#include "sandbox/sandbox.h"

namespace fairlead::logs {
namespace {

using namespace std::chrono_literals;
using journal::EventKind;

class LogsTest : public testing::Test {
 protected:
  LogsTest() {
    journal_.read_by([this](const journal::Event& event) { tell(event); });
  }
  ~LogsTest() override { loop_.run(sandbox_.stop()); }

  void tell(const journal::Event& event) {
    if (event.kind == EventKind::log) lines_.push_back(event.text);
  }
  void make(std::string path, std::string_view json) {
    auto made = loop_.run(client_.request({.verb = "create",
                                           .method = "POST",
                                           .target = std::move(path),
                                           .content_type = "application/json",
                                           .body = std::string(json)}));
    EXPECT_TRUE(made) << made.error().error().report();
  }
  void make_deployment(std::string_view annotations) {
    make("/apis/apps/v1/namespaces/default/deployments",
         fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web"}},"spec":{{"replicas":3,
    "selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{"labels":{{"app":"web"}},"annotations":{{{}}}}},
    "spec":{{"containers":[{{"name":"app","image":"x"}}]}}}}}}}})",
                     annotations));
  }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_{loop_, {}};
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
  kube::Discovery discovery_{client_};
  journal::Journal journal_{loop_.clock()};
  std::vector<std::string> lines_;
};

const object::Key kWeb{.group = "apps", .kind = "Deployment", .ns = "default", .name = "web"};

journal::Event event_of(EventKind kind) {
  journal::Event event{.kind = kind};
  event.key = kWeb;
  return event;
}

TEST_F(LogsTest, OneReplicaOfWhatIsNotReadyIsFollowed) {
  make_deployment(
      R"("sandbox.fairlead.dev/fail":"never-ready","sandbox.fairlead.dev/logs":"starting\nno database\nbye")");
  Result<Filter> filter = Filter::parse("start|base");
  ASSERT_TRUE(filter);
  RunLogs logs(client_, discovery_, journal_, *filter);
  logs.read(event_of(EventKind::stored));
  logs.read(event_of(EventKind::progress));
  logs.read(event_of(EventKind::progress));
  pass(30s);
  EXPECT_THAT(lines_, testing::ElementsAre("starting", "no database"));
  logs.read(event_of(EventKind::ready));
  loop_.run(logs.close());
}

TEST_F(LogsTest, ARestartedContainerIsReadAgain) {
  make_deployment(R"("sandbox.fairlead.dev/fail":"crash-loop","sandbox.fairlead.dev/logs":"no database")");
  RunLogs logs(client_, discovery_, journal_, {});
  logs.read(event_of(EventKind::progress));
  pass(9s);
  EXPECT_EQ(lines_.size(), 1U);
  pass(10s);
  EXPECT_EQ(lines_.size(), 2U);
  loop_.run(logs.close());
}

TEST(Sources, AContainerThatHasSucceededIsNotTheOneThatHoldsUpItsPod) {
  auto pod = [](std::string_view exit_code) {
    return *Json::parse(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"a"}},"status":{{"phase":"Pending",
            "initContainerStatuses":[{{"name":"init","ready":false,"state":{{"terminated":{{"exitCode":{}}}}}}}],
            "containerStatuses":[{{"name":"app","ready":false,"state":{{"running":{{}}}}}}]}}}})",
        exit_code));
  };
  EXPECT_EQ(unready_source_of(pod("0"))->container, "app");
  EXPECT_EQ(unready_source_of(pod("1"))->container, "init");
}

TEST(Sources, ASidecarThatWasEndedDoesNotHoldUpAPodThatHasSucceeded) {
  Json pod = *Json::parse(R"({"metadata":{"name":"p","namespace":"a"},"status":{"phase":"Succeeded",
      "initContainerStatuses":[{"name":"proxy","ready":false,"state":{"terminated":{"exitCode":143}}}],
      "containerStatuses":[{"name":"app","ready":false,"state":{"terminated":{"exitCode":0}}}]}})");
  EXPECT_FALSE(unready_source_of(pod));
}

TEST(Filter, AnInvalidExpressionIsToldAsSuch) {
  Result<Filter> filter = Filter::parse("a(");
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().message(), "\"a(\" is no regular expression: missing ): a(");
  EXPECT_TRUE(Filter().matches("anything"));
}

TEST(Chosen, ByKindOrByName) {
  EXPECT_TRUE(is_chosen(kWeb, {}));
  EXPECT_TRUE(is_chosen(kWeb, {"job", "deployment/web"}));
  EXPECT_TRUE(is_chosen(kWeb, {"Deployment"}));
  EXPECT_FALSE(is_chosen(kWeb, {"deployment/db", "pod/web"}));
}

TEST_F(LogsTest, ABundleThatDoesNotExistIsAnError) {
  auto read = [this](BundleOptions options) {
    return loop_.run(read_bundle(client_, discovery_, std::move(options), [](const Source&, std::string_view) {}));
  };
  Result<void> done = read({.name = "shop"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what(), "there is no bundle shop in namespace default");
}

}  // namespace
}  // namespace fairlead::logs
