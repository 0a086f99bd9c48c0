#include "removal/internal/members.h"

#include <gmock/gmock.h>

#include "history/history.h"
#include "inventory/inventory.h"
#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using How = Ending::How;
using testing::HasSubstr;

class MembersTest : public RemovalTest {
 protected:
  // A bundle shop in namespace team, with one ConfigMap.
  void have_shop() {
    put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    begin();
    auto opened =
        loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop", .ns = "team", .holder = "test"}));
    ASSERT_TRUE(opened);
    ASSERT_TRUE(loop_.run((*opened)->claim(
        {{.key = {"", "ConfigMap", "team", "a"}, .version = "v1"},
         {.key = {"", "Namespace", "", "shared"}, .version = "v1"},
         {.key = {"", "ConfigMap", "shared", "a"}, .version = "v1"},
         {.key = {"apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com"}, .version = "v1"},
         {.key = {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"}, .version = "v1"}})));
    ASSERT_TRUE(loop_.run((*opened)->release()));
    label_ = fmt::format("labels: {{applyset.kubernetes.io/part-of: {}}}", (*opened)->label_value());
    put_as_shop(config_map("a", label_, "team"));
  }
  // As a run of the bundle applies it.
  void put_as_shop(const std::string& yaml) {
    manifest::Bundle bundle = bundle_of(yaml);
    for (const object::Object& object : bundle.objects) {
      auto resource = loop_.run(discovery_.find(object.group(), object.version(), object.kind()));
      ASSERT_TRUE(resource && *resource);
      ASSERT_TRUE(loop_.run(admin_.apply(**resource, object.ns(), object.name(), object.value(),
                                         {{.field_manager = "fairlead/team/shop"}})));
    }
  }
  // As a run of the bundle does at its end.
  void keep_revision() {
    auto opened =
        loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop", .ns = "team", .holder = "test"}));
    ASSERT_TRUE(opened);
    ASSERT_TRUE(loop_.run((*opened)->claim({})));
    manifest::Bundle bundle = bundle_of(config_map("a", "", "team"));
    history::Run run{.how = "done", .who = "test", .note = "", .objects = {}};
    run.objects.push_back(history::kept(bundle.objects[0], "created", false, (*opened)->label_value()));
    ASSERT_TRUE(loop_.run(history::keep_revision(client_, **opened, run)));
    ASSERT_TRUE(loop_.run((*opened)->release()));
  }
  bool has_revision() { return !get("/api/v1/namespaces/team/secrets/fairlead-shop.revision-1").is_null(); }
  // Nobody answers it, and it sees every ConfigMap.
  void have_broken_guard(std::string_view metadata) {
    put_as_shop(fmt::format(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
        "metadata: {{name: guard{}{}}}\n"
        "webhooks:\n"
        "- name: guard.example.com\n"
        "  clientConfig: {{caBundle: QUFBQQ==, service: {{name: nobody, namespace: team}}}}\n"
        "  rules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}}]\n"
        "  failurePolicy: Fail\n"
        "  sideEffects: None\n"
        "  admissionReviewVersions: [v1]\n",
        metadata.empty() ? "" : ", ", metadata));
    pass(std::chrono::seconds(5));
    begin();
  }
  Ending remove_shop(Options options = {}) {
    options.default_namespace = "team";
    begin();
    return loop_.run(take_out_bundle(client_, discovery_, "shop", std::move(options), journal_, nullptr));
  }
  // A namespace of the bundle, with an object of the bundle in it.
  void have_shared() {
    put_as_shop(fmt::format("apiVersion: v1\nkind: Namespace\nmetadata: {{name: shared, {}}}\n", label_));
    put_as_shop(config_map("a", label_, "shared"));
    pass(std::chrono::seconds(5));
  }
  std::vector<std::string> told_to_stay() const {
    std::vector<std::string> told;
    for (const journal::Event& event : events_)
      if (event.kind == journal::EventKind::warning && event.state == "stays")
        told.push_back(event.key.text() + ": " + event.text);
    return told;
  }
  // Removes the finalizer of the namespace team, long after every lease has ended.
  Task<void> clean_up_slowly() {
    (void)co_await sleep_for(loop_, std::chrono::minutes(2));
    object::Resource namespaces{.group = "", .version = "v1", .kind = "Namespace", .plural = "namespaces"};
    Json patch(Json::Object{{"metadata", Json::Object{{"finalizers", nullptr}}}});
    EXPECT_TRUE(co_await admin_.patch(namespaces, "", "team", kube::PatchType::merge, patch));
  }
  void put_away(std::string target) {
    EXPECT_TRUE(loop_.run(admin_.request({.method = "DELETE", .target = std::move(target)})));
  }
  Json record() { return get("/api/v1/namespaces/team/configmaps/fairlead-shop"); }

  std::string label_;
};

TEST_F(MembersTest, ABundleWithANameGoesWithItsInventory) {
  have_shop();
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\n");
  EXPECT_TRUE(record().is_null());
  ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "");
  EXPECT_THAT(events(), HasSubstr("there is no bundle shop in namespace team: nothing to delete"));
}

// What may be left of the bundle: an object that is stuck, one that is kept, and a kind that cannot be listed.
enum class Left { stuck, kept, unlisted };
class MembersThatMayBeLeft : public MembersTest, public testing::WithParamInterface<Left> {};
INSTANTIATE_TEST_SUITE_P(All, MembersThatMayBeLeft, testing::Values(Left::stuck, Left::kept, Left::unlisted));

// Whoever repairs the bundle, or rolls it back, needs the manifests.
TEST_P(MembersThatMayBeLeft, TheirRevisionsStay) {
  have_shop();
  keep_revision();
  std::string more = GetParam() == Left::stuck  ? ", finalizers: [acme.dev/never]"
                     : GetParam() == Left::kept ? ", annotations: {helm.sh/resource-policy: keep}"
                                                : "";
  put_as_shop(config_map("a", label_ + more, "team"));
  if (GetParam() == Left::unlisted)
    network_.forbids = [](const http::Request& request) {
      return request.method == "GET" && request.target.contains("/validatingwebhookconfigurations");
    };
  Ending ending = remove_shop({.timeout = std::chrono::minutes(1)});
  How expected = GetParam() == Left::stuck ? How::timed_out : GetParam() == Left::kept ? How::done : How::failed;
  EXPECT_EQ(ending.how, expected) << reports(ending);
  EXPECT_TRUE(has_revision());
  EXPECT_FALSE(record().is_null());
}

TEST_F(MembersTest, RevisionsGoWithTheLastObject) {
  have_shop();
  keep_revision();
  ASSERT_TRUE(has_revision());
  EXPECT_EQ(remove_shop().how, How::done);
  EXPECT_TRUE(record().is_null());
  EXPECT_FALSE(has_revision());
}

TEST_F(MembersTest, WhatSomebodyElseDeletesMeanwhileDoesNotRemain) {
  have_shop();
  size_t lists = 0;
  network_.before = [&](const http::Request& request) -> Task<void> {
    // The first list finds the members. By the second, which follows them, the only one of them is deleted.
    if (request.method != "GET" || !request.target.contains("/configmaps?") || ++lists != 2) co_return;
    (void)co_await admin_.request({.method = "DELETE", .target = "/api/v1/namespaces/team/configmaps/a"});
  };
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a absent\n");
  EXPECT_TRUE(record().is_null());
}

// Carries requests out at once and answers a little later. The run is interrupted after a number of them.
class Interrupting : public http::Transport {
 public:
  Interrupting(Loop& loop, http::Transport& to, size_t after) : loop_(loop), to_(to), left_(after) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    Result<http::Answer> answer = co_await to_.open(std::move(request)).uncancelled();
    if (left_-- == 0) stop.cancel();
    CO_TRY(co_await sleep_for(loop_, std::chrono::milliseconds(10)));
    co_return answer;
  }
  CancelSource stop;

 private:
  Loop& loop_;
  http::Transport& to_;
  size_t left_;
};

TEST_F(MembersTest, InterruptedAtAnyRequestItSaysSoAndGivesTheBundleBack) {
  have_shop();
  How how = How::interrupted;
  for (size_t after = 0; how == How::interrupted; ++after) {
    ASSERT_LT(after, 100U) << "it never ends";
    Interrupting network(loop_, sandbox_.api_server(), after);
    kube::Client client(loop_, network, nullptr, {});
    kube::Discovery discovery(client);
    Ending ending =
        loop_.run(take_out_bundle(client, discovery, "shop", {.default_namespace = "team"}, journal_, &network.stop));
    how = ending.how;
    EXPECT_EQ(reports(ending), "") << after;
    Json left = record();
    EXPECT_TRUE(left["metadata"]["annotations"]["fairlead.dev/claim"].is_null()) << after << left.dump();
  }
  EXPECT_EQ(how, How::done);
  EXPECT_TRUE(record().is_null());
  EXPECT_TRUE(get("/api/v1/namespaces/team/configmaps/a").is_null());
}

// Somebody else may have taken the bundle meanwhile, and may be applying it again.
TEST_F(MembersTest, OnceTheBundleIsNoLongerHeldNothingMoreGoes) {
  have_shop();
  std::optional<TimePoint> back;
  network_.fails = [&](const http::Request& request) {
    if (request.method == "DELETE" && !back) back = loop_.now() + std::chrono::minutes(1);
    return back && loop_.now() < *back && request.method != "GET";
  };
  Ending ending = remove_shop({.timeout = std::chrono::minutes(5)});
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_THAT(reports(ending), HasSubstr("error: bundle shop in namespace team is no longer claimed by this run\n"));
  EXPECT_EQ(states(ending), "ConfigMap team/a not begun\n");
  EXPECT_FALSE(get("/api/v1/namespaces/team/configmaps/a").is_null());
}

// The record is deleted with what else is in the namespace, and the run still waits for the namespace itself.
TEST_F(MembersTest, AClaimThatGoesWithItsNamespaceDoesNotEndTheRun) {
  have_shop();
  put_as_shop(fmt::format(
      "apiVersion: v1\nkind: Namespace\nmetadata: {{name: team, finalizers: [example.com/slow], {}}}\n", label_));
  actors_.spawn(clean_up_slowly());
  Ending ending = remove_shop({.timeout = std::chrono::minutes(10)});
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\nNamespace team gone\n");
  EXPECT_TRUE(get("/api/v1/namespaces/team").is_null());
}

TEST_F(MembersTest, AKindThatIsGoneDoesNotHoldANamespace) {
  have_shop();
  have_shared();
  put(std::string(kWidgets));
  pass(std::chrono::seconds(5));
  begin();
  ASSERT_NE(discovery_.known().find("example.com", "Widget"), nullptr);
  put_away("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com");
  pass(std::chrono::seconds(20));
  TimePoint begun = loop_.now();
  Ending ending =
      loop_.run(take_out_bundle(client_, discovery_, "shop", {.default_namespace = "team"}, journal_, nullptr));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(states(ending), HasSubstr("Namespace shared gone\n"));
  EXPECT_LT(loop_.now() - begun, std::chrono::seconds(30));
}

// As with an aggregated API server that is being restarted: it has no addresses yet, and its group no kinds.
TEST_F(MembersTest, AKindWhoseApiIsDownHoldsANamespace) {
  have_shop();
  have_shared();
  put(std::string(kWidgets));
  pass(std::chrono::seconds(5));
  bool is_down = false;
  network_.answers = [&](const http::Request& request) -> std::optional<http::Answer> {
    if (request.target.contains("/namespaces/shared/widgets")) {
      is_down = true;
      return http::Answer{404, {{"Content-Type", "text/plain"}}, http::body_of("404 page not found\n")};
    }
    if (!is_down || request.target != "/apis") return std::nullopt;
    return http::Answer{200,
                        {{"Content-Type", "application/json"}},
                        http::body_of(R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.com"},)"
                                      R"("versions":[{"version":"v1","freshness":"Stale"}]}]})")};
  };
  Ending ending = remove_shop();
  EXPECT_TRUE(is_down);
  EXPECT_THAT(states(ending), HasSubstr("Namespace shared kept\n")) << reports(ending);
  EXPECT_EQ(told_to_stay(),
            std::vector<std::string>{
                "Namespace shared: kept: it is not known what would be deleted with it: widgets.example.com cannot be "
                "listed (--with-contents deletes it with everything in it)"});
}

TEST_F(MembersTest, AKindThatMayNotBeListedHoldsANamespace) {
  have_shop();
  have_shared();
  put(std::string(kWidgets));
  pass(std::chrono::seconds(5));
  network_.forbids = [](const http::Request& request) {
    return request.method == "GET" && request.target.contains("/namespaces/shared/widgets");
  };
  Ending ending = remove_shop();
  EXPECT_THAT(states(ending), HasSubstr("Namespace shared kept\n")) << reports(ending);
}

TEST_F(MembersTest, AKindThatMayNotBeListedHoldsNoNamespaceThatGoesWithAllThatIsInIt) {
  have_shop();
  have_shared();
  put(std::string(kWidgets));
  pass(std::chrono::seconds(5));
  network_.forbids = [](const http::Request& request) {
    return request.method == "GET" && request.target.contains("/namespaces/shared/widgets");
  };
  Ending ending = remove_shop({.with_contents = true});
  EXPECT_THAT(states(ending), HasSubstr("Namespace shared gone\n")) << reports(ending);
}

// The run reads the members while the CRD still exists, and what is deleted with them when it no longer does.
TEST_F(MembersTest, ADefinitionThatGoesMeanwhileDoesNotHoldANamespace) {
  have_shop();
  have_shared();
  put(std::string(kWidgets));
  pass(std::chrono::seconds(5));
  begin();
  put_away("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com");
  pass(std::chrono::seconds(20));
  auto target = [](object::Key key, std::string version) {
    return Target{.key = std::move(key), .version = std::move(version), .source = {}, .uid = {}};
  };
  std::vector<Target> targets{
      target({"", "Namespace", "", "shared"}, "v1"), target({"", "ConfigMap", "shared", "a"}, "v1"),
      target({"apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com"}, "v1")};
  auto shop = loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop", .ns = "team"}));
  ASSERT_TRUE(shop);
  Options options{.default_namespace = "team"};
  options.bundle = (*shop)->identity();
  Ending ending =
      loop_.run(removal::take_out(client_, discovery_, std::move(targets), std::move(options), journal_, nullptr));
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_THAT(states(ending), HasSubstr("Namespace shared gone\n")) << events();
}

TEST_F(MembersTest, OnlyWhatTheBundleAppliedGoes) {
  have_shop();
  put(config_map("copy", label_, "team"));
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\n");
  EXPECT_FALSE(get("/api/v1/namespaces/team/configmaps/copy").is_null());
  EXPECT_THAT(events(), HasSubstr("ConfigMap team/copy is left alone: it has the bundle's label, but the bundle did "
                                  "not apply it"));
}

TEST_F(MembersTest, ABundleIsNamedWhereItsObjectsAreRefused) {
  have_shop();
  EXPECT_EQ(reports(remove(config_map("a", "", "team"))),
            "error: ConfigMap team/a is not deleted\n"
            "  because   it belongs to bundle shop, namespace team\n"
            "  from      bundle.yaml:2\n"
            "  next      fairlead delete -n team --name shop deletes that bundle; --force deletes the object anyway\n");
}

TEST_F(MembersTest, ANamespaceGoesWithWhatKubernetesMadeInIt) {
  have_shop();
  have_shared();
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap shared/a gone\nConfigMap team/a gone\nNamespace shared gone\n") << events();
  EXPECT_TRUE(record().is_null());
}

TEST_F(MembersTest, ANamespaceWithObjectsOfAnotherBundleStays) {
  have_shop();
  have_shared();
  inventory::BundleName two{.name = "two", .home = "shared"};
  std::string label = fmt::format("labels: {{applyset.kubernetes.io/part-of: {}}}", two.label_value());
  manifest::Bundle theirs = bundle_of(config_map("theirs", label, "shared"));
  auto maps = loop_.run(discovery_.find("", "v1", "ConfigMap"));
  ASSERT_TRUE(loop_.run(
      admin_.apply(**maps, "shared", "theirs", theirs.objects[0].value(), {{.field_manager = two.field_manager()}})));
  for (bool with_contents : {false, true}) {
    Ending ending = remove_shop({.with_contents = with_contents});
    EXPECT_EQ(ending.how, How::done) << reports(ending);
    EXPECT_THAT(states(ending), HasSubstr("Namespace shared kept\n"));
    EXPECT_EQ(
        told_to_stay(),
        std::vector<std::string>{
            "Namespace shared: kept: 1 object of others would be deleted with it: ConfigMap shared/theirs of bundle "
            "two, namespace shared (delete those bundles first, or move these objects to another namespace)"});
    EXPECT_FALSE(get("/api/v1/namespaces/shared/configmaps/theirs").is_null());
    EXPECT_TRUE(get("/api/v1/namespaces/shared/configmaps/a").is_null());
  }
  // The rest of the bundle is found once the other one is deleted.
  EXPECT_FALSE(record().is_null());
  ASSERT_TRUE(loop_.run(admin_.remove(**maps, "shared", "theirs", {})));
  EXPECT_EQ(states(remove_shop()), "Namespace shared gone\n");
  EXPECT_TRUE(record().is_null());
}

TEST_F(MembersTest, WhatPeopleMadeInANamespaceGoesOnlyWhereTheySaySo) {
  have_shop();
  have_shared();
  put("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot, namespace: shared}\n");
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(told_to_stay(),
            std::vector<std::string>{"Namespace shared: kept: 1 object of others would be deleted with it: "
                                     "ServiceAccount shared/robot (--with-contents deletes them as well)"});
  EXPECT_EQ(states(remove_shop({.with_contents = true})), "Namespace shared gone\n");
  EXPECT_TRUE(get("/api/v1/namespaces/shared").is_null());
}

TEST_F(MembersTest, EventsInANamespaceAreNotRead) {
  have_shop();
  have_shared();
  network_.fails = [](const http::Request& request) { return request.target.find("/events") != std::string::npos; };
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap shared/a gone\nConfigMap team/a gone\nNamespace shared gone\n") << events();
}

TEST_F(MembersTest, ADefinitionWithInstancesOfOthersStays) {
  have_shop();
  put_as_shop(std::string(kWidgets).replace(std::string(kWidgets).find("metadata: {"), 11,
                                            fmt::format("metadata: {{{}, ", label_)));
  pass(std::chrono::seconds(2));
  put("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: theirs, namespace: default}\n");
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\nCustomResourceDefinition widgets.example.com kept\n");
  EXPECT_FALSE(get("/apis/example.com/v1/namespaces/default/widgets/theirs").is_null());
}

TEST_F(MembersTest, WhatHelmWouldKeepStays) {
  have_shop();
  have_shared();
  put_as_shop(config_map("a", label_ + ", annotations: {helm.sh/resource-policy: keep}", "team"));
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap shared/a gone\nConfigMap team/a kept\nNamespace shared gone\n");
  EXPECT_EQ(told_to_stay(),
            std::vector<std::string>{"ConfigMap team/a: kept: it has the annotation helm.sh/resource-policy: keep "
                                     "(fairlead delete ConfigMap/a -n team --force deletes it)"});
}

TEST_F(MembersTest, WhatHelmWouldKeepKeepsItsNamespace) {
  have_shop();
  have_shared();
  put_as_shop(config_map("a", label_ + ", annotations: {helm.sh/resource-policy: keep}", "shared"));
  Ending ending = remove_shop({.with_contents = true});
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap shared/a kept\nConfigMap team/a gone\nNamespace shared kept\n");
  EXPECT_THAT(events(),
              HasSubstr("ConfigMap shared/a would be deleted with it, and has the annotation helm.sh/resource-policy: "
                        "keep"));
}

TEST_F(MembersTest, WhatHelmWouldKeepKeepsItsDefinition) {
  have_shop();
  put_as_shop(std::string(kWidgets).replace(std::string(kWidgets).find("metadata: {"), 11,
                                            fmt::format("metadata: {{{}, ", label_)));
  pass(std::chrono::seconds(2));
  begin();
  auto shop =
      loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop", .ns = "team", .holder = "test"}));
  ASSERT_TRUE(shop);
  ASSERT_TRUE(loop_.run((*shop)->claim({{.key = {"example.com", "Widget", "team", "w"}, .version = "v1"}})));
  ASSERT_TRUE(loop_.run((*shop)->release()));
  put_as_shop(
      fmt::format("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w, namespace: team, {}, annotations: "
                  "{{helm.sh/resource-policy: keep}}}}\n",
                  label_));
  Ending ending = remove_shop({.with_contents = true});
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending),
            "ConfigMap team/a gone\nCustomResourceDefinition widgets.example.com kept\nWidget team/w kept\n");
  EXPECT_FALSE(get("/apis/example.com/v1/namespaces/team/widgets/w").is_null());
}

TEST_F(MembersTest, ABrokenWebhookOfItsOwnDoesNotKeepABundleIn) {
  have_shop();
  have_broken_guard(label_);
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\nValidatingWebhookConfiguration guard gone\n");
  EXPECT_TRUE(record().is_null());
  EXPECT_THAT(events(), HasSubstr("the bundle is not claimed, and other runs are not kept out: webhook "
                                  "guard.example.com"));
}

TEST_F(MembersTest, ABrokenWebhookOfOthersLeavesTheRecord) {
  have_shop();
  have_broken_guard("");
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\n");
  EXPECT_FALSE(record().is_null());
  EXPECT_THAT(reports(ending), HasSubstr("error: the bundle could not be claimed, so its inventory was not deleted\n"));
  EXPECT_THAT(reports(ending),
              HasSubstr("  next      fairlead delete --name shop, once that webhook answers or is deleted\n"));
}

}  // namespace
}  // namespace fairlead::removal
