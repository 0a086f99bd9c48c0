#include "sandbox/verbs/internal/pod_log.h"

#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kPodsPath = "/api/v1/namespaces/default/pods";

class PodLogTest : public SandboxTest {
 protected:
  PodLogTest() { pass(1s); }

  void make(std::string_view annotations, std::string_view restart_policy = "Always") {
    Got made = post(std::string(kPodsPath),
                    fmt::format(R"({{"metadata":{{"name":"p","annotations":{{{}}}}},"spec":{{"restartPolicy":"{}",
                        "containers":[{{"name":"c","image":"x"}}]}}}})",
                                annotations, restart_policy));
    EXPECT_EQ(made.status, 201) << made.text;
  }
  Got log(std::string_view query = "") { return get(fmt::format("{}/p/log{}", kPodsPath, query)); }
};

TEST_F(PodLogTest, ARunningContainerHasWrittenItsLines) {
  make(R"("sandbox.fairlead.dev/logs":"one\ntwo\nthree")");
  pass(5s);
  EXPECT_EQ(log().text, "one\ntwo\nthree\n");
  EXPECT_EQ(log("?tailLines=2").text, "two\nthree\n");
  EXPECT_EQ(log("?tailLines=9").text, "one\ntwo\nthree\n");
  EXPECT_EQ(log("?tailLines=0").text, "");
  EXPECT_EQ(log("?container=c&tailLines=2&limitBytes=5").text, "two\nt");
}

TEST_F(PodLogTest, WhatHasNoLogIsRefusedInTheServersWords) {
  make(R"("sandbox.fairlead.dev/fail":"image-pull")");
  pass(5s);
  EXPECT_EQ(log().body["message"],
            Json(R"(container "c" in pod "p" is waiting to start: trying and failing to pull image)"));
  EXPECT_EQ(log("?previous=true").body["message"], Json(R"(previous terminated container "c" in pod "p" not found)"));
  EXPECT_EQ(log("?container=d").body["message"], Json("container d is not valid for pod p"));
  EXPECT_EQ(log("?timestamps=true").status, 501);
  EXPECT_EQ(get(std::string(kPodsPath) + "/q/log").status, 404);
}

TEST_F(PodLogTest, ACrashingContainerHasTheLogOfItsLastInstance) {
  make(R"("sandbox.fairlead.dev/fail":"crash-loop","sandbox.fairlead.dev/exit-code":"3",
          "sandbox.fairlead.dev/logs":"no database")");
  pass(5s);
  Json status = get(std::string(kPodsPath) + "/p").body["status"]["containerStatuses"].item(0);
  EXPECT_EQ(status["lastState"]["terminated"]["exitCode"], Json(3)) << status.pretty();
  EXPECT_EQ(log().text, "no database\n");
  EXPECT_EQ(log("?previous=true").text, "no database\n");
}

TEST_F(PodLogTest, AFollowedLogEndsWithItsContainer) {
  make(R"("sandbox.fairlead.dev/logs":"done","sandbox.fairlead.dev/runs-for":"20s")", "Never");
  pass(5s);
  TimePoint before = loop_.now();
  EXPECT_EQ(log("?follow=true").text, "done\n");
  EXPECT_GE(loop_.now() - before, 10s);
}

}  // namespace
}  // namespace fairlead::sandbox
