#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kService =
    R"({"metadata":{"name":"api"},"spec":{"clusterIP":"10.96.0.9","ports":[{"port":443,"targetPort":8443}]}})";
constexpr std::string_view kEndpoints =
    R"({"metadata":{"name":"api-1","labels":{"kubernetes.io/service-name":"api"}},"addressType":"IPv4",
        "endpoints":[{"addresses":["10.244.0.9"],"conditions":{"ready":true}}],
        "ports":[{"name":"","port":8443,"protocol":"TCP"}]})";
constexpr std::string_view kApiService =
    R"({"metadata":{"name":"v1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1",
        "groupPriorityMinimum":100,"versionPriority":10,"insecureSkipTLSVerify":true,
        "service":{"namespace":"default","name":"api","port":443}}})";
constexpr std::string_view kGauges =
    R"({"metadata":{"name":"gauges.metrics.example.com"},"spec":{"group":"metrics.example.com","scope":"Namespaced",
        "names":{"plural":"gauges","singular":"gauge","kind":"Gauge","listKind":"GaugeList"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
constexpr const char* kPath = "/apis/metrics.example.com/v1/namespaces/default/gauges";

class ApiServices : public SandboxTest {
 protected:
  ApiServices() : extension_(loop_, {.controllers = false}) {
    http::Request request{.method = "POST", .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"};
    request.headers = {{"Content-Type", "application/json"}};
    request.body = kGauges;
    EXPECT_EQ(loop_.run(http::send(extension_.api_server(), std::move(request)))->status, 201);
    post("/api/v1/namespaces/default/services", kService);
    post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", kEndpoints);
    post("/apis/apiregistration.k8s.io/v1/apiservices", kApiService);
    pass(1s);
  }
  ~ApiServices() override {
    sandbox_.serve_api("default/api", nullptr);
    loop_.run(extension_.stop());
  }

  void serve() {
    sandbox_.serve_api("default/api", &extension_.api_server());
    pass(6s);
  }
  std::string condition() {
    const Json object = get("/apis/apiregistration.k8s.io/v1/apiservices/v1.metrics.example.com").body;
    const Json& one = object["status"]["conditions"].items().front();
    return fmt::format("{} {} {}", one["status"].string_or(""), one["reason"].string_or(""),
                       one["message"].string_or(""));
  }
  // What aggregated discovery has of the group.
  std::string discovered() {
    constexpr const char* kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const Json list = send("GET", "/apis", {}, "application/json", kAggregated).body;
    for (const Json& group : list["items"].items())
      if (group["metadata"]["name"].string_or("") == "metrics.example.com") return group["versions"].dump();
    return "";
  }

  Sandbox extension_;
};

TEST_F(ApiServices, WithoutAServerNothingIsServed) {
  EXPECT_EQ(
      condition(),
      "False FailedDiscoveryCheck failing or missing response from "
      "https://10.96.0.9:443/apis/metrics.example.com/v1: Get \"https://10.96.0.9:443/apis/metrics.example.com/v1\": "
      "dial tcp 10.96.0.9:443: connect: connection refused");
  Got got = get(kPath);
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.text, "service unavailable\n");
  EXPECT_EQ(discovered(), R"([{"version":"v1","freshness":"Stale"}])");
}

TEST_F(ApiServices, RequestsAreHandedToTheServerBehindTheService) {
  serve();
  EXPECT_EQ(condition(), "True Passed all checks passed");
  EXPECT_EQ(post(kPath, R"({"apiVersion":"metrics.example.com/v1","kind":"Gauge","metadata":{"name":"load"}})").status,
            201);
  EXPECT_EQ(get(kPath).body["items"].items().size(), 1u);
  EXPECT_TRUE(extension_.core().find("metrics.example.com", "gauges", "default", "load"));
  EXPECT_FALSE(sandbox_.core().find("metrics.example.com", "gauges", "default", "load"));
  EXPECT_NE(discovered().find(R"("resource":"gauges")"), std::string::npos) << discovered();
  EXPECT_NE(discovered().find(R"("freshness":"Current")"), std::string::npos) << discovered();
  EXPECT_EQ(get("/apis/metrics.example.com/v1").body["resources"].items().front()["name"].string_or(""), "gauges");
}

// Until the API server has noticed, requests are sent to nobody; then it says that there is nobody.
TEST_F(ApiServices, AServerThatGoesAwayIsNoticed) {
  serve();
  sandbox_.serve_api("default/api", nullptr);
  EXPECT_EQ(get(kPath).text, "error trying to reach service: dial tcp 10.96.0.9:443: connect: connection refused\n");
  pass(6s);
  EXPECT_EQ(get(kPath).text, "service unavailable\n");
  EXPECT_NE(discovered().find(R"("freshness":"Stale")"), std::string::npos) << discovered();
}

}  // namespace
}  // namespace fairlead::sandbox
