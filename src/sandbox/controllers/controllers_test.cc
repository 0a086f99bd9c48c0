#include "sandbox/controllers/controllers.h"

#include <gmock/gmock.h>

#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr std::string_view kPodList = "/api/v1/namespaces/default/pods";

std::string deployment(std::string_view name, int replicas, std::string_view annotations = "",
                       std::string_view image = "x") {
  return fmt::format(
      R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{0}"}},"spec":{{"replicas":{1},
    "selector":{{"matchLabels":{{"app":"{0}"}}}},"template":{{"metadata":{{"labels":{{"app":"{0}"}},"annotations":{{{2}}}}},
    "spec":{{"containers":[{{"name":"c","image":"{3}"}}]}}}}}}}})",
      name, replicas, annotations, image);
}

class ControllersTest : public SandboxTest {
 protected:
  ControllersTest() { pass(1s); }
  std::string condition(const Json& object, std::string_view type) {
    for (const Json& one : object["status"]["conditions"].items())
      if (one["type"].string_or("") == type)
        return fmt::format("{} {}", one["status"].string_or(""), one["reason"].string_or(""));
    return "none";
  }
  size_t count(std::string_view list) { return get(std::string(list)).body["items"].items().size(); }
};

TEST_F(ControllersTest, ADeploymentBecomesAvailable) {
  Got made = apply(std::string(kDeployments) + "/web", deployment("web", 2));
  ASSERT_EQ(made.status, 201) << made.text;
  post("/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"web"},"spec":{"selector":{"app":"web"},"ports":[{"port":80,"targetPort":8080}]}})");
  pass(200ms);
  Json early = get(std::string(kDeployments) + "/web").body;
  EXPECT_EQ(condition(early, "Available"), "False MinimumReplicasUnavailable");
  EXPECT_EQ(count(kPodList), 2u);
  pass(5s);
  Json late = get(std::string(kDeployments) + "/web").body;
  EXPECT_EQ(late["status"]["availableReplicas"], Json(2)) << late.pretty();
  EXPECT_EQ(condition(late, "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(condition(late, "Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(late["metadata"]["annotations"]["deployment.kubernetes.io/revision"], Json("1"));
  Json slices =
      get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=web")
          .body;
  ASSERT_EQ(slices["items"].item(0)["endpoints"].items().size(), 2u) << slices.pretty();
  EXPECT_EQ(slices["items"].item(0)["endpoints"].item(0)["conditions"]["ready"], Json(true));
  EXPECT_EQ(slices["items"].item(0)["ports"].item(0)["port"], Json(8080));
}

TEST_F(ControllersTest, ANewTemplateRollsOut) {
  apply(std::string(kDeployments) + "/web", deployment("web", 3));
  pass(5s);
  apply(std::string(kDeployments) + "/web", deployment("web", 3, "", "y"));
  pass(30s);
  Json done = get(std::string(kDeployments) + "/web").body;
  EXPECT_EQ(done["status"]["updatedReplicas"], Json(3)) << done["status"].pretty();
  EXPECT_EQ(done["status"]["replicas"], Json(3));
  EXPECT_EQ(done["metadata"]["annotations"]["deployment.kubernetes.io/revision"], Json("2"));
  EXPECT_EQ(count(kPodList), 3u);
  for (const Json& pod : get(std::string(kPodList)).body["items"].items())
    EXPECT_EQ(pod["spec"]["containers"].item(0)["image"], Json("y"));
}

TEST_F(ControllersTest, AnOldTemplateThatComesBackIsANewRevision) {
  for (std::string_view image : {"x", "y", "x"}) {
    apply(std::string(kDeployments) + "/web", deployment("web", 1, "", image));
    pass(10s);
  }
  Json done = get(std::string(kDeployments) + "/web").body;
  EXPECT_EQ(done["metadata"]["annotations"]["deployment.kubernetes.io/revision"], Json("3"));
  std::vector<std::string> sets;
  for (const Json& set : get("/apis/apps/v1/namespaces/default/replicasets").body["items"].items())
    sets.push_back(fmt::format("{} {} {}", set["spec"]["replicas"].int_or(-1),
                               set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].string_or(""),
                               set["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"].dump()));
  EXPECT_THAT(sets, testing::UnorderedElementsAre("1 3 \"1\"", "0 2 null"));
}

TEST_F(ControllersTest, APodThatFitsNowhereIsPlacedWhenANodeChanges) {
  std::string node = "/api/v1/nodes/sandbox-1";
  merge(node, R"({"spec":{"unschedulable":true}})");
  apply(std::string(kDeployments) + "/web", deployment("web", 1));
  pass(5s);
  EXPECT_EQ(get(std::string(kPodList)).body["items"].item(0)["status"]["phase"], Json("Pending"));
  merge(node, R"({"spec":{"unschedulable":false}})");
  pass(5s);
  EXPECT_EQ(get(std::string(kPodList)).body["items"].item(0)["status"]["phase"], Json("Running"));
}

TEST_F(ControllersTest, PodsFailAsTheyAreTold) {
  apply(std::string(kDeployments) + "/bad", deployment("bad", 1, R"("sandbox.fairlead.dev/fail":"image-pull")"));
  pass(5s);
  Json pod = get(std::string(kPodList)).body["items"].item(0);
  EXPECT_EQ(pod["status"]["containerStatuses"].item(0)["state"]["waiting"]["reason"], Json("ImagePullBackOff"))
      << pod.pretty();
  EXPECT_EQ(pod["status"]["phase"], Json("Pending"));
  pass(11min);
  EXPECT_EQ(condition(get(std::string(kDeployments) + "/bad").body, "Progressing"), "False ProgressDeadlineExceeded");
}

TEST_F(ControllersTest, DeletionFollowsOwners) {
  apply(std::string(kDeployments) + "/web", deployment("web", 2));
  pass(5s);
  remove(std::string(kDeployments) + "/web");
  pass(10s);
  EXPECT_EQ(count("/apis/apps/v1/namespaces/default/replicasets"), 0u);
  EXPECT_EQ(count(kPodList), 0u);

  apply(std::string(kDeployments) + "/front", deployment("front", 1));
  pass(5s);
  Got held = remove(std::string(kDeployments) + "/front", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(held.body["metadata"]["finalizers"].dump(), R"(["foregroundDeletion"])");
  pass(10s);
  EXPECT_EQ(get(std::string(kDeployments) + "/front").status, 404);
  EXPECT_EQ(count(kPodList), 0u);

  apply(std::string(kDeployments) + "/left", deployment("left", 1));
  pass(5s);
  remove(std::string(kDeployments) + "/left", R"({"propagationPolicy":"Orphan"})");
  pass(10s);
  EXPECT_EQ(get(std::string(kDeployments) + "/left").status, 404);
  EXPECT_EQ(count("/apis/apps/v1/namespaces/default/replicasets"), 1u);
  EXPECT_EQ(count(kPodList), 1u);
}

TEST_F(ControllersTest, JobsRunToTheirEnd) {
  constexpr std::string_view kJobs = "/apis/batch/v1/namespaces/default/jobs";
  std::string job =
      R"({"metadata":{"name":"%"},"spec":{"backoffLimit":0,"template":{"metadata":{"annotations":{"sandbox.fairlead.dev/exit-code":"#"}},
    "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}})";
  auto named = [&](std::string name, std::string code) {
    std::string text = job;
    text.replace(text.find('%'), 1, name);
    text.replace(text.find('#'), 1, code);
    return text;
  };
  EXPECT_EQ(post(std::string(kJobs), named("good", "0")).status, 201);
  EXPECT_EQ(post(std::string(kJobs), named("bad", "3")).status, 201);
  pass(30s);
  EXPECT_EQ(condition(get(std::string(kJobs) + "/good").body, "Complete"), "True CompletionsReached");
  EXPECT_EQ(condition(get(std::string(kJobs) + "/bad").body, "Failed"), "True BackoffLimitExceeded");
}

TEST_F(ControllersTest, StatefulSetsComeInOrder) {
  Got made =
      post("/apis/apps/v1/namespaces/default/statefulsets",
           R"({"metadata":{"name":"db"},"spec":{"serviceName":"db","replicas":2,"selector":{"matchLabels":{"app":"db"}},
           "template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.text;
  pass(300ms);
  EXPECT_EQ(get(std::string(kPodList) + "/db-0").status, 200);
  EXPECT_EQ(get(std::string(kPodList) + "/db-1").status, 404);
  pass(10s);
  Json set = get("/apis/apps/v1/namespaces/default/statefulsets/db").body;
  EXPECT_EQ(set["status"]["readyReplicas"], Json(2)) << set["status"].pretty();
  EXPECT_EQ(set["status"]["currentRevision"], set["status"]["updateRevision"]);
}

TEST_F(ControllersTest, APodWaitsForItsSecret) {
  post(std::string(kPodList), R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}],
    "volumes":[{"name":"v","secret":{"secretName":"s"}}]}})");
  pass(5s);
  EXPECT_EQ(get(std::string(kPodList) + "/p").body["status"]["phase"], Json("Pending"));
  post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"},"stringData":{"a":"b"}})");
  pass(5s);
  EXPECT_EQ(get(std::string(kPodList) + "/p").body["status"]["phase"], Json("Running"));
}

TEST_F(ControllersTest, TheSameSeedGivesTheSameRun) {
  auto history = [](uint64_t seed) {
    VirtualLoop loop;
    Sandbox sandbox(loop, {.seed = seed});
    http::Request request;
    request.method = "PATCH";
    request.target = std::string(kDeployments) + "/web?fieldManager=test";
    request.headers = {{"Content-Type", "application/apply-patch+yaml"}};
    request.body = deployment("web", 3);
    (void)loop.run(sleep_for(loop, 1s));
    (void)loop.run(http::send(sandbox.api_server(), request));
    (void)loop.run(sleep_for(loop, 10s));
    http::Request list;
    list.target = std::string(kPodList);
    std::string text = loop.run(http::send(sandbox.api_server(), list))->body;
    loop.run(sandbox.stop());
    return text;
  };
  EXPECT_EQ(history(5), history(5));
  EXPECT_NE(history(5), history(6));
}

std::string autoscaler(std::string_view target, int least, int most) {
  return fmt::format(
      R"({{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{{"name":"{0}"}},"spec":{{
    "minReplicas":{1},"maxReplicas":{2},"scaleTargetRef":{{"apiVersion":"apps/v1","kind":"Deployment","name":"{0}"}}}}}})",
      target, least, most);
}

TEST_F(ControllersTest, AnAutoscalerKeepsItsTargetWithinItsBounds) {
  constexpr std::string_view kAutoscalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  auto replicas = [&] { return get(std::string(kDeployments) + "/web").body["spec"]["replicas"]; };
  ASSERT_EQ(post(std::string(kAutoscalers), autoscaler("web", 3, 5)).status, 201);
  pass(1s);
  EXPECT_EQ(condition(get(std::string(kAutoscalers) + "/web").body, "AbleToScale"), "False FailedGetScale");
  apply(std::string(kDeployments) + "/web", deployment("web", 1));
  pass(1s);
  EXPECT_EQ(replicas(), Json(3));
  Json raised = get(std::string(kAutoscalers) + "/web").body;
  EXPECT_EQ(condition(raised, "AbleToScale"), "True SucceededGetScale");
  EXPECT_EQ(condition(raised, "ScalingActive"), "False FailedGetResourceMetric");
  EXPECT_EQ(raised["status"]["desiredReplicas"], Json(3));
  EXPECT_EQ(raised["status"]["currentReplicas"], Json(3));
  merge(std::string(kDeployments) + "/web/scale", R"({"spec":{"replicas":9}})");
  pass(1s);
  EXPECT_EQ(replicas(), Json(5));
  merge(std::string(kDeployments) + "/web/scale", R"({"spec":{"replicas":4}})");
  pass(1s);
  EXPECT_EQ(replicas(), Json(4));
  merge(std::string(kDeployments) + "/web/scale", R"({"spec":{"replicas":0}})");
  pass(1s);
  EXPECT_EQ(replicas(), Json(0));
  EXPECT_EQ(condition(get(std::string(kAutoscalers) + "/web").body, "ScalingActive"), "False ScalingDisabled");
}

}  // namespace
}  // namespace fairlead::sandbox
