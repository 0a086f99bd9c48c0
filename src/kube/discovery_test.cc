#include "kube/discovery.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/scripted_transport_testing.h"

namespace fairlead::kube {
namespace {

using std::chrono::seconds;

struct World {
  VirtualLoop loop;
  ScriptedTransport server{loop};
  Client client{loop, server, nullptr, {}};
  Discovery discovery{client};

  std::string found(std::string group, std::string version, std::string kind) {
    Outcome<std::optional<object::Resource>> resource = loop.run(discovery.find(group, version, kind));
    if (!resource) return "failed: " + resource.error().error().message();
    return *resource ? (*resource)->name_with_group() : "none";
  }
  std::string by_name(std::string name) {
    Outcome<std::optional<object::Resource>> resource = loop.run(discovery.find_by_name(std::move(name)));
    if (!resource) return "failed: " + resource.error().error().message();
    return *resource ? (*resource)->plural + " " + (*resource)->api_version() : "none";
  }
};

Step aggregated_core(std::string_view version = "v2") {
  return {
      .body = fmt::format(
          R"({{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/{}","items":[{{"metadata":{{"name":""}},
    "versions":[{{"version":"v1","freshness":"Current","resources":[
      {{"resource":"pods","responseKind":{{"group":"","version":"","kind":"Pod"}},"scope":"Namespaced","singularResource":"pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"],
        "subresources":[{{"subresource":"status","verbs":["get"]}}]}},
      {{"resource":"namespaces","responseKind":{{"kind":"Namespace"}},"scope":"Cluster","singularResource":"namespace","verbs":["get"],"shortNames":["ns"]}}]}}]}}]}})",
          version)};
}

Step aggregated_groups(std::string more = "") {
  return {.body = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
    {"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current","resources":[
      {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["get"],"shortNames":["deploy"],
       "subresources":[{"subresource":"scale"},{"subresource":"status"}]}]}]},
    {"metadata":{"name":"autoscaling"},"versions":[
      {"version":"v2","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","shortNames":["hpa"]}]},
      {"version":"v1","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","shortNames":["hpa"]}]}]},
    {"metadata":{"name":"metrics.example.com"},"versions":[{"version":"v1alpha1","freshness":"Stale"}]})" +
                  more + "]}"};
}

TEST(Discovery, aggregated) {
  World world;
  world.server.say(aggregated_core()).say(aggregated_groups());
  EXPECT_EQ(world.found("", "v1", "Pod"), "pods");
  EXPECT_EQ(world.found("apps", "v1", "Deployment"), "deployments.apps");
  EXPECT_EQ(world.server.targets(), (std::vector<std::string>{"GET /api", "GET /apis"})) << "asked once";
  EXPECT_EQ(world.server.seen[0].headers.find("Accept"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json");
  const object::Resource* pod = world.discovery.known().find("", "v1", "Pod");
  ASSERT_TRUE(pod);
  EXPECT_EQ(*pod, (object::Resource{.group = "",
                                    .version = "v1",
                                    .kind = "Pod",
                                    .plural = "pods",
                                    .singular = "pod",
                                    .namespaced = true,
                                    .short_names = {"po"},
                                    .verbs = {"get", "list"},
                                    .categories = {"all"}}));
  EXPECT_FALSE(world.discovery.known().find("", "v1", "Namespace")->namespaced);
  EXPECT_EQ(world.discovery.known().find("autoscaling", "HorizontalPodAutoscaler")->version, "v2");
}

TEST(Discovery, names_as_kubectl_takes_them) {
  World world;
  world.server.say(aggregated_core("v2beta1"))
      .say(aggregated_groups())
      .then_always({.error = Error(ErrorKind::internal, "no more")});
  for (const char* name :
       {"deployments", "deployment", "deploy", "Deployment", "deployments.apps", "deploy.apps", "deployments.v1.apps"})
    EXPECT_EQ(world.by_name(name), "deployments apps/v1") << name;
  EXPECT_EQ(world.by_name("po"), "pods v1");
  EXPECT_EQ(world.by_name("pods.v1."), "pods v1");
  EXPECT_EQ(world.by_name("hpa"), "horizontalpodautoscalers autoscaling/v2");
  EXPECT_EQ(world.by_name("hpa.v1.autoscaling"), "horizontalpodautoscalers autoscaling/v1");
  for (const char* name : {"", "nothing", "deployments.batch", "deployments.v2.apps", ".apps"})
    EXPECT_EQ(world.by_name(name), "none") << name;
}

TEST(Discovery, a_server_without_aggregated_discovery) {
  World world;
  world.server.say({.body = R"({"kind":"APIVersions","versions":["v1"]})"})
      .say(
          {.body =
               R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"],"shortNames":["po"]},{"name":"pods/status","kind":"Pod"}]})"})
      .say(
          {.body =
               R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"version":"v1"}},
                        {"name":"down.example.com","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]})"})
      .say(
          {.body =
               R"({"resources":[{"name":"deployments","singularName":"","namespaced":true,"kind":"Deployment","verbs":["get"]}]})"})
      .say(
          {.body =
               R"({"resources":[{"name":"deployments","singularName":"","namespaced":true,"kind":"Deployment","verbs":["get"]}]})"})
      .say({.status = 503, .body = "service unavailable\n", .headers = {{"Content-Type", "text/plain"}}});
  EXPECT_EQ(world.by_name("deployments"), "deployments apps/v1");
  EXPECT_EQ(world.by_name("deployment"), "deployments apps/v1") << "a name for one that has none";
  EXPECT_EQ(world.server.targets(),
            (std::vector<std::string>{"GET /api", "GET /api/v1", "GET /apis", "GET /apis/apps/v1",
                                      "GET /apis/apps/v1beta1", "GET /apis/down.example.com/v1"}));
  EXPECT_EQ(world.discovery.known().problems(),
            (std::vector<GroupProblem>{
                {"down.example.com", "v1",
                 "APIService v1.down.example.com is not available: the server behind it does not answer: "
                 "the API server answered 503: service unavailable"}}));
}

TEST(Discovery, a_miss_asks_again_but_not_for_each) {
  World world;
  world.server.say(aggregated_core()).say(aggregated_groups());
  EXPECT_EQ(world.found("example.com", "v1", "Widget"), "none");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(world.found("example.com", "v1", fmt::format("Kind{}", i)), "none");
  EXPECT_EQ(world.server.seen.size(), 2u);

  world.loop.run(sleep_for(world.loop, seconds(1)));
  world.server.say(aggregated_core())
      .say(aggregated_groups(
          R"(,{"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[{"resource":"widgets","responseKind":{"kind":"Widget"}}]}]})"));
  EXPECT_EQ(world.found("example.com", "v1", "Widget"), "widgets.example.com");
  EXPECT_EQ(world.found("", "v1", "Pod"), "pods");
  EXPECT_EQ(world.server.seen.size(), 4u);
}

TEST(Discovery, many_who_ask_at_once_share_one_round) {
  World world;
  Step core = aggregated_core();
  core.after = seconds(1);
  world.server.say(core).say(aggregated_groups());
  int found = 0;
  auto ask = [&]() -> Task<void> {
    auto resource = co_await world.discovery.find("apps", "v1", "Deployment");
    if (resource && *resource) ++found;
  };
  auto all = [&]() -> Task<void> {
    Scope scope(world.loop, nullptr);
    for (int i = 0; i < 100; ++i) scope.spawn(ask());
    co_await scope.join();
  };
  world.loop.run(all());
  EXPECT_EQ(found, 100);
  EXPECT_EQ(world.server.seen.size(), 2u);
}

TEST(Discovery, an_api_is_asked_itself_once_for_all_who_ask) {
  World world;
  world.server.say(aggregated_core()).say(aggregated_groups());
  EXPECT_EQ(world.found("", "v1", "Pod"), "pods");
  world.server.say({.status = 503, .body = "service unavailable"})
      .say({.body = R"({"kind":"APIResourceList","groupVersion":"acme.dev/v1","resources":[
        {"name":"gauges","singularName":"gauge","namespaced":true,"kind":"Gauge","verbs":["create"]}]})"});
  auto ask = [&] { return world.discovery.find_at_source("acme.dev", "v1", "Gauge"); };
  auto none = world.loop.run(ask());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  Scope scope(world.loop, nullptr);
  int found = 0;
  auto one = [&]() -> Task<void> {
    auto resource = co_await ask();
    if (resource && *resource && (*resource)->plural == "gauges") ++found;
  };
  for (int i = 0; i < 3; ++i) scope.spawn(one());
  world.loop.run(scope.join());
  EXPECT_EQ(found, 3);
  EXPECT_EQ(world.server.targets(),
            (std::vector<std::string>{"GET /api", "GET /apis", "GET /apis/acme.dev/v1", "GET /apis/acme.dev/v1"}));
  EXPECT_EQ(world.found("", "v1", "Pod"), "pods") << "the others are known as before";
}

TEST(Discovery, who_is_cancelled_fails_alone) {
  World world;
  Step core = aggregated_core();
  core.after = seconds(1);
  world.server.say(core).say(core).say(aggregated_groups());
  std::vector<bool> results;
  auto ask = [&]() -> Task<void> {
    results.push_back((co_await world.discovery.find("apps", "v1", "Deployment")).has_value());
  };
  auto both = [&]() -> Task<void> {
    Scope one(world.loop, nullptr);
    Scope two(world.loop, nullptr);
    one.spawn(ask());
    two.spawn(ask());
    co_await sleep_for(world.loop, std::chrono::milliseconds(500));
    one.cancel();
    co_await one.join();
    co_await two.join();
  };
  world.loop.run(both());
  EXPECT_EQ(results, (std::vector<bool>{false, true}));
}

TEST(Discovery, failures_are_told) {
  World world;
  world.server.say(
      {.status = 403,
       .body =
           R"({"kind":"Status","status":"Failure","message":"forbidden: User \"u\" cannot get path \"/api\"","reason":"Forbidden","code":403})"});
  EXPECT_EQ(world.found("", "v1", "Pod"), "failed: forbidden: User \"u\" cannot get path \"/api\"");
  world.server.say(aggregated_core()).say(aggregated_groups());
  EXPECT_EQ(world.found("", "v1", "Pod"), "pods") << "and forgotten";
}

TEST(Discovery, why_a_kind_is_missing) {
  World world;
  world.server.say(aggregated_core()).say(aggregated_groups());
  world.loop.run(world.discovery.refresh());
  const Discovered& known = world.discovery.known();
  EXPECT_EQ(known.missing("example.com", "v1", "Widget").report(),
            "error: the cluster does not serve kind Widget in example.com/v1\n"
            "  because   it serves nothing of group example.com\n");
  EXPECT_EQ(known.missing("apps", "v1beta1", "Deployment").report(),
            "error: the cluster does not serve kind Deployment in apps/v1beta1\n  because   it serves it in apps/v1\n"
            "  next      change its apiVersion to apps/v1\n");
  EXPECT_EQ(known.missing("metrics.example.com", "v1alpha1", "Metric").report(),
            "error: the cluster does not serve kind Metric in metrics.example.com/v1alpha1\n"
            "  because   the server behind APIService v1alpha1.metrics.example.com does not answer\n"
            "  next      kubectl describe apiservice v1alpha1.metrics.example.com\n");
  EXPECT_EQ(known.missing("", "v1", "Widget").report(), "error: the cluster does not serve kind Widget in v1\n");
}

TEST(Discovery, hostile_documents) {
  for (
      const char* body :
      {"[]", "{}", "7", R"({"kind":"APIGroupDiscoveryList","items":7})",
       R"({"kind":"APIGroupDiscoveryList","items":[1,{"versions":{}}]})",
       R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":3,"versions":[{"version":[],"resources":[{"resource":{},"shortNames":[1,{}]}]}]}]})",
       R"({"groups":[{"name":7,"versions":"x"}],"versions":{}})"}) {
    World world;
    world.server.then_always({.body = body});
    EXPECT_EQ(world.found("", "v1", "Pod"), "none") << body;
  }
}

TEST(Access, asks_the_server) {
  World world;
  world.server.say({.status = 201, .body = R"({"status":{"allowed":true,"reason":"RBAC: allowed"}})"})
      .say({.status = 201, .body = R"({"status":{}})"});
  Outcome<Access> access = world.loop.run(ask_access(
      world.client,
      {.verb = "patch", .group = "apps", .resource = "deployments", .subresource = "scale", .ns = "n", .name = "x"}));
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->allowed);
  EXPECT_EQ(access->reason, "RBAC: allowed");
  EXPECT_EQ(
      world.server.seen[0].body,
      R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"verb":"patch","group":"apps",)"
      R"("resource":"deployments","subresource":"scale","namespace":"n","name":"x"}}})");
  EXPECT_FALSE(world.loop.run(ask_access(world.client, {.verb = "get", .resource = "pods"}))->allowed);
}

}  // namespace
}  // namespace fairlead::kube
