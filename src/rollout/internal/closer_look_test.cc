#include "rollout/internal/closer_look.h"

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

std::string found(const Ending& ending) {
  std::string text;
  for (const Cause& cause : ending.causes)
    for (const journal::Finding& finding : cause.findings) {
      text += fmt::format("{} {}\n", finding.kind, finding.about);
      for (const std::string& line : finding.lines) text += fmt::format("  {}\n", line);
    }
  return text;
}

// Names of pods are different in every run.
std::string without_suffixes(std::string text) {
  for (size_t at = text.find("/web-"); at != std::string::npos; at = text.find("/web-", at + 1))
    text.erase(at + 4, text.find_first_of(" \n", at) - at - 4);
  return text;
}

class CloserLookTest : public RolloutTest {};

TEST_F(CloserLookTest, AContainerThatFailsIsQuoted) {
  Options options;
  options.timeout = seconds(60);
  Ending ending = apply(R"(
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: hunter2hunter2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        sandbox.fairlead.dev/fail: crash-loop
        sandbox.fairlead.dev/exit-code: '3'
        sandbox.fairlead.dev/logs: "starting\ncannot log in with hunter2hunter2"
    spec: {containers: [{name: app, image: web:1}]}
)",
                        options);
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_NE(reports(ending).find("exit code 3"), std::string::npos) << reports(ending);
  EXPECT_EQ(without_suffixes(found(ending)),
            "log container app of pod default/web (exit code 3)\n"
            "  starting\n"
            "  cannot log in with ***\n");
}

TEST_F(CloserLookTest, AFailedJobHasTheLinesOfItsPod) {
  Ending ending = apply(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: web}
spec:
  backoffLimit: 0
  template:
    metadata:
      annotations: {sandbox.fairlead.dev/exit-code: '7', sandbox.fairlead.dev/logs: no such table}
    spec: {restartPolicy: Never, containers: [{name: app, image: web:1}]}
)");
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(without_suffixes(found(ending)),
            "log container app of pod default/web (exit code 7)\n"
            "  no such table\n"
            "events Job default/web\n"
            "  BackoffLimitExceeded: Job has reached the specified backoff limit\n");
}

TEST_F(CloserLookTest, WhatKubernetesWarnsOfIsQuotedToo) {
  Options options;
  options.timeout = seconds(30);
  Ending ending = apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {sandbox.fairlead.dev/fail: image-pull}}
spec: {containers: [{name: app, image: 'web:1'}]}
)",
                        options);
  EXPECT_EQ(found(ending),
            "events Pod default/p\n"
            "  Failed: Failed to pull image \"web:1\": not found\n");
}

}  // namespace
}  // namespace fairlead::rollout
