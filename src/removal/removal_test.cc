#include "removal/removal.h"

#include <gmock/gmock.h>

#include "inventory/inventory.h"
#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using How = Ending::How;

TEST_F(RemovalTest, WhatIsThereGoesAndWhatIsNotIsNoMistake) {
  put(config_map("a") + config_map("b"));
  Ending ending = remove(config_map("a") + config_map("b") + config_map("c"));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap default/a gone\nConfigMap default/b gone\nConfigMap default/c absent\n");
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/a").is_null());
}

TEST_F(RemovalTest, TheOperatorOutlivesWhatItCleansUp) {
  std::string bundle = std::string(kWidgets) + widget("one") + widget("two") + deployment("widget-operator");
  put(bundle);
  // It works only while its Deployment is there.
  start_operator(seconds(2), [this] {
    return sandbox_.core().find("apps", "deployments", "default", "widget-operator") != nullptr;
  });
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_THAT(removed(),
              ElementsAre("Widget default/one", "Widget default/two", "CustomResourceDefinition widgets.example.com",
                          "Deployment default/widget-operator"));
  EXPECT_EQ(count_events(EventKind::progress, "stuck"), 0U) << events();
}

TEST_F(RemovalTest, SlowWithProgressIsNotStuck) {
  std::string bundle(kWidgets);
  std::string all = bundle;
  for (int i = 0; i < 40; ++i) all += widget(fmt::format("w{}", i));
  put(all);
  start_operator(seconds(8));
  // The instances are not among the targets: they are reported, and are deleted with the CRD, slowly.
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(count_events(EventKind::progress, "stuck"), 0U) << events();
  EXPECT_THAT(events(), HasSubstr("40 more objects will be deleted with it: Widget default/w0, Widget "
                                  "default/w1, Widget default/w10 and 37 more"));
  EXPECT_GT(ending.took, minutes(5));
}

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

// The garbage collector runs after the CRD was deleted, and cannot tell any more whether the owner is deleted.
class LateCollector : public RemovalTest {
 protected:
  static sandbox::Options slow_controllers() {
    sandbox::Options options;
    options.delays.controller = seconds(20);
    return options;
  }
  LateCollector() : RemovalTest(slow_controllers()) {}

  void put_owned(std::string_view name, const std::vector<std::string>& owners, std::string_view annotation = "") {
    std::string references;
    for (const std::string& owner : owners)
      references += fmt::format(
          "{}{{apiVersion: example.com/v1, kind: Widget, name: {}, uid: {}}}", references.empty() ? "" : ", ", owner,
          get("/apis/example.com/v1/namespaces/default/widgets/" + owner)["metadata"]["uid"].string_or(""));
    put(
        fmt::format("apiVersion: v1\nkind: Secret\nmetadata: {{name: {}, namespace: default, annotations: {{{}}}, "
                    "ownerReferences: [{}]}}\n",
                    name, annotation, references));
  }
  bool is_there(std::string_view secret) {
    return !get(fmt::format("/api/v1/namespaces/default/secrets/{}", secret)).is_null();
  }
};

std::string plain_widget(std::string_view name) {
  return fmt::format("---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {}, namespace: default}}\n",
                     name);
}

TEST_F(LateCollector, WhatOwnersOfANewKindOwnedIsNotLeftBehind) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle + plain_widget("other"));
  put_owned("of-one", {"one"});
  put_owned("of-an-instance-outside", {"other"});
  put_owned("of-both", {"one", "other"});
  put_owned("kept", {"one"}, "fairlead.dev/delete: protected");
  put("apiVersion: v1\nkind: Secret\nmetadata: {name: of-nobody, namespace: default}\n");
  put("apiVersion: v1\nkind: Secret\nmetadata: {name: of-another, namespace: default, ownerReferences: [{apiVersion: "
      "example.com/v1, kind: Widget, name: x, uid: '1'}]}\n");
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  for (std::string_view gone : {"of-one", "of-an-instance-outside", "of-both"}) EXPECT_FALSE(is_there(gone)) << gone;
  for (std::string_view there : {"kept", "of-nobody", "of-another"}) EXPECT_TRUE(is_there(there)) << there;
  EXPECT_THAT(events(),
              HasSubstr(R"("name":"of-one"},"state":"gone","text":"Widget default/one, which owned it, was deleted")"));
}

TEST_F(LateCollector, WhatOwnersOfANewKindOwnedAndMayNotBeDeletedIsReported) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  flaky_.forbids = [](const http::Request& request) {
    return request.method == "DELETE" && request.target.contains("/secrets/");
  };
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  auto left = std::ranges::find(events_, std::string("left"), &journal::Event::state);
  ASSERT_NE(left, events_.end()) << events();
  EXPECT_EQ(left->key.text() + ": " + left->text,
            "Secret default/of-one: Widget default/one, which owned it, was deleted; nothing else will delete it, and "
            "it could not be deleted");
}

TEST_F(LateCollector, WhatBelongsToAnOwnerThatIsStuckStays) {
  std::string bundle = std::string(kWidgets) + widget("one", "acme.dev/never");
  put(bundle);
  put_owned("of-one", {"one"});
  Ending ending = remove(bundle, {.timeout = minutes(1)});
  EXPECT_EQ(ending.how, How::timed_out);
  EXPECT_TRUE(is_there("of-one"));
}

TEST_F(LateCollector, WhatSomebodyWhoStaysOwnsTooIsKept) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle + config_map("stays"));
  auto uid_at = [this](std::string path) { return std::string(get(std::move(path))["metadata"]["uid"].string_or("")); };
  put(
      fmt::format("apiVersion: v1\nkind: Secret\nmetadata: {{name: shared, namespace: default, ownerReferences: "
                  "[{{apiVersion: example.com/v1, kind: Widget, name: one, uid: {}}}, {{apiVersion: v1, kind: "
                  "ConfigMap, name: stays, uid: {}}}]}}\n",
                  uid_at("/apis/example.com/v1/namespaces/default/widgets/one"),
                  uid_at("/api/v1/namespaces/default/configmaps/stays")));
  EXPECT_EQ(remove(bundle).how, How::done);
  EXPECT_TRUE(is_there("shared"));
}

TEST_F(LateCollector, ADeletionInFlightEndsThoughTheRunIsStopped) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  CancelSource stop;
  flaky_.before = [&](const http::Request& request) -> Task<void> {
    if (request.method != "DELETE" || !request.target.contains("/secrets/of-one")) co_return;
    stop.cancel();
    EXPECT_TRUE(co_await sleep_for(loop_, seconds(1))) << "cancelled";
  };
  Ending ending = remove(bundle, {}, &stop);
  EXPECT_TRUE(stop.cancelled());
  EXPECT_FALSE(is_there("of-one")) << reports(ending);
}

TEST_F(LateCollector, TheCollectorSeesToWhatItKnows) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  pass(minutes(3));
  uint64_t before = requests();
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_TRUE(is_there("of-one"));
  EXPECT_LT(requests() - before, 20U);
}

TEST_F(LateCollector, WhatIsToBeOrphanedStays) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  EXPECT_EQ(remove(bundle, {.cascade = Cascade::orphan}).how, How::done);
  EXPECT_TRUE(is_there("of-one"));
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

TEST_F(RemovalTest, FiveHundredObjectsCostLittleMoreThanTheirDeletes) {
  std::string bundle = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";
  for (int i = 0; i < 499; ++i) bundle += config_map(fmt::format("c{}", i), "", "team");
  put(bundle);
  uint64_t before = requests();
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_LE(requests() - before, 500U + 3 * 2 + 30);
  EXPECT_EQ(ending.requests, requests() - before - 2);
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

TEST_F(RemovalTest, WebhooksGoAfterWhatTheyGuardAndBeforeWhatIsBehindThem) {
  std::string bundle =
      std::string(kWidgets) + widget("one") + deployment("hook") +
      "---\napiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: default}\nspec: {ports: [{port: 443}], "
      "selector: {app: hook}}\n"
      "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: "
      "guard}\n"
      "webhooks:\n- name: v.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n"
      "  clientConfig: {service: {name: hook, namespace: default}}\n"
      "  rules: [{apiGroups: [example.com], apiVersions: ['*'], operations: [UPDATE], resources: [widgets]}]\n";
  sandbox_.webhooks().serve("default/hook", [](http::Request request) -> Task<Result<http::Response>> {
    Result<Json> review = Json::parse(request.body);
    Json answer(Json::Object{{"apiVersion", "admission.k8s.io/v1"},
                             {"kind", "AdmissionReview"},
                             {"response", Json::Object{{"uid", (*review)["request"]["uid"]}, {"allowed", true}}}});
    http::Response reply{.status = 200, .body = answer.dump()};
    reply.headers.set("Content-Type", "application/json");
    co_return reply;
  });
  put(bundle);
  start_operator(seconds(1));
  pass(seconds(5));
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_THAT(removed(), ElementsAre("Widget default/one", "CustomResourceDefinition widgets.example.com",
                                     "ValidatingWebhookConfiguration guard", testing::_, testing::_));
}

TEST_F(RemovalTest, AnApiThatFailsForMinutesIsToldAndNothingIsTakenForGone) {
  put(std::string(kWidgets) + widget("one"));
  loop_.call_after(seconds(5), [this] { flaky_.fails = [](const http::Request&) { return true; }; });
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

TEST_F(RemovalTest, WhatIsProtectedStaysAndSoDoesItsNamespace) {
  std::string bundle = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
                       config_map("a", "annotations: {fairlead.dev/delete: protected}", "team") +
                       config_map("b", "", "team");
  put(bundle);
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(states(ending), "Namespace team blocked\nConfigMap team/a refused\nConfigMap team/b gone\n");
  EXPECT_EQ(reports(ending),
            "error: ConfigMap team/a is not deleted\n"
            "  because   it has the annotation fairlead.dev/delete: protected\n"
            "  from      bundle.yaml:5\n"
            "  next      kubectl -n team annotate ConfigMap a fairlead.dev/delete-, if you really want to delete it\n");
}

TEST_F(RemovalTest, WhatOthersHaveProtectedKeepsItsNamespace) {
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
      config_map("a", "annotations: {fairlead.dev/delete: protected}", "team"));
  Ending ending = remove_named({"namespace/team"});
  EXPECT_EQ(
      reports(ending),
      "error: Namespace team is not deleted\n"
      "  because   ConfigMap team/a would be deleted with it, and has the annotation fairlead.dev/delete: protected\n");
}

TEST_F(RemovalTest, WhatBelongsToOthersStaysUnlessForced) {
  put(config_map("a", "labels: {applyset.kubernetes.io/part-of: applyset-other-v1}") +
      config_map("s", "", "kube-system"));
  std::string both = config_map("a") + config_map("s", "", "kube-system");
  Ending ending = remove(both);
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(reports(ending),
            "error: ConfigMap default/a is not deleted\n"
            "  because   it belongs to an ApplySet of another tool: applyset-other-v1\n"
            "  from      bundle.yaml:2\n"
            "  next      --force deletes the object anyway\n"
            "error: ConfigMap kube-system/s is not deleted\n"
            "  because   it is in kube-system\n"
            "  from      bundle.yaml:6\n"
            "  next      fairlead delete … --force, if you really want to delete it\n");
  EXPECT_EQ(remove(both, {.force = true}).how, How::done);
}

TEST_F(RemovalTest, NamespacesOfKubernetesStay) {
  Ending ending = remove_named({"ns/kube-system", "ns/default"}, {.force = true});
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(states(ending), "Namespace kube-system refused\nNamespace default refused\n");
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

TEST_F(RemovalTest, WhatIsInANamespaceGoesBeforeItsOperatorDoes) {
  std::string bundle =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" + deployment("widget-operator", "team");
  put(bundle + "---\n" + std::string(kWidgets) + widget("one", "example.com/cleanup", "team"));
  start_operator(seconds(1),
                 [this] { return sandbox_.core().find("apps", "deployments", "team", "widget-operator") != nullptr; });
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_THAT(removed(), ElementsAre("Widget team/one", "Deployment team/widget-operator", "Namespace team"));
}

TEST_F(RemovalTest, WhatIsInANamespaceThatStaysStaysAsWell) {
  std::string bundle = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" +
                       config_map("precious", "annotations: {fairlead.dev/delete: protected}", "team");
  put(bundle + "---\n" + std::string(kWidgets) + widget("one", "example.com/cleanup", "team"));
  start_operator(seconds(1));
  Ending ending = remove(bundle);
  EXPECT_EQ(states(ending), "Namespace team blocked\nConfigMap team/precious refused\n");
  EXPECT_TRUE(get("/apis/example.com/v1/namespaces/team/widgets/one")["metadata"]["name"].is_string());
}

TEST_F(RemovalTest, WhatIsInANamespaceIsNotTakenForNothingWhileItCannotBeListed) {
  std::string bundle =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" + deployment("widget-operator", "team");
  put(bundle + "---\n" + std::string(kWidgets) + widget("one", "example.com/cleanup", "team"));
  start_operator(seconds(1),
                 [this] { return sandbox_.core().find("apps", "deployments", "team", "widget-operator") != nullptr; });
  TimePoint back = loop_.now() + seconds(40);
  flaky_.fails = [this, back](const http::Request& request) {
    return loop_.now() < back && request.target.find("/team/widgets?") != std::string::npos;
  };
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_THAT(removed(), ElementsAre("Widget team/one", "Deployment team/widget-operator", "Namespace team"));
  EXPECT_THAT(events(), HasSubstr("\"widgets.example.com cannot be listed at the moment, so it is not known yet what "
                                  "is deleted with a namespace\""));
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

TEST_F(RemovalTest, FinalizersAreForcedOnlyWhenAskedAndOnlyWhatIsStuck) {
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

TEST_F(RemovalTest, ANamespaceIsEmptiedByForceAndNothingComesBack) {
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

TEST_F(RemovalTest, ShadowsOfAKilledRunAreRemovedAndThoseOfARunThatGoesOnStay) {
  auto shadow = [](std::string_view run) {
    return fmt::format(
        "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
        "metadata: {{name: 0-fairlead-shadow-{0}-1, labels: {{fairlead.dev/shadow: {0}}}, annotations: "
        "{{fairlead.dev/expires: \"2100-01-01T00:00:00Z\"}}}}\n",
        run);
  };
  put(config_map("a") + shadow("killed") + shadow("alive"));
  auto has = [&](std::string_view run) {
    return get(fmt::format(
                   "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/0-fairlead-shadow-{}-1", run))
        .is_object();
  };
  Options options;
  options.run = "own";
  options.run_known_dead = [](std::string_view run) { return run == "killed"; };
  options.dry_run = DryRun::server;
  remove(config_map("a"), options);
  EXPECT_TRUE(has("killed")) << "a dry run changes nothing";
  options.dry_run = DryRun::none;
  EXPECT_EQ(remove(config_map("a"), options).how, Ending::How::done);
  EXPECT_FALSE(has("killed"));
  EXPECT_TRUE(has("alive"));
}

TEST_F(RemovalTest, SayingNoLeavesEverything) {
  put(config_map("a"));
  Options options;
  options.ask = [](std::string) -> Task<bool> { co_return false; };
  EXPECT_EQ(remove(config_map("a"), options).how, How::declined);
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/a").is_null());
}

TEST_F(RemovalTest, InterruptedAtTheQuestionIsNotSayingNo) {
  put(config_map("a"));
  CancelSource stop;
  Options options;
  options.ask = [&](std::string) -> Task<bool> {
    stop.cancel();
    co_return false;
  };
  Ending ending = remove(config_map("a"), options, &stop);
  EXPECT_EQ(ending.how, How::interrupted);
  EXPECT_EQ(states(ending), "ConfigMap default/a not begun\n");
}

TEST_F(RemovalTest, AKindAndItsNameGivenApartAreAMistake) {
  Ending ending = remove_named({"configmap", "a"});
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(reports(ending), "error: configmap is not KIND/NAME\n  next      fairlead delete configmap/a\n");
}

TEST_F(RemovalTest, OneNameThatIsWrongLeavesEverything) {
  put(config_map("a"));
  Ending ending = remove_named({"configmap/a", "gadget/x", "configmap/a/b"});
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(reports(ending),
            "error: the cluster serves no kind gadget\n"
            "  next      kubectl api-resources\n"
            "error: configmap/a/b is not KIND/NAME\n"
            "  next      fairlead delete configmap/settings\n");
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/a").is_null());
}

TEST_F(RemovalTest, ANameThatDoesNotExistIsAnError) {
  put(config_map("a"));
  Ending ending = remove_named({"configmap/a", "configmap/b"});
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(states(ending), "ConfigMap default/a gone\nConfigMap default/b absent\n");
  EXPECT_EQ(reports(ending), "error: ConfigMap default/b not found\n");
}

TEST_F(RemovalTest, ManifestsOfAnotherNamespaceThanTheChosenOneAreAMistake) {
  put(config_map("a"));
  Options options;
  options.default_namespace = "team";
  options.namespace_is_chosen = true;
  Ending ending = remove(config_map("a"), options);
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_THAT(reports(ending), HasSubstr("bundle.yaml:2"));
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/a").is_null());
}

TEST_F(RemovalTest, DryRunsRemoveNothing) {
  put(config_map("a"));
  for (DryRun dry : {DryRun::client, DryRun::server}) {
    Ending ending = remove(config_map("a"), {.dry_run = dry});
    EXPECT_EQ(ending.how, How::done);
    EXPECT_EQ(states(ending), "ConfigMap default/a would go\n");
  }
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/a").is_null());
}

TEST_F(RemovalTest, WithoutWaitingOnlyWhatOthersNeedIsWaitedFor) {
  std::string bundle =
      std::string(kWidgets) + widget("one") + config_map("b", "finalizers: [kubernetes.io/x-protection]");
  put(bundle);
  start_operator(seconds(1));
  Ending ending = remove(std::string(kWidgets) + widget("one"), {.wait = false});
  EXPECT_EQ(ending.how, How::done);
  EXPECT_EQ(states(ending), "CustomResourceDefinition widgets.example.com leaving\nWidget default/one gone\n");
}

TEST_F(RemovalTest, InterruptedAndRunAgainItGoesOn) {
  std::string bundle = std::string(kWidgets) + widget("one") + deployment("widget-operator");
  put(bundle);
  CancelSource stop;
  loop_.call_after(seconds(3), [&] { stop.cancel(); });
  Ending first = remove(bundle, {}, &stop);
  EXPECT_EQ(first.how, How::interrupted);
  EXPECT_EQ(states(first),
            "CustomResourceDefinition widgets.example.com not begun\nWidget default/one leaving\nDeployment "
            "default/widget-operator not begun\n");
  start_operator(seconds(1));
  Ending second = remove(bundle);
  EXPECT_EQ(second.how, How::done) << reports(second);
}

TEST_F(RemovalTest, AClusterThatIsNotThereIsUnreachableAndNotGone) {
  flaky_.fails = [](const http::Request&) { return true; };
  kube::Discovery discovery(client_);
  Ending ending = loop_.run(take_out_named(client_, discovery, {"configmap/a"}, {}, journal_, nullptr));
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_THAT(reports(ending), HasSubstr("error: the cluster cannot be reached; nothing was deleted\n"));
  EXPECT_THAT(reports(ending),
              HasSubstr("  next      fairlead delete … --cluster-gone, if the cluster no longer exists\n"));
  Ending stated =
      loop_.run(take_out_named(client_, discovery, {"configmap/a"}, {.cluster_gone = true}, journal_, nullptr));
  EXPECT_EQ(stated.how, How::done);
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
  flaky_.forbids = [&](const http::Request& request) {
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
    flaky_.forbids = [&](const http::Request& request) {
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
