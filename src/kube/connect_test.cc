#include "kube/connect.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/temp_folder_testing.h"
#include "http/server/server.h"
#include "kube/config/kubeconfig.h"

namespace fairlead::kube {
namespace {

// A server with TLS on this machine, and what it saw of its clients.
struct World {
  RealLoop loop;
  WallTime now = RealClock().wall_now();
  x509::KeyPair ca = *x509::make_ca("test", std::chrono::hours(24), now);
  std::unique_ptr<http::Server> server;
  std::vector<std::string> seen;
  std::string body = R"({"kind":"Pod","apiVersion":"v1"})";

  World() {
    x509::KeyPair leaf = *x509::make_leaf(ca, {.common_name = "server", .ip_addresses = {"127.0.0.1"}}, now);
    auto handler = [this](http::Request request, const http::Peer& peer) -> Task<http::Answer> {
      seen.push_back(fmt::format("{} {} [{}] {}", request.method, request.target,
                                 request.headers.find("Authorization").value_or("-"),
                                 peer.certificate ? peer.certificate->subject().common_name : "-"));
      co_return http::Answer{
          .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = http::body_of(body)};
    };
    auto listening = http::Server::listen(
        loop,
        {.identity = {{{leaf.certificate}, leaf.key}}, .clients = {{.roots = {ca.certificate}, .required = false}}},
        handler);
    EXPECT_TRUE(listening);
    server = *std::move(listening);
  }

  // Asks for a pod twice, as that user of a kubeconfig.
  std::string ask(std::string_view user) {
    std::string text = fmt::format(
        "current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
        "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}', certificate-authority-data: {}}}}}]\nusers: "
        "[{{name: u, user: {}}}]\n",
        server->port(), to_base64(ca.certificate.to_pem()), user);
    Result<ClusterConfig> config = Kubeconfig::parse(text, "config", Surroundings::real())->resolve({});
    if (!config) return config.error().report();
    Result<std::unique_ptr<Connection>> connection = connect(loop, *std::move(config), {});
    if (!connection) return connection.error().report();
    object::Resource pods{.version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
    auto twice = [&]() -> Task<std::string> {
      std::string result;
      for (int i = 0; i < 2; ++i) {
        Outcome<Reply> reply = co_await (*connection)->client().get(pods, "a", "p");
        result += reply ? reply->value.dump() : reply.error().error().report();
      }
      co_await (*connection)->close();
      co_return result;
    };
    return loop.run(twice());
  }
  void close() { loop.run(server->close()); }
};

TEST(Connect, a_token_over_verified_tls) {
  World world;
  EXPECT_EQ(world.ask("{token: secret}"), R"({"kind":"Pod","apiVersion":"v1"}{"kind":"Pod","apiVersion":"v1"})");
  EXPECT_EQ(world.seen, std::vector<std::string>(2, "GET /api/v1/namespaces/a/pods/p [Bearer secret] -"));
  world.close();
}

TEST(Connect, a_client_certificate) {
  World world;
  x509::KeyPair alice =
      *x509::make_leaf(world.ca, {.common_name = "alice", .usages = {x509::Usage::client}}, world.now);
  world.ask(fmt::format("{{client-certificate-data: {}, client-key-data: {}}}", to_base64(alice.certificate.to_pem()),
                        to_base64(alice.key.to_pem())));
  EXPECT_EQ(world.seen, std::vector<std::string>(2, "GET /api/v1/namespaces/a/pods/p [-] alice"));
  world.close();
}

TEST(Connect, a_certificate_from_a_plugin_reaches_the_server) {
  World world;
  x509::KeyPair bob = *x509::make_leaf(world.ca, {.common_name = "bob", .usages = {x509::Usage::client}}, world.now);
  Json credential(Json::Object{{"apiVersion", "client.authentication.k8s.io/v1"}, {"kind", "ExecCredential"}});
  credential.make("status").make("clientCertificateData") = bob.certificate.to_pem();
  credential.make("status").make("clientKeyData") = bob.key.to_pem();
  TempFolder folder;
  world.ask(fmt::format(
      "{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: cat, args: ['{}'], interactiveMode: Never}}}}",
      folder.write("credential.json", credential.dump())));
  EXPECT_EQ(world.seen, std::vector<std::string>(2, "GET /api/v1/namespaces/a/pods/p [-] bob"));
  world.close();
}

TEST(Connect, keys_and_passwords_are_told_as_secrets) {
  World world;
  x509::KeyPair alice =
      *x509::make_leaf(world.ca, {.common_name = "alice", .usages = {x509::Usage::client}}, world.now);
  Result<ClusterConfig> config = Kubeconfig::parse("", "config", Surroundings::real())
                                     ->resolve({.server = fmt::format("https://127.0.0.1:{}", world.server->port())});
  ASSERT_TRUE(config) << config.error().report();
  config->tls.certificate_pem = alice.certificate.to_pem();
  config->tls.key_pem = alice.key.to_pem();
  std::vector<std::string> secrets;
  ConnectOptions options;
  options.on_secret = [&](std::string_view secret) { secrets.emplace_back(secret); };
  Result<std::unique_ptr<Connection>> connection = connect(world.loop, *config, options);
  ASSERT_TRUE(connection);
  EXPECT_NE(std::ranges::find(secrets, alice.key.to_pem()), secrets.end());
  world.loop.run((*connection)->close());
  world.close();
}

TEST(Connect, a_server_that_is_not_the_one) {
  World world;
  World other;
  Result<ClusterConfig> config =
      Kubeconfig::parse("", "config", Surroundings::real())
          ->resolve({.server = fmt::format("https://127.0.0.1:{}", world.server->port()), .token = "hunter2"});
  ASSERT_TRUE(config) << config.error().report();
  config->tls.ca_pem = other.ca.certificate.to_pem();
  Result<std::unique_ptr<Connection>> connection = connect(world.loop, *config, {});
  ASSERT_TRUE(connection);
  auto ask = [&]() -> Task<Outcome<Reply>> {
    Outcome<Reply> reply = co_await (*connection)->client().request({.target = "/version"});
    co_await (*connection)->close();
    co_return reply;
  };
  Outcome<Reply> reply = world.loop.run(ask());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().error().kind(), ErrorKind::untrusted);
  EXPECT_FALSE(reply.error().error().report().contains("hunter2"));
  EXPECT_TRUE(world.seen.empty()) << "the token never went out";
  world.close();
  other.close();
}

}  // namespace
}  // namespace fairlead::kube
