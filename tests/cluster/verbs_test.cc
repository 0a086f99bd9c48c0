// Every verb of the client, as an administrator and as an ordinary user.
#include "real_cluster_testing.h"

namespace fairlead::kube {
namespace {

class Verbs : public RealCluster, public testing::WithParamInterface<const char*> {
 protected:
  Verbs() {
    bool ordinary = std::string_view(GetParam()) == "user";
    if (ordinary) grant("plain-user");
    client_ = ordinary ? &connect_with(variable("FAIRLEAD_CLUSTER_USER_KUBECONFIG"))->client() : &admin();
  }
  Client& client() { return *client_; }

 private:
  Client* client_;
};

INSTANTIATE_TEST_SUITE_P(As, Verbs, testing::Values("admin", "user"), [](const auto& param) { return param.param; });

TEST_P(Verbs, CreateGetListDelete) {
  Outcome<Reply> created = wait(client().create(config_maps(), ns_, config_map("x")));
  expect_ok(created);
  EXPECT_TRUE(created->created());
  expect_fault(wait(client().create(config_maps(), ns_, config_map("x"))), FaultKind::already_exists);

  Outcome<Reply> got = wait(client().get(config_maps(), ns_, "x"));
  expect_ok(got);
  EXPECT_EQ(got->value["data"]["value"].string_or(""), "1");
  expect_fault(wait(client().get(config_maps(), ns_, "y")), FaultKind::not_found);

  Outcome<List> listed = wait(client().list(config_maps(), {.ns = ns_, .label_selector = "app=test"}));
  expect_ok(listed);
  ASSERT_EQ(listed->items.size(), 1u);
  EXPECT_EQ(listed->items[0]["kind"].string_or(""), "ConfigMap");

  expect_fault(wait(client().remove(config_maps(), ns_, "x", {.uid = "00000000-0000-0000-0000-000000000000"})),
               FaultKind::conflict);
  std::string uid(got->value["metadata"]["uid"].string_or(""));
  expect_ok(wait(client().remove(config_maps(), ns_, "x", {.uid = uid, .propagation = "Background"})));
  expect_fault(wait(client().get(config_maps(), ns_, "x")), FaultKind::not_found);
}

TEST_P(Verbs, ApplyOwnsWhatItSets) {
  Outcome<Reply> first = wait(client().apply(config_maps(), ns_, "x", config_map("x")));
  expect_ok(first);
  EXPECT_TRUE(first->created());
  Outcome<Reply> again = wait(client().apply(config_maps(), ns_, "x", config_map("x")));
  expect_ok(again);
  EXPECT_FALSE(again->created());
  EXPECT_EQ(again->value["metadata"]["resourceVersion"], first->value["metadata"]["resourceVersion"]);

  ApplyOptions as_other;
  as_other.field_manager = "other";
  Outcome<Reply> conflict = wait(client().apply(config_maps(), ns_, "x", config_map("x", "2"), as_other));
  expect_fault(conflict, FaultKind::field_conflict);
  EXPECT_THAT(conflict.error().error().message(), testing::HasSubstr("fairlead"));
  as_other.force = true;
  expect_ok(wait(client().apply(config_maps(), ns_, "x", config_map("x", "2"), as_other)));

  Json unknown = config_map("z");
  unknown.make("dat") = Json::Object{};
  expect_fault(wait(client().apply(config_maps(), ns_, "z", unknown)), FaultKind::schema);

  ApplyOptions dry;
  dry.dry_run = true;
  expect_ok(wait(client().apply(config_maps(), ns_, "dry", config_map("dry"), dry)));
  expect_fault(wait(client().get(config_maps(), ns_, "dry")), FaultKind::not_found);
}

TEST_P(Verbs, PatchesAndReplaces) {
  Outcome<Reply> created = wait(client().create(config_maps(), ns_, config_map("x")));
  expect_ok(created);
  Json merge = *Json::parse(R"({"data":{"value":null,"other":"2"}})");
  Outcome<Reply> merged = wait(client().patch(config_maps(), ns_, "x", PatchType::merge, merge));
  expect_ok(merged);
  EXPECT_EQ(merged->value["data"].dump(), R"({"other":"2"})");
  Json patch =
      *Json::parse(R"([{"op":"test","path":"/data/other","value":"2"},{"op":"add","path":"/data/third","value":"3"}])");
  Outcome<Reply> patched = wait(client().patch(config_maps(), ns_, "x", PatchType::json, patch));
  expect_ok(patched);
  EXPECT_EQ(patched->value["data"]["third"].string_or(""), "3");

  expect_fault(wait(client().replace(config_maps(), ns_, "x", created->value)), FaultKind::conflict);
  Json newest = patched->value;
  newest.make("data").make("third") = "4";
  Outcome<Reply> replaced = wait(client().replace(config_maps(), ns_, "x", newest));
  expect_ok(replaced);
  EXPECT_EQ(replaced->value["data"]["third"].string_or(""), "4");
}

TEST_P(Verbs, Subresources) {
  object::Resource deployments{
      .group = "apps", .version = "v1", .kind = "Deployment", .plural = "deployments", .namespaced = true};
  Json deployment =
      *Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":0,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"web","image":"localhost/none"}]}}}})");
  expect_ok(wait(client().apply(deployments, ns_, "web", deployment)));
  Outcome<Reply> scale = wait(client().get(deployments, ns_, "web", "scale"));
  expect_ok(scale);
  EXPECT_EQ(scale->value["kind"].string_or(""), "Scale");
  WriteOptions options;
  options.subresource = "scale";
  Outcome<Reply> scaled = wait(
      client().patch(deployments, ns_, "web", PatchType::merge, *Json::parse(R"({"spec":{"replicas":1}})"), options));
  expect_ok(scaled);
  EXPECT_EQ(scaled->value["spec"]["replicas"].int_or(0), 1);
  options.subresource = "status";
  expect_ok(wait(client().patch(deployments, ns_, "web", PatchType::merge,
                                *Json::parse(R"({"status":{"observedGeneration":1}})"), options)));
}

TEST_P(Verbs, WarningsStayWithTheirObject) {
  object::Resource pods{.version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
  Json labels = *Json::parse(R"({"metadata":{"labels":{"pod-security.kubernetes.io/warn":"restricted"}}})");
  expect_ok(wait(admin().patch(namespaces(), "", ns_, PatchType::merge, labels)));
  Json pod = *Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
    "spec":{"automountServiceAccountToken":false,"containers":[{"name":"c","image":"localhost/none"}]}})");
  ApplyOptions dry;
  dry.dry_run = true;
  Outcome<Reply> reply = wait(client().apply(pods, ns_, "p", pod, dry));
  // A new namespace gets its service account a moment later.
  while (!reply && reply.error().is(FaultKind::service_account_missing))
    reply = wait(client().apply(pods, ns_, "p", pod, dry));
  expect_ok(reply);
  EXPECT_THAT(reply->warnings,
              testing::ElementsAre(testing::HasSubstr("would violate PodSecurity \"restricted:latest\"")));
}

TEST_F(RealCluster, AnOrdinaryUserMayNotDoWhatNobodyGranted) {
  Client& user = connect_with(variable("FAIRLEAD_CLUSTER_USER_KUBECONFIG"))->client();
  expect_fault(wait(user.get(config_maps(), ns_, "x")), FaultKind::forbidden);
  Outcome<Access> may = wait(ask_access(user, {.verb = "get", .resource = "configmaps", .ns = ns_}));
  expect_ok(may);
  EXPECT_FALSE(may->allowed);
  EXPECT_TRUE(wait(ask_access(admin(), {.verb = "get", .resource = "configmaps", .ns = ns_}))->allowed);
}

TEST_F(RealCluster, Impersonates) {
  KubeFlags flags;
  flags.as = "alice";
  flags.as_groups = {"dev", "ops"};
  Client& alice = connect_with(variable("KUBECONFIG"), flags)->client();
  Json review = *Json::parse(R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
  Outcome<Reply> who = wait(alice.request({.verb = "create",
                                           .method = "POST",
                                           .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                           .content_type = "application/json",
                                           .body = review.dump()}));
  expect_ok(who);
  EXPECT_EQ(who->value["status"]["userInfo"]["username"].string_or(""), "alice");
  EXPECT_EQ(who->value["status"]["userInfo"]["groups"].dump(), R"(["dev","ops","system:authenticated"])");
}

TEST_F(RealCluster, DiscoversKindsThatComeLater) {
  Discovery discovery(admin());
  Outcome<std::optional<object::Resource>> deploy = wait(discovery.find_by_name("deploy"));
  expect_ok(deploy);
  EXPECT_EQ(deploy->value().path("x", "y").value(), "/apis/apps/v1/namespaces/x/deployments/y");
  std::string group = ns_ + ".example.com";
  EXPECT_EQ(wait(discovery.find(group, "v1", "Widget")).value(), std::nullopt);
  object::Resource definitions{.group = "apiextensions.k8s.io",
                               .version = "v1",
                               .kind = "CustomResourceDefinition",
                               .plural = "customresourcedefinitions"};
  std::string name = "widgets." + group;
  Json definition = *Json::parse(fmt::format(
      R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{0}"}},"spec":{{"group":"{1}",
      "scope":"Namespaced","names":{{"plural":"widgets","kind":"Widget"}},"versions":[{{"name":"v1","served":true,"storage":true,
      "schema":{{"openAPIV3Schema":{{"type":"object"}}}}}}]}}}})",
      name, group));
  expect_ok(wait(admin().apply(definitions, "", name, definition)));
  std::optional<object::Resource> widgets;
  while (!widgets) widgets = wait(discovery.find(group, "v1", "Widget")).value();
  EXPECT_EQ(widgets->plural, "widgets");
  expect_ok(wait(admin().remove(definitions, "", name)));
}

}  // namespace
}  // namespace fairlead::kube
