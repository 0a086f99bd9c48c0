#include <atomic>

#include "http/server/server.h"
#include "http/server/server_testing.h"

namespace fairlead::http {
namespace {

TEST_F(ServerTest, GarbageInsteadOfAHandshakeEndsTheConnectionOnly) {
  serve_tls();
  TestClient garbage(port());
  garbage.send(get("/none"));
  (void)garbage.read_to_end();
  TestClient other_protocol(port(), ClientTls{.roots = {ca_.certificate}, .identity = {}, .alpn = "h2"});
  EXPECT_FALSE(other_protocol.connected());
  EXPECT_EQ(TestClient(port(), trusting()).exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_F(ServerTest, SilentHandshakesAreCutOff) {
  serve_tls({.limits = {.handshake = 20ms}});
  TestClient silent(port());
  EXPECT_EQ(silent.read_to_end(), "");
  until_connections(0);
}

TEST_F(ServerTest, ClientsHaveToShowACertificateThatVerifies) {
  x509::KeyPair client_ca = make_ca("client CA");
  serve_tls({.clients = ClientTrust{.roots = {client_ca.certificate}}});
  auto with = [&](std::optional<Identity> identity) {
    TestClient client(port(), ClientTls{.roots = {ca_.certificate}, .identity = std::move(identity)});
    return client.exchange(get("/who"));
  };
  x509::LeafSpec jane{.common_name = "jane", .usages = {x509::Usage::client}};
  EXPECT_EQ(with(make_identity(client_ca, jane)), "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\njane 127.0.0.1");
  EXPECT_EQ(with(std::nullopt), "");
  EXPECT_EQ(with(make_identity(make_ca("client CA"), jane)), "");
  EXPECT_EQ(with(make_identity(client_ca, {.common_name = "server"})), "");
}

TEST_F(ServerTest, ClientsMayShowACertificate) {
  x509::KeyPair client_ca = make_ca("client CA");
  serve_tls({.clients = ClientTrust{.roots = {client_ca.certificate}, .required = false}});
  auto with = [&](std::optional<Identity> identity) {
    TestClient client(port(), ClientTls{.roots = {ca_.certificate}, .identity = std::move(identity)});
    return client.exchange(get("/who"));
  };
  x509::LeafSpec jane{.common_name = "jane", .usages = {x509::Usage::client}};
  EXPECT_EQ(with(std::nullopt), "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nnobody 127.0.0.1");
  EXPECT_EQ(with(make_identity(client_ca, jane)), "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\njane 127.0.0.1");
  EXPECT_EQ(with(make_identity(make_ca("other"), jane)), "");
}

TEST_F(ServerTest, TheCertificateIsSwappedUnderLoad) {
  serve_tls();
  TestClient old(port(), trusting());
  std::string first = old.server_fingerprint();
  std::atomic<int> failures = 0, requests = 0;
  auto load = [&] {
    for (int i = 0; i < 40; ++i) {
      TestClient client(port(), trusting());
      for (int j = 0; j < 3; ++j, ++requests)
        if (!client.exchange(post("/echo", "x")).ends_with("POST x")) ++failures;
    }
  };
  std::thread a(load), b(load);
  std::string last;
  while (requests < 200) {
    Identity fresh = make_identity(ca_);
    last = fresh.chain.front().sha256_fingerprint();
    EXPECT_TRUE(thread_.ask<bool>([&] { return server_->set_identity(fresh).has_value(); }));
  }
  a.join();
  b.join();
  EXPECT_EQ(failures, 0);
  EXPECT_NE(first, last);
  EXPECT_EQ(TestClient(port(), trusting()).server_fingerprint(), last);
  EXPECT_TRUE(old.exchange(post("/echo", "x")).ends_with("POST x"));

  Identity wrong{make_identity(ca_).chain, x509::Key::generate().value()};
  EXPECT_EQ(thread_.ask<std::string>([&] { return server_->set_identity(wrong).error().message(); }),
            "the server's private key does not belong to its certificate");
  EXPECT_EQ(TestClient(port(), trusting()).server_fingerprint(), last);
}

}  // namespace
}  // namespace fairlead::http
