#include "removal/diagnosis/investigation.h"

#include <gtest/gtest.h>

#include "async/loop.h"
#include "sandbox/sandbox.h"

namespace fairlead::removal {
namespace {

class InvestigationTest : public testing::Test {
 protected:
  ~InvestigationTest() override { loop_.run(sandbox_.stop()); }

  void send(std::string method, std::string path, std::string_view body) {
    auto reply = loop_.run(
        client_.request({.method = method,
                         .target = path,
                         .content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json",
                         .body = std::string(body)}));
    ASSERT_TRUE(reply) << reply.error().error().report();
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_{loop_, {.controllers = false}};
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
  kube::Discovery discovery_{client_};
  WebhookConfigurations configurations_{client_, discovery_};
};

// The contents of a namespace cannot be listed while the server of an API is down.
TEST_F(InvestigationTest, ApiServicesAreReadWhereTheyMayBeTheCause) {
  send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  send("POST", "/apis/apiregistration.k8s.io/v1/apiservices",
       R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.metrics.example.com"},
           "spec":{"group":"metrics.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":100,
                   "insecureSkipTLSVerify":true,"service":{"name":"metrics","namespace":"default"}}})");
  ASSERT_TRUE(loop_.run(discovery_.all()));
  const object::Resource namespaces = *discovery_.known().find("", "Namespace");
  Investigator investigator(client_, discovery_, configurations_);
  auto look = [&] {
    auto evidence = loop_.run(
        investigator.look({.group = "", .kind = "Namespace", .ns = "", .name = "team"}, namespaces, Json::Object()));
    EXPECT_TRUE(evidence) << evidence.error().error().report();
    return evidence ? evidence->api_services.size() : 0;
  };
  EXPECT_EQ(look(), 0u);
  send("PATCH", "/api/v1/namespaces/team/status",
       R"({"status":{"conditions":[{"type":"NamespaceDeletionDiscoveryFailure","status":"True"}]}})");
  EXPECT_GT(look(), 0u);
}

}  // namespace
}  // namespace fairlead::removal
