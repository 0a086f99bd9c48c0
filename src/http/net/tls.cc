#include "http/net/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/clock.h"

namespace fairlead::http {
namespace {

bool is_address(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

Error no_roots(const std::vector<std::string>& places) {
  return Error(ErrorKind::untrusted, "there are no root certificates on this system")
      .because(fmt::format("none was found in {}", fmt::join(places, ", ")))
      .next("install the package ca-certificates, or let SSL_CERT_FILE name a file with root certificates (PEM)");
}

int verify_certificate(X509_STORE_CTX* store, void*) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* verification = static_cast<TlsSession::Verification*>(SSL_get_app_data(ssl));
  if (!verification->roots) return 1;
  std::vector<x509::Certificate> chain;
  // The first of the untrusted ones is the leaf, as it came over the wire.
  STACK_OF(X509)* sent = X509_STORE_CTX_get0_untrusted(store);
  for (int i = 0; i < sk_X509_num(sent); ++i) chain.push_back(x509::Certificate::share(sk_X509_value(sent, i)));
  Result<void> trusted = x509::verify(chain, *verification->roots, verification->host, RealClock().wall_now());
  if (trusted) return 1;
  verification->error = verification->missing ? no_roots(*verification->missing) : trusted.error();
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

Result<void> use_certificate(SSL_CTX* context, const TlsOptions& options) {
  if (options.certificate_pem.empty() && options.key_pem.empty()) return {};
  if (options.key_pem.empty()) return fail(ErrorKind::invalid, "the client certificate has no key");
  if (options.certificate_pem.empty()) return fail(ErrorKind::invalid, "the client key has no certificate");
  auto chain = x509::Certificate::parse_pem(options.certificate_pem);
  if (!chain) return fail(std::move(chain).error().in("cannot use the client certificate"));
  auto key = x509::Key::parse_pem(options.key_pem);
  if (!key) return fail(std::move(key).error().in("cannot use the client key"));
  if (!x509::key_matches(chain->front(), *key))
    return fail(ErrorKind::invalid, "the client key belongs to another certificate");
  bool ok = SSL_CTX_use_certificate(context, chain->front().handle()) == 1 &&
            SSL_CTX_use_PrivateKey(context, key->handle()) == 1;
  for (size_t i = 1; ok && i < chain->size(); ++i) ok = SSL_CTX_add1_chain_cert(context, (*chain)[i].handle()) == 1;
  if (ok) return {};
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return fail(ErrorKind::invalid, "cannot use the client certificate: {}", reason ? reason : "unknown error");
}

}  // namespace

Result<std::shared_ptr<const ClientTlsContext>> ClientTlsContext::make(const TlsOptions& options,
                                                                       std::vector<std::string> alpn, bool system_too) {
  std::shared_ptr<ClientTlsContext> made(new ClientTlsContext);
  made->context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  SSL_CTX* context = made->context_.get();
  if (!context) return fail(ErrorKind::internal, "cannot start OpenSSL");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Buffers are given back while nothing is under way: idle connections are small.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
  // A peer that closes without a goodbye is seen where it matters: HTTP knows how long its bodies are.
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, verify_certificate, nullptr);
  std::string protocols;
  for (const std::string& protocol : alpn) protocols += static_cast<char>(protocol.size()) + protocol;
  SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned>(protocols.size()));
  TRY(use_certificate(context, options));
  made->verifies_ = !options.insecure_skip_verify;
  if (!made->verifies_) return made;
  if (options.ca_pem.empty() || system_too) {
    SystemRoots found = system_roots();
    made->roots_ = std::move(found.certificates);
    if (made->roots_.empty()) made->missing_ = std::move(found.places);
  }
  if (options.ca_pem.empty()) return made;
  auto roots = x509::Certificate::parse_pem(options.ca_pem);
  if (!roots) return fail(std::move(roots).error().in("cannot use the certificate authorities"));
  std::ranges::move(*roots, std::back_inserter(made->roots_));
  return made;
}

Result<TlsSession> ClientTlsContext::session(const std::string& host) const {
  TlsSession session{.context = shared_from_this(), .verification = {}, .ssl = {SSL_new(context_.get()), SSL_free}};
  if (!session.ssl) return fail(ErrorKind::internal, "cannot start TLS");
  session.verification = std::make_unique<TlsSession::Verification>(
      TlsSession::Verification{.roots = verifies_ ? &roots_ : nullptr,
                               .missing = missing_.empty() ? nullptr : &missing_,
                               .host = host,
                               .error = {}});
  SSL_set_app_data(session.ssl.get(), session.verification.get());
  SSL_set_connect_state(session.ssl.get());
  // Addresses have no place in SNI.
  if (!is_address(host) && SSL_set_tlsext_host_name(session.ssl.get(), host.c_str()) != 1)
    return fail(ErrorKind::invalid, "{} cannot be a TLS server name", host);
  return session;
}

}  // namespace fairlead::http
