#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// What seems to be the controller of the widgets. It crashes.
constexpr std::string_view kController = R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme-operator, namespace: default}
spec:
  selector: {matchLabels: {app: acme}}
  template:
    metadata:
      labels: {app: acme}
      annotations:
        sandbox.fairlead.dev/fail: crash-loop
        sandbox.fairlead.dev/exit-code: '3'
        sandbox.fairlead.dev/logs: "starting\ncannot log in with hunter2hunter2"
    spec: {containers: [{name: app, image: acme:1}]}
)";
constexpr std::string_view kFinalizer = "widgets.acme.dev/cleanup";

// Names of pods are different in every run.
std::string without_suffixes(std::string text) {
  constexpr std::string_view kName = "acme-operator-";
  for (size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + 1))
    text.erase(at + kName.size() - 1, text.find_first_of(" \n", at) - at - kName.size() + 1);
  return text;
}

class CloserLookTest : public RemovalTest {
 protected:
  // Adds an Event about a widget.
  Task<void> warn(std::string widget, std::string reason, std::string message) {
    object::Resource events{.group = "", .version = "v1", .kind = "Event", .plural = "events", .namespaced = true};
    auto live = co_await admin_.request({.target = "/apis/example.com/v1/namespaces/default/widgets/" + widget});
    EXPECT_TRUE(live);
    Json event(Json::Object{{"apiVersion", "v1"},
                            {"kind", "Event"},
                            {"metadata", Json::Object{{"name", widget + "." + reason}}},
                            {"type", "Warning"},
                            {"reason", reason},
                            {"message", message}});
    event.make("involvedObject") = Json::Object{{"kind", "Widget"}, {"uid", live->value["metadata"]["uid"]}};
    auto made = co_await admin_.create(events, "default", event);
    EXPECT_TRUE(made) << made.error().error().report();
  }
  Task<void> warn_after(Duration time, std::string widget, std::string reason, std::string message) {
    if (co_await sleep_for(loop_, time)) co_await warn(std::move(widget), std::move(reason), std::move(message));
  }

  static std::string whole(const Ending& ending) {
    std::string text;
    for (const Cause& cause : ending.causes) {
      text += cause.error.report();
      for (const journal::Finding& finding : cause.findings) {
        text += fmt::format("  {} of {}\n", finding.kind, finding.about);
        for (const std::string& line : finding.lines) text += fmt::format("    {}\n", line);
      }
    }
    return without_suffixes(std::move(text));
  }
  static std::string held(std::string_view widget) {
    return fmt::format(
        "error: Widget default/{} is still there after 1m\n"
        "  because   finalizer widgets.acme.dev/cleanup has not been removed\n"
        "  because   Deployment default/acme-operator, which seems to be its controller, has 0 of 1 replicas ready\n"
        "  because   pod acme-operator is waiting: CrashLoopBackOff (container app)\n"
        "  because   container app ended with exit code 3, after 2 restarts\n"
        "  next      kubectl -n default logs acme-operator -c app --previous\n",
        widget);
  }
};

constexpr std::string_view kLog =
    "  log of container app of pod default/acme-operator (exit code 3)\n"
    "    starting\n"
    "    cannot log in with ***\n";

TEST_F(CloserLookTest, TheControllerThatCrashesIsQuotedOnceAndWithoutSecrets) {
  put(std::string(kWidgets) + widget("one", kFinalizer) + widget("two", kFinalizer) + std::string(kController));
  pass(seconds(30));
  journal_.hide("hunter2hunter2");
  Ending ending = remove_named({"widget/one", "widget/two"}, {.timeout = minutes(1)});
  EXPECT_EQ(whole(ending), held("one") + std::string(kLog) + held("two"));
}

TEST_F(CloserLookTest, WhatKubernetesHasWarnedOfSinceTheDeletionIsQuoted) {
  put(std::string(kWidgets) + widget("one"));
  loop_.run(warn("one", "old", "from before"));
  pass(minutes(1));
  actors_.spawn(warn_after(seconds(20), "one", "failed", "the disk is in use"));
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(1)});
  EXPECT_EQ(whole(ending),
            "error: Widget default/one is still there after 1m\n"
            "  because   finalizer example.com/cleanup has not been removed\n"
            "  because   no workload with a matching name was found: its controller may be uninstalled\n"
            "  next      reinstall the controller, or fairlead delete -n default Widget.example.com/one "
            "--force-finalizers\n"
            "  events of Widget default/one\n"
            "    failed: the disk is in use\n");
}

TEST_F(CloserLookTest, WithoutTheRightToReadMoreTheErrorIsTheSame) {
  put(std::string(kWidgets) + widget("one", kFinalizer) + std::string(kController));
  pass(seconds(30));
  network_.forbids = [](const http::Request& request) {
    return request.target.find("/log") != std::string::npos || request.target.find("/events") != std::string::npos;
  };
  EXPECT_EQ(whole(remove_named({"widget/one"}, {.timeout = minutes(1)})), held("one"));
}

TEST_F(CloserLookTest, ThePodsBehindAWebhookThatDoesNotAnswerAreQuoted) {
  put(std::string(kWidgets) + widget("one") + std::string(kController) +
      "---\napiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: default}\nspec: {ports: [{port: 443}], "
      "selector: {app: acme}}\n"
      "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: "
      "guard}\n"
      "webhooks:\n- name: v.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n"
      "  clientConfig: {service: {name: hook, namespace: default}}\n"
      "  rules: [{apiGroups: [example.com], apiVersions: ['*'], operations: [UPDATE], resources: [widgets]}]\n");
  pass(seconds(30));
  journal_.hide("hunter2hunter2");
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(1)});
  std::string text = whole(ending);
  EXPECT_NE(text.find("must pass webhook v.example.com (guard), which does not answer\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(kLog)) << text;
}

TEST_F(CloserLookTest, AnInterruptedRunLooksAtNothing) {
  put(std::string(kWidgets) + widget("one", kFinalizer) + std::string(kController));
  pass(seconds(30));
  CancelSource stop;
  loop_.call_after(seconds(30), [&stop] { stop.cancel(); });
  Ending ending = remove(widget("one", kFinalizer), {.timeout = minutes(1)}, &stop);
  EXPECT_EQ(ending.how, Ending::How::interrupted);
  EXPECT_EQ(whole(ending), "");
}

}  // namespace
}  // namespace fairlead::removal
