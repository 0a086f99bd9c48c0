// How objects that are not deleted are noticed, explained and given up.
#include "removal/internal/stuck_monitor.h"

#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using How = Ending::How;

TEST_F(RemovalTest, ADeadOperatorIsNamedEarlyAndHoldsTheRest) {
  std::string bundle =
      std::string(kWidgets) + widget("one", "widgets.acme.dev/cleanup") + deployment("acme-operator", "default", 0);
  put(bundle);
  Ending ending = remove(bundle, {.timeout = minutes(2)});
  EXPECT_EQ(ending.how, How::timed_out);
  EXPECT_EQ(states(ending),
            "CustomResourceDefinition widgets.example.com blocked\nWidget default/one still there\nDeployment "
            "default/acme-operator blocked\n");
  EXPECT_EQ(
      reports(ending),
      "error: Widget default/one is still there after 2m\n"
      "  because   finalizer widgets.acme.dev/cleanup has not been removed\n"
      "  because   Deployment default/acme-operator, which seems to be its controller, has 0 of 0 replicas ready\n"
      "  from      bundle.yaml:11\n"
      "  next      kubectl -n default scale deployment/acme-operator --replicas=1\n");
  auto first = std::ranges::find(events_, std::string("stuck"), &journal::Event::state);
  ASSERT_NE(first, events_.end());
  EXPECT_LT(first->at, journal_.elapsed() - seconds(100));
  EXPECT_EQ(ending.causes.front().blocks.size(), 2U);
  EXPECT_THAT(
      events(),
      HasSubstr("Widget default/one (stuck); 2 wait for other objects: CustomResourceDefinition widgets.example.com "
                "for Widget default/one (an instance of it), …"));
}

TEST_F(RemovalTest, AReminderCountsWhatItDoesNotName) {
  auto reminder_of = [&](std::string_view prefix, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      std::string name = fmt::format("{}-{}", prefix, i);
      put(config_map(name, "finalizers: [acme.dev/never]"));
      names.push_back("configmap/" + name);
    }
    (void)remove_named(std::move(names), {.timeout = minutes(1)});
    auto first = std::ranges::find(events_, EventKind::waiting, &journal::Event::kind);
    return first == events_.end() ? std::string() : first->text;
  };
  EXPECT_THAT(reminder_of("five", 5), testing::AllOf(HasSubstr("five-4"), testing::Not(HasSubstr("more"))));
  EXPECT_THAT(reminder_of("six", 6), testing::EndsWith("; and 1 more"));
}

TEST_F(RemovalTest, RemovedTooEarlyTheOperatorIsMissed) {
  put(std::string(kWidgets) + widget("one", "widgets.acme.dev/cleanup"));
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(1)});
  EXPECT_EQ(reports(ending),
            "error: Widget default/one is still there after 1m\n"
            "  because   finalizer widgets.acme.dev/cleanup has not been removed\n"
            "  because   no workload with a matching name was found: its controller may be uninstalled\n"
            "  next      reinstall the controller, or fairlead delete -n default Widget.example.com/one "
            "--force-finalizers\n");
}

TEST_F(RemovalTest, WhatHasLittleTimeIsGivenUpWithItsCause) {
  put(std::string(kWidgets) + widget("one", "widgets.acme.dev/cleanup") + widget("two", "widgets.acme.dev/cleanup"));
  auto report_of = [](std::string_view name, std::string_view after) {
    return fmt::format(
        "error: Widget default/{0} is still there after {1}\n"
        "  because   finalizer widgets.acme.dev/cleanup has not been removed\n"
        "  because   no workload with a matching name was found: its controller may be uninstalled\n"
        "  next      reinstall the controller, or fairlead delete -n default Widget.example.com/{0} "
        "--force-finalizers\n",
        name, after);
  };
  Ending ending = remove_named({"widget/one", "widget/two"}, {.timeout = seconds(5)});
  EXPECT_EQ(ending.how, How::timed_out);
  EXPECT_EQ(reports(ending), report_of("one", "5s") + report_of("two", "5s"));
  ending = remove_named({"widget/one"}, {.timeout_for = {{"Widget", seconds(1)}}});
  EXPECT_EQ(reports(ending), report_of("one", "1s"));
  EXPECT_EQ(count_events(EventKind::progress, "stuck"), 0U) << events();
}

// Whoever is told that nobody removes the finalizer may remove it by force.
TEST_F(RemovalTest, AControllerIsFoundAmongManyWorkloads) {
  std::string workloads;
  for (int i = 0; i < 501; ++i) workloads += deployment(fmt::format("a{:03}", i), "default", 0);
  put(std::string(kWidgets) + widget("one", "acme.dev/cleanup") + workloads + deployment("z-acme", "default", 0));
  Ending ending = remove_named({"widget/one"}, {.timeout = seconds(30)});
  EXPECT_THAT(reports(ending), HasSubstr("Deployment default/z-acme, which seems to be its controller"));
}

TEST_F(RemovalTest, AStuckObjectCostsFewRequests) {
  put(std::string(kWidgets) + widget("one"));
  begin();
  uint64_t before = requests();
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(10), .timeout_for = {{"Widget", minutes(20)}}});
  EXPECT_EQ(ending.how, How::timed_out);
  EXPECT_LE(requests() - before, 20U);
}

TEST_F(RemovalTest, AWebhookThatIsGoneIsFoundToBlock) {
  put(std::string(kWidgets) + widget("one") +
      "---\napiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: default}\nspec: {ports: [{port: 443}], "
      "selector: {app: hook}}\n"
      "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: "
      "guard}\n"
      "webhooks:\n- name: v.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n"
      "  clientConfig: {service: {name: hook, namespace: default}}\n"
      "  rules: [{apiGroups: [example.com], apiVersions: ['*'], operations: [UPDATE], resources: [widgets]}]\n");
  start_operator(seconds(1));
  Ending ending = remove_named({"widget/one"}, {.timeout = minutes(1)});
  EXPECT_EQ(ending.how, How::timed_out) << events();
  EXPECT_EQ(
      reports(ending),
      "error: Widget default/one is still there after 1m\n"
      "  because   finalizer example.com/cleanup has not been removed\n"
      "  because   the update that removes it must pass webhook v.example.com (guard), which does not answer\n"
      "  because   service default/hook has no endpoints\n"
      "  because   no pod has the labels that it selects: app=hook\n"
      "  next      kubectl -n default get endpointslices,pods; if the webhook is no longer needed: kubectl delete "
      "validatingwebhookconfiguration guard\n");
}

TEST_F(RemovalTest, ANamespaceTellsWhatIsStuckInIt) {
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
      config_map("held", "finalizers: [acme.dev/never]", "team") + config_map("other", "", "team"));
  Ending ending = remove_named({"namespace/team"}, {.timeout = minutes(2)});
  EXPECT_EQ(ending.how, How::timed_out) << events();
  EXPECT_THAT(events(), HasSubstr("2 more objects will be deleted with it: ConfigMap team/held, ConfigMap "
                                  "team/other"));
  EXPECT_EQ(reports(ending),
            "error: Namespace team is still there after 2m: 1 left\n"
            "  because   remaining in it: 1 configmaps\n"
            "  because   ConfigMap team/held: finalizer acme.dev/never has not been removed\n"
            "  because   no workload with a matching name was found: its controller may be uninstalled\n"
            "  next      reinstall the controller, or fairlead delete -n team ConfigMap/held --force-finalizers\n");
}

TEST_F(RemovalTest, AClaimInUseNamesThePod) {
  pass(seconds(1));
  put("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: default}\nspec: {accessModes: "
      "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: user, namespace: default}\nspec: {containers: [{name: x, "
      "image: "
      "x}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}\n");
  pass(seconds(5));
  Ending ending = remove_named({"pvc/data"}, {.timeout = minutes(1)});
  EXPECT_EQ(reports(ending),
            "error: PersistentVolumeClaim default/data is still there after 1m\n"
            "  because   it is in use by pod user\n"
            "  next      kubectl -n default delete pod user, or delete what creates it\n");
}

}  // namespace
}  // namespace fairlead::removal
