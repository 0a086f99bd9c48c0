#include "removal/removal.h"

#include <gmock/gmock.h>

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

// Between the list and the DELETE, somebody deletes the CRD and all that is of it.
TEST_F(RemovalTest, WhatIsOfAKindThatIsNoLongerServedIsGone) {
  put(std::string(kWidgets) + widget("one", ""));
  network_.answers = [](const http::Request& request) -> std::optional<http::Answer> {
    if (request.method != "DELETE" || !request.target.contains("/widgets/")) return std::nullopt;
    return http::Answer{404, {{"Content-Type", "text/plain"}}, http::body_of("404 page not found\n"), 1};
  };
  Options options;
  options.timeout = minutes(5);
  Ending ending = remove(widget("one", ""), options);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending), "Widget default/one gone\n");
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
  network_.fails = [this, back](const http::Request& request) {
    return loop_.now() < back && request.target.find("/team/widgets?") != std::string::npos;
  };
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_THAT(removed(), ElementsAre("Widget team/one", "Deployment team/widget-operator", "Namespace team"));
  EXPECT_THAT(events(), HasSubstr("\"widgets.example.com cannot be listed at the moment, so it is not known yet what "
                                  "is deleted with a namespace\""));
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
  network_.fails = [](const http::Request&) { return true; };
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

}  // namespace
}  // namespace fairlead::removal
