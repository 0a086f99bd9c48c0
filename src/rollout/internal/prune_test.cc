// Objects that left the manifests are deleted, and nothing of the bundle with them.
#include <gmock/gmock.h>

#include "kube/interceptor_testing.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

Options pruning() {
  Options options;
  options.name = "shop";
  options.prune = true;
  return options;
}

constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
)";
constexpr std::string_view kNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n";
constexpr std::string_view kWidget =
    "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: team}\n---\n";
constexpr std::string_view kMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other}\n---\n";
constexpr std::string_view kOther = "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n---\n";

TEST_F(RolloutTest, WhatObjectsOfTheBundleAreInIsNotPruned) {
  std::string all = fmt::format("{}{}{}{}{}", kDefinition, kNamespace, kWidget, kMap, kOther);
  EXPECT_EQ(apply(all, pruning()).how, Ending::How::done) << events();
  Ending ending = apply(kWidget, pruning());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending), "Widget team/w unchanged\nConfigMap other/a removed\nNamespace other removed\n");
  std::vector<std::string> told;
  for (const journal::Event& event : events_)
    if (event.kind == journal::EventKind::warning) told.push_back(event.key.text() + ": " + event.text);
  EXPECT_EQ(told, (std::vector<std::string>{
                      "Namespace team: it left the bundle but is kept: Widget team/w would be deleted with it",
                      "CustomResourceDefinition widgets.example.com: it left the bundle but is kept: Widget team/w "
                      "would be deleted with it"}));
  EXPECT_FALSE(get("/apis/example.com/v1/namespaces/team/widgets/w").is_null());
  // They are pruned once nothing of the bundle is in them.
  EXPECT_EQ(states(apply(fmt::format("{}{}", kOther, kMap), pruning())),
            "Namespace other created\nConfigMap other/a created\nNamespace team removed\n"
            "CustomResourceDefinition widgets.example.com removed\nWidget team/w removed\n")
      << events();
}

TEST_F(RolloutTest, WhoeverDoesNotWaitDoesNotWaitForFinalizersEither) {
  constexpr std::string_view kHeld =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [acme.dev/never]}\n---\n";
  constexpr std::string_view kStays = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stays}\n---\n";
  ASSERT_EQ(apply(fmt::format("{}{}", kHeld, kStays), pruning()).how, Ending::How::done);
  Options options = pruning();
  options.wait = false;
  Ending ending = apply(kStays, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_LT(ending.took, std::chrono::seconds(10));
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/held")["metadata"]["deletionTimestamp"].is_null());
}

// Whoever depends on it may still run in its former version.
TEST_F(RolloutTest, NothingIsPrunedAfterARunThatFailed) {
  constexpr std::string_view kOld = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n---\n";
  constexpr std::string_view kNew = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n---\n";
  constexpr std::string_view kFails =
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: fails}\nspec:\n  backoffLimit: 0\n  template:\n"
      "    metadata: {annotations: {sandbox.fairlead.dev/runs-for: 1s, sandbox.fairlead.dev/exit-code: '1'}}\n"
      "    spec: {restartPolicy: Never, containers: [{name: x, image: x}]}\n---\n";
  ASSERT_EQ(apply(kOld, pruning()).how, Ending::How::done);
  Ending ending = apply(fmt::format("{}{}", kNew, kFails), pruning());
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_EQ(states(ending), "ConfigMap default/new created\nJob default/fails not ready (not ready)\n");
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/old").is_null());
  EXPECT_EQ(states(apply(kNew, pruning())),
            "ConfigMap default/new unchanged\nConfigMap default/old removed\nJob default/fails removed\n");
}

// The labels of a Service are copied to its EndpointSlices and Endpoints.
TEST_F(RolloutTest, WhatControllersLabelledIsNotPruned) {
  constexpr std::string_view kService =
      "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
      "spec: {selector: {app: web}, ports: [{port: 80}]}\n---\n";
  constexpr std::string_view kSlice =
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: outside}\n"
      "addressType: IPv4\nendpoints: []\nports: []\n---\n";
  EXPECT_EQ(apply(fmt::format("{}{}", kService, kSlice), pruning()).how, Ending::How::done) << events();
  (void)loop_.run(sleep_for(loop_, std::chrono::seconds(30)));
  size_t slices = get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")["items"].items().size();
  ASSERT_GE(slices, 2U);
  EXPECT_EQ(states(apply(kService, pruning())),
            "Service default/web unchanged\nEndpointSlice default/outside removed\n")
      << events();
  EXPECT_EQ(get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")["items"].items().size(), slices - 1);
}

TEST_F(RolloutTest, WhatOthersAreInIsNotPruned) {
  std::string others = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: theirs, namespace: team}\n";
  Options two = pruning();
  two.name = "two";
  EXPECT_EQ(apply(fmt::format("{}{}{}", kNamespace, kOther, kMap), pruning()).how, Ending::How::done) << events();
  EXPECT_EQ(apply(others, two).how, Ending::How::done) << events();
  Options with_contents = pruning();
  with_contents.with_contents = true;
  for (const Options& options : {pruning(), with_contents}) {
    EXPECT_EQ(states(apply(fmt::format("{}{}", kOther, kMap), options)),
              "Namespace other unchanged\nConfigMap other/a unchanged\n");
    EXPECT_THAT(events(), testing::HasSubstr("kept: 1 object of others would be deleted with it: Secret team/theirs of "
                                             "bundle two, namespace default"));
    EXPECT_FALSE(get("/api/v1/namespaces/team/secrets/theirs").is_null());
  }
  // It is pruned once the other bundle has left it.
  EXPECT_EQ(apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n", two).how, Ending::How::done) << events();
  EXPECT_EQ(states(apply(fmt::format("{}{}", kOther, kMap), pruning())),
            "Namespace other unchanged\nConfigMap other/a unchanged\nNamespace team removed\n");
}

TEST_F(RolloutTest, WhatPeopleMadeInANamespaceIsPrunedWithItOnlyWhereTheySaySo) {
  EXPECT_EQ(apply(fmt::format("{}{}{}", kNamespace, kOther, kMap), pruning()).how, Ending::How::done) << events();
  kube::Call secret{.verb = "create",
                    .method = "POST",
                    .target = "/api/v1/namespaces/team/secrets",
                    .content_type = "application/json",
                    .body = R"({"metadata":{"name":"theirs"}})"};
  ASSERT_TRUE(loop_.run(client_.request(secret)));
  std::string rest = fmt::format("{}{}", kOther, kMap);
  EXPECT_EQ(states(apply(rest, pruning())), "Namespace other unchanged\nConfigMap other/a unchanged\n");
  EXPECT_FALSE(get("/api/v1/namespaces/team/secrets/theirs").is_null());
  Options with_contents = pruning();
  with_contents.with_contents = true;
  EXPECT_EQ(states(apply(rest, with_contents)),
            "Namespace other unchanged\nConfigMap other/a unchanged\nNamespace team removed\n");
}

TEST_F(RolloutTest, TheHomeThatWasMadeForABundleIsNotPruned) {
  Options options = pruning();
  options.default_namespace = "shop";
  options.create_namespace = true;
  EXPECT_EQ(apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", options).how, Ending::How::done);
  options.create_namespace = false;
  // Nothing of the bundle is in its home any more; only the record is a reason to keep it.
  EXPECT_EQ(states(apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: default}\n", options)),
            "ConfigMap default/b created\nConfigMap shop/a removed\n")
      << events();
  EXPECT_FALSE(get("/api/v1/namespaces/shop")["metadata"].contains("deletionTimestamp"));
  EXPECT_FALSE(get("/api/v1/namespaces/shop/configmaps/fairlead-shop").is_null());
}

TEST_F(RolloutTest, AHomeThatWasThereBeforeIsNotMadePartOfTheBundle) {
  Options options = pruning();
  options.create_namespace = true;
  EXPECT_EQ(states(apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", options)),
            "ConfigMap default/a created\n");
  EXPECT_FALSE(get("/api/v1/namespaces/default")["metadata"]["labels"].contains("applyset.kubernetes.io/part-of"));
}

// Later runs and other tools look for members in the kinds and namespaces that the record names.
TEST_F(RolloutTest, TheRecordNoLongerNamesKindsThatWerePruned) {
  std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
  std::string secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: kube-public}\n";
  auto covered = [&] {
    Json annotations = get("/api/v1/namespaces/default/configmaps/fairlead-shop")["metadata"]["annotations"];
    return fmt::format("{} in {}", annotations["applyset.kubernetes.io/contains-group-kinds"].string_or(""),
                       annotations["applyset.kubernetes.io/additional-namespaces"].string_or(""));
  };
  EXPECT_EQ(apply(map + secret, pruning()).how, Ending::How::done) << events();
  EXPECT_EQ(covered(), "ConfigMap,Secret in kube-public");
  EXPECT_EQ(apply(map, pruning()).how, Ending::How::done) << events();
  EXPECT_EQ(covered(), "ConfigMap in ");
}

TEST_F(RolloutTest, TheRecordDoesNotNameKindsThatSomebodyElseDeletedBeforeTheyWerePruned) {
  std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: \"1\"}\n";
  std::string secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: kube-public}\n";
  EXPECT_EQ(apply(map + secret, pruning()).how, Ending::How::done) << events();
  kube::Interceptor network(sandbox_.api_server());
  network.before = [&](const http::Request& request) -> Task<void> {
    if (request.method != "PATCH" || !request.target.contains("/configmaps/a")) co_return;
    EXPECT_TRUE(co_await client_.request({.method = "DELETE", .target = "/api/v1/namespaces/kube-public/secrets/s"}));
  };
  map.replace(map.find("\"1\""), 3, "\"2\"");
  Ending ending = apply_through(network, map, pruning());
  EXPECT_EQ(states(ending), "ConfigMap default/a changed\nSecret kube-public/s removed\n") << reports(ending);
  Json record = get("/api/v1/namespaces/default/configmaps/fairlead-shop");
  EXPECT_EQ(record["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"].string_or(""),
            "ConfigMap");
}

TEST_F(RolloutTest, ADryRunTellsWhatWouldBePruned) {
  std::string b = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
  std::string a = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
  EXPECT_EQ(apply(a + b, pruning()).how, Ending::How::done);
  Options options = pruning();
  options.dry_run = true;
  EXPECT_EQ(states(apply(a, options)), "ConfigMap default/a unchanged\nConfigMap default/b removed\n");
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/b").is_null());
}

}  // namespace
}  // namespace fairlead::rollout
