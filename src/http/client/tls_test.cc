// Whom the client trusts, and what it says when it does not.
#include "http/net/tls.h"

#include <cstdlib>

#include "base/temp_folder_testing.h"
#include "http/client/client_testing.h"
#include "http/net/peer.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

void answer_ok(H2Peer& peer, const PeerRequest& request) { peer.answer(request.stream, 200, "hello"); }

// What comes of a GET to a server with such a certificate.
Result<Response> outcome(TestServer::Tls tls, ClientOptions options = {}) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok, {}, std::move(tls));
  Result<Response> result;
  tell(loop, server.server(), std::move(options),
       [&](Client& client) -> Task<void> { result = co_await get(loop, client); });
  if (result) return result;
  std::string text = result.error().message();
  std::string port = fmt::format(":{}", server.server().port());
  if (size_t at = text.find(port); at != std::string::npos) text.replace(at, port.size(), ":PORT");
  return fail(Error(result.error().kind(), text).next(result.error().next()));
}

TEST(Tls, TrustsAnAddressThatTheCertificateNames) { EXPECT_EQ(body_or_error(outcome({})), "hello"); }

TEST(Tls, ShowsWhatAServerPresentsWhoeverTrustsIt) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok, {}, TestServer::Tls{.leaf = {.dns_names = {"a.example"}}});
  Result<std::vector<x509::Certificate>> chain, nobody;
  auto look = [&]() -> Task<void> {
    uint16_t port = server.server().port();
    chain = co_await read_peer_chain(loop, "127.0.0.1", port, "other.example", 30s);
    co_await server.server().close();
    nobody = co_await read_peer_chain(loop, "127.0.0.1", port, "other.example", 30s);
  };
  loop.run(look());
  ASSERT_TRUE(chain) << chain.error().report();
  EXPECT_EQ(chain->front().dns_names(), std::vector<std::string>{"a.example"});
  EXPECT_EQ(error_kind(nobody), ErrorKind::unavailable);
}

TEST(Tls, APeerThatSaysNothingIsGivenUp) {
  RealLoop loop;
  Signal never(loop);
  TestServer server(loop, std::nullopt, [&](std::unique_ptr<Stream>) -> Task<void> { (void)co_await never.wait(); });
  Result<std::vector<x509::Certificate>> chain;
  auto look = [&]() -> Task<void> {
    chain = co_await in_time(loop, read_peer_chain(loop, "127.0.0.1", server.port(), "a.example", 300ms));
    co_await server.close();
  };
  loop.run(look());
  EXPECT_EQ(error_text(chain), "no answer to the TLS handshake");
  EXPECT_EQ(error_kind(chain), ErrorKind::timeout);
}

TEST(Tls, SaysWhichNamesACertificateHas) {
  Result<Response> result = outcome({.leaf = {.dns_names = {"a.example", "b.example"}}});
  EXPECT_EQ(error_text(result),
            "cannot trust 127.0.0.1:PORT: certificate is valid for a.example, b.example, not 127.0.0.1");
  EXPECT_EQ(error_kind(result), ErrorKind::untrusted);
  EXPECT_EQ(result.error().next(),
            "trust the authority that signed the certificate of 127.0.0.1, or use a name that it is valid for");
}

TEST(Tls, VerifiesTheNameThatItIsTold) {
  TestServer::Tls tls{.leaf = {.dns_names = {"a.example"}}};
  EXPECT_EQ(body_or_error(outcome(tls, {.tls = {.server_name = "a.example"}})), "hello");
  EXPECT_EQ(error_text(outcome(tls, {.tls = {.server_name = "b.example"}})),
            "cannot trust 127.0.0.1:PORT: certificate is valid for a.example, not b.example");
}

TEST(Tls, SaysSinceWhenACertificateIsNoLongerValid) {
  WallTime long_ago = WallTime(std::chrono::sys_days(std::chrono::January / 1 / 2020));
  Result<Response> result = outcome({.made_at = long_ago});
  EXPECT_EQ(error_kind(result), ErrorKind::untrusted);
  EXPECT_EQ(error_text(result),
            "cannot trust 127.0.0.1:PORT: certificate has expired: it was valid until 2020-12-31T00:00:00Z");
}

TEST(Tls, SaysWhenACertificateWillBeValid) {
  WallTime far = WallTime(std::chrono::sys_days(std::chrono::January / 1 / 2100));
  EXPECT_EQ(error_text(outcome({.made_at = far})),
            "cannot trust 127.0.0.1:PORT: certificate is not yet valid: it will be from 2099-12-31T23:55:00Z");
}

TEST(Tls, SaysThatAnAuthorityIsUnknown) {
  std::string other = x509::make_ca("another authority", 24h, RealClock().wall_now()).value().certificate.to_pem();
  Result<Response> result = outcome({}, {.tls = {.ca_pem = other}});
  EXPECT_EQ(error_kind(result), ErrorKind::untrusted);
  EXPECT_EQ(error_text(result),
            "cannot trust 127.0.0.1:PORT: certificate is signed by unknown authority \"test authority\"");
}

TEST(Tls, TakesAnythingIfToldSo) {
  TestServer::Tls tls{.leaf = {.dns_names = {"a.example"}},
                      .made_at = WallTime(std::chrono::sys_days(std::chrono::January / 1 / 2020))};
  EXPECT_EQ(body_or_error(outcome(tls, {.tls = {.insecure_skip_verify = true}})), "hello");
}

TEST(Tls, TrustsTheAuthoritiesOfTheSystemIfItIsToldNone) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  TempFolder folder;
  std::string root = folder.write("root.pem", server.server().ca_pem());
  folder.write("README", "not a certificate");
  for (bool as_file : {true, false}) {
    ::setenv("SSL_CERT_FILE", as_file ? root.c_str() : "/nonexistent", 1);
    ::setenv("SSL_CERT_DIR", as_file ? "/nonexistent" : folder.path().c_str(), 1);
    EXPECT_EQ(system_roots().certificates.size(), 1);
  }
  auto client = Client::make(loop, parse_url(server.server().url()).value(), {.proxy_settings = {}}).value();
  ::unsetenv("SSL_CERT_FILE");
  ::unsetenv("SSL_CERT_DIR");
  auto story = [](RealLoop& on, Client& of, TestServer& with) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await get(on, of)), "hello");
    co_await of.close();
    co_await with.close();
  };
  loop.run(story(loop, *client, server.server()));
}

TEST(Tls, SaysWhereItLookedForTheAuthoritiesOfTheSystem) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  ::setenv("SSL_CERT_FILE", "/nonexistent/roots.pem", 1);
  ::setenv("SSL_CERT_DIR", "/nonexistent/one:/nonexistent/two", 1);
  auto client = Client::make(loop, parse_url(server.server().url()).value(), {.proxy_settings = {}}).value();
  ::unsetenv("SSL_CERT_FILE");
  ::unsetenv("SSL_CERT_DIR");
  Result<Response> result;
  auto story = [&]() -> Task<void> {
    result = co_await get(loop, *client);
    co_await client->close();
    co_await server.server().close();
  };
  loop.run(story());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().report(),
            fmt::format("error: cannot trust {}\n"
                        "  because   there are no root certificates on this system\n"
                        "  because   none was found in /nonexistent/roots.pem (SSL_CERT_FILE), /nonexistent/one "
                        "(SSL_CERT_DIR), /nonexistent/two (SSL_CERT_DIR)\n"
                        "  next      install the package ca-certificates, or let SSL_CERT_FILE name a file with root "
                        "certificates (PEM)\n",
                        server.server().url().substr(std::string_view("https://").size())));
}

x509::KeyPair client_certificate(H2TestServer& server, std::string name) {
  x509::LeafSpec leaf{.common_name = std::move(name), .usages = {x509::Usage::client}};
  return x509::make_leaf(server.server().ca(), leaf, RealClock().wall_now()).value();
}

TEST(Tls, ShowsItsCertificateAndTheNewOneOnNewConnections) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok, {}, TestServer::Tls{.wants_client_certificate = true});
  x509::KeyPair first = client_certificate(server, "first"), second = client_certificate(server, "second");
  ClientOptions options{.tls = {.certificate_pem = first.certificate.to_pem(), .key_pem = first.key.to_pem()}};
  tell(loop, server.server(), options, [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
    EXPECT_TRUE(client.set_client_certificate(second.certificate.to_pem(), second.key.to_pem()));
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
    EXPECT_EQ(error_text(client.set_client_certificate(first.certificate.to_pem(), second.key.to_pem())),
              "the client key belongs to another certificate");
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
    EXPECT_EQ(client.counts().connections, 2);
  });
  EXPECT_EQ(server.server().clients(), (std::vector<std::string>{"first", "second"}));
}

TEST(Tls, AConnectionThatIsMadeWhileTheCertificateChangesIsNotUsed) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok, {}, TestServer::Tls{.wants_client_certificate = true});
  x509::KeyPair first = client_certificate(server, "first"), second = client_certificate(server, "second");
  ClientOptions options{.tls = {.certificate_pem = first.certificate.to_pem(), .key_pem = first.key.to_pem()}};
  tell(loop, server.server(), options, [&](Client& client) -> Task<void> {
    Scope scope(loop, nullptr);
    scope.spawn([](RealLoop& on, Client& with) -> Task<void> {
      EXPECT_EQ(body_or_error(co_await get(on, with)), "hello");
    }(loop, client));
    // The server has the connection, and no certificate of the client yet.
    while (server.server().accepted() == 0) EXPECT_TRUE(co_await sleep_for(loop, Duration::zero()));
    EXPECT_TRUE(client.set_client_certificate(second.certificate.to_pem(), second.key.to_pem()));
    co_await scope.join();
  });
  EXPECT_EQ(server.server().clients(), (std::vector<std::string>{"first", "second"}));
}

TEST(Tls, SaysThatTheServerDoesNotAcceptTheCertificate) {
  x509::KeyPair stranger = x509::make_ca("stranger", 24h, RealClock().wall_now()).value();
  x509::KeyPair leaf =
      x509::make_leaf(stranger, {.common_name = "me", .usages = {x509::Usage::client}}, RealClock().wall_now()).value();
  ClientOptions options{.tls = {.certificate_pem = leaf.certificate.to_pem(), .key_pem = leaf.key.to_pem()}};
  Result<Response> result = outcome({.wants_client_certificate = true}, options);
  EXPECT_EQ(error_kind(result), ErrorKind::denied);
  EXPECT_EQ(error_text(result),
            "lost the connection to 127.0.0.1:PORT: it does not accept the client certificate: tlsv1 alert unknown ca");
}

TEST(Tls, RefusesOptionsThatCannotWork) {
  RealLoop loop;
  auto made = [&](TlsOptions tls) {
    return Client::make(loop, parse_url("https://a").value(), {.tls = std::move(tls)});
  };
  x509::KeyPair pair = x509::make_ca("a", 24h, RealClock().wall_now()).value();
  EXPECT_EQ(error_text(made({.ca_pem = "x"})),
            "cannot use the certificate authorities: there is no certificate in PEM form");
  EXPECT_EQ(error_text(made({.ca_pem = pair.certificate.to_pem(), .certificate_pem = pair.certificate.to_pem()})),
            "the client certificate has no key");
  EXPECT_EQ(error_text(made({.ca_pem = pair.certificate.to_pem(), .key_pem = pair.key.to_pem()})),
            "the client key has no certificate");
}

}  // namespace
}  // namespace fairlead::http
