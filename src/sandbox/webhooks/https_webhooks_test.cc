#include "sandbox/webhooks/https_webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace fairlead::sandbox {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpsWebhooksTest : public testing::Test {
 protected:
  Result<http::Response> post(const WebhookEndpoint& endpoint, std::string body = "{}") {
    HttpsWebhooks webhooks(loop_, false);
    http::Request request;
    request.method = "POST";
    request.body = std::move(body);
    Result<http::Response> response = loop_.run(webhooks.post(endpoint, std::move(request)));
    loop_.run(webhooks.close());
    return response;
  }
  std::string refusal_at(std::string address) {
    WebhookEndpoint endpoint;
    endpoint.address = std::move(address);
    Result<http::Response> response = post(endpoint);
    return response ? "" : response.error().what();
  }

  RealLoop loop_;
};

// Nobody listens on port 1 here: what is dialled is refused by the machine itself.
TEST_F(HttpsWebhooksTest, ThisMachineIsDialled) {
  for (const char* address : {"127.0.0.1:1", "localhost:1", "127.1.2.3:1", "[::1]:1"})
    EXPECT_THAT(refusal_at(address), testing::Not(HasSubstr("--allow-outside-calls"))) << address;
}

TEST_F(HttpsWebhooksTest, NothingElseIs) {
  EXPECT_EQ(
      refusal_at("203.0.113.7:443"),
      "dial tcp 203.0.113.7:443: connect: no route to host (the sandbox calls only this machine; fairlead sandbox "
      "--allow-outside-calls lets it call other addresses)");
  EXPECT_THAT(refusal_at("hooks.example.com:443"), StartsWith("dial tcp: lookup hooks.example.com: no such host ("));
  for (const char* address : {"10.96.0.1:443", "127.0.0.1.example.com:1", "127.0.0.1@example.com:1",
                              "127.0.0.1:1@203.0.113.7:1", "localhost.example.com:1", "0.0.0.0:1", "[fd00::1]:1"})
    EXPECT_THAT(refusal_at(address),
                testing::AnyOf(HasSubstr("--allow-outside-calls"), HasSubstr("not a valid"), HasSubstr("address")))
        << address;
}

TEST_F(HttpsWebhooksTest, ACaBundleThatIsNoCertificateTrustsNobody) {
  WebhookEndpoint endpoint;
  endpoint.address = "127.0.0.1:1";
  endpoint.ca_bundle = "not a certificate";
  Result<http::Response> response = post(endpoint);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().what(),
            "tls: failed to verify certificate: x509: certificate signed by unknown authority");
}

TEST_F(HttpsWebhooksTest, APodOfTheSandboxAllowsEverything) {
  WebhookEndpoint endpoint;
  endpoint.address = "10.96.0.9:443";
  endpoint.simulated = true;
  Result<http::Response> response =
      post(endpoint, R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}})");
  ASSERT_TRUE(response);
  EXPECT_EQ((*Json::parse(response->body))["response"], *Json::parse(R"({"uid":"u","allowed":true})"));
  response = post(endpoint, R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u",
      "desiredAPIVersion":"x/v2","objects":[{"apiVersion":"x/v1","kind":"X"}]}})");
  ASSERT_TRUE(response);
  EXPECT_EQ((*Json::parse(response->body))["response"]["convertedObjects"],
            *Json::parse(R"([{"apiVersion":"x/v2","kind":"X"}])"));
}

}  // namespace
}  // namespace fairlead::sandbox
