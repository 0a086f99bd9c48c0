#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

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

// A certificate that has signed itself with that key.
Identity self_signed(EVP_PKEY* key) {
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> owned(key, EVP_PKEY_free);
  std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_sign(certificate.get(), key, EVP_PKEY_is_a(key, "ED25519") ? nullptr : EVP_sha256());
  std::unique_ptr<BIO, int (*)(BIO*)> pem(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PrivateKey(pem.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  long size = BIO_get_mem_data(pem.get(), &text);
  return {.chain = {x509::Certificate::share(certificate.get())},
          .key = x509::Key::parse_pem(std::string_view(text, static_cast<size_t>(size))).value()};
}

TEST(ServerIdentity, IsOneThatClientsCanSpeakWith) {
  for (const char* curve : {"P-256", "P-384", "P-521"})
    EXPECT_TRUE(Server::check(self_signed(EVP_EC_gen(curve))).has_value()) << curve;
  EXPECT_TRUE(Server::check(self_signed(EVP_RSA_gen(2048))).has_value());
  EXPECT_TRUE(Server::check(self_signed(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))).has_value());
  EXPECT_EQ(Server::check(self_signed(EVP_EC_gen("secp256k1"))).error().message(),
            "cannot serve with this private key: clients do not know its curve secp256k1; use P-256");
  EXPECT_EQ(Server::check(self_signed(EVP_RSA_gen(1024))).error().message(),
            "cannot serve with this certificate: ee key too small");
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
