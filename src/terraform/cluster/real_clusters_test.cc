#include "terraform/cluster/real_clusters.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "http/server/server.h"

namespace fairlead::terraform {
namespace {

Value of_host(std::string_view host, std::string_view token) {
  return Value::object({{"host", host}, {"token", token}, {"insecure", true}});
}

// Clusters, and what they say to descriptions.
struct AskedClusters {
  RealLoop loop;
  std::vector<std::string> secrets;
  RealClusters clusters{loop,
                        {.surroundings = kube::Surroundings::real(),
                         .user_agent = "test",
                         .on_secret = [this](std::string_view secret) { secrets.emplace_back(secret); }}};

  ~AskedClusters() { loop.run(clusters.close()); }

  Result<Connection*> connect(Value cluster) { return loop.run(clusters.connect(std::move(cluster))); }
  std::string text(Value cluster) {
    Result<Connection*> connection = connect(std::move(cluster));
    if (!connection) return connection.error().report();
    return *connection ? (*connection)->text() : "not known yet";
  }
};

TEST(RealClusters, EqualDescriptionsShareAConnection) {
  AskedClusters asked;
  Connection* first = asked.connect(of_host("https://a:1", "t")).value();
  EXPECT_EQ(asked.connect(of_host("https://a:1", "t")).value(), first);
  EXPECT_NE(asked.connect(of_host("https://a:1", "other")).value(), first);
  EXPECT_EQ(first->text(), "server https://a:1");
}

TEST(RealClusters, AnUnknownDescriptionIsNoConnectionYet) {
  AskedClusters asked;
  EXPECT_EQ(asked.text(Value::unknown()), "not known yet");
  EXPECT_EQ(asked.text(Value::object({{"host", "https://a"}, {"token", Value::unknown()}})), "not known yet");
}

TEST(RealClusters, ANameStandsForAClusterOfTheProviderBlock) {
  AskedClusters asked;
  asked.clusters.configure(Value::object({{"prod", of_host("https://p", "t")}, {"later", Value::unknown()}}));
  EXPECT_EQ(asked.text(Value::object({{"name", "prod"}})), "server https://p");
  EXPECT_EQ(asked.text(Value::object({{"name", "later"}})), "not known yet");
  EXPECT_EQ(
      asked.text(Value::object({{"name", "test"}})),
      "error: the provider block has no cluster \"test\"\n  because   it names later, prod\n  next      add test to "
      "\"clusters\" in the provider block\n");
  EXPECT_EQ(asked.text(Value()),
            "error: no cluster is described\n  because   \"cluster\" is not set, and the provider block has no single "
            "cluster: it names later, prod\n  next      set \"cluster\"\n");
}

TEST(RealClusters, TheOnlyClusterOfTheProviderBlockIsTheDefault) {
  AskedClusters asked;
  EXPECT_EQ(asked.text(Value()),
            "error: no cluster is described\n  because   \"cluster\" is not set, and the provider block has no single "
            "cluster: it names no cluster\n  next      set \"cluster\"\n");
  asked.clusters.configure(Value::object({{"prod", of_host("https://p", "t")}}));
  EXPECT_EQ(asked.text(Value()), "server https://p");
  asked.clusters.configure(Value::unknown());
  EXPECT_EQ(asked.text(Value()), "not known yet");
}

TEST(RealClusters, AWrongDescriptionIsAnError) {
  AskedClusters asked;
  EXPECT_EQ(asked.text(Value::object({{"host", "https://a"}})),
            "error: The cluster is not described completely\n  because   \"host\" needs credentials: \"token\", "
            "\"client_certificate\" with \"client_key\", or \"exec\".\n");
}

TEST(RealClusters, ConnectsWithTheCredentials) {
  AskedClusters asked;
  WallTime now = RealClock().wall_now();
  x509::KeyPair ca = *x509::make_ca("test", std::chrono::hours(24), now);
  x509::KeyPair leaf = *x509::make_leaf(ca, {.common_name = "server", .ip_addresses = {"127.0.0.1"}}, now);
  std::string seen;
  auto handler = [&](http::Request request, const http::Peer&) -> Task<http::Answer> {
    seen = fmt::format("{} {}", request.target, request.headers.find("Authorization").value_or("-"));
    co_return http::Answer{.status = 200,
                           .headers = {{"Content-Type", "application/json"}},
                           .body = http::body_of(R"({"kind":"Pod","apiVersion":"v1"})")};
  };
  auto server =
      *http::Server::listen(asked.loop, {.identity = {{{leaf.certificate}, leaf.key}}, .clients = {}}, handler);
  Value cluster = Value::object({{"host", fmt::format("https://127.0.0.1:{}", server->port())},
                                 {"cluster_ca_certificate", to_base64(ca.certificate.to_pem())},
                                 {"token", "secret-token"}});
  object::Resource pods{.version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
  std::string result;
  auto story = [&]() -> Task<void> {
    Result<Connection*> connection = co_await asked.clusters.connect(cluster);
    auto reply = co_await (*connection)->client().get(pods, "a", "p");
    result = reply ? reply->value.dump() : reply.error().error().report();
    co_await asked.clusters.close();
    co_await server->close();
  };
  asked.loop.run(story());
  EXPECT_EQ(result, R"({"kind":"Pod","apiVersion":"v1"})");
  EXPECT_EQ(seen, "/api/v1/namespaces/a/pods/p Bearer secret-token");
  EXPECT_TRUE(std::ranges::find(asked.secrets, "secret-token") != asked.secrets.end());
}

}  // namespace
}  // namespace fairlead::terraform
