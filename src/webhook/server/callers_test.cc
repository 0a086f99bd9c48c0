#include "webhook/server/callers.h"

#include <gtest/gtest.h>

#include "async/loop.h"
#include "sandbox/sandbox.h"

namespace fairlead::webhook {
namespace {

class SurroundingsTest : public testing::Test {
 protected:
  ~SurroundingsTest() override { loop_.run(sandbox_.stop()); }

  bool is_endpoint(std::string address) {
    ClusterSurroundings around(client_, {.ns = "default", .name = "hook"}, {}, {}, std::move(address));
    Result<bool> found = loop_.run(around.is_endpoint());
    EXPECT_TRUE(found) << found.error().report();
    return found.value_or(false);
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_{loop_, {.controllers = false}};
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
};

TEST_F(SurroundingsTest, RequestsComeWhileASliceOfTheServiceHasTheAddress) {
  constexpr std::string_view kSlice =
      R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4",
    "metadata":{"name":"hook-1","labels":{"kubernetes.io/service-name":"hook"}},"endpoints":[{"addresses":["10.0.0.1"]}]})";
  object::Resource slices{.group = "discovery.k8s.io",
                          .version = "v1",
                          .kind = "EndpointSlice",
                          .plural = "endpointslices",
                          .namespaced = true};
  EXPECT_FALSE(is_endpoint("10.0.0.1"));
  ASSERT_TRUE(loop_.run(client_.create(slices, "default", Json::parse(kSlice).value())));
  EXPECT_TRUE(is_endpoint("10.0.0.1"));
  EXPECT_FALSE(is_endpoint("10.0.0.2"));
  // Nobody has told the server its address.
  EXPECT_FALSE(is_endpoint(""));
}

}  // namespace
}  // namespace fairlead::webhook
