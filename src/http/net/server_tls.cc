#include "http/net/server_tls.h"

#include <openssl/err.h>

#include <algorithm>

namespace fairlead::http {
namespace {

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                    unsigned int length, void* argument) {
  const std::string& protocol = static_cast<const TlsContext*>(argument)->protocol;
  for (unsigned i = 0; i < length; i += 1u + offered[i]) {
    std::string_view one(reinterpret_cast<const char*>(offered + i + 1), std::min<size_t>(offered[i], length - i - 1));
    if (one != protocol) continue;
    *out = offered + i + 1;
    *size = offered[i];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// OpenSSL's own verification knows neither our clock nor that any root ends a chain.
int verify_client(X509_STORE_CTX* store, void* argument) {
  const auto& tls = *static_cast<const TlsContext*>(argument);
  std::vector<x509::Certificate> chain;
  if (X509* leaf = X509_STORE_CTX_get0_cert(store)) chain.push_back(x509::Certificate::share(leaf));
  STACK_OF(X509)* others = X509_STORE_CTX_get0_untrusted(store);
  for (int i = 0; i < sk_X509_num(others); ++i) {
    // The list has the leaf in it, too.
    x509::Certificate other = x509::Certificate::share(sk_X509_value(others, i));
    if (chain.empty() || !(other == chain.front())) chain.push_back(std::move(other));
  }
  if (x509::verify(chain, tls.clients->roots, "", tls.clock->wall_now(), x509::Usage::client)) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED);
  return 0;
}

std::unexpected<Error> failed(std::string_view what) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return fail(ErrorKind::invalid, "cannot serve with this {}: {}", what, reason ? reason : "unknown error");
}

// Go's TLS, which API servers and most clients use, knows no other curves.
Result<void> check_curve(const x509::Key& key) {
  EVP_PKEY* handle = key.handle();
  if (!EVP_PKEY_is_a(handle, "EC")) return {};
  char name[64] = "";
  size_t size = 0;
  EVP_PKEY_get_group_name(handle, name, sizeof name, &size);
  for (std::string_view known : {"prime256v1", "secp384r1", "secp521r1"})
    if (name == known) return {};
  return fail(ErrorKind::invalid, "cannot serve with this private key: clients do not know its curve {}; use P-256",
              name);
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(const Identity& identity, std::optional<ClientTrust> clients,
                                                     const Clock& clock, std::string protocol) {
  if (identity.chain.empty()) return fail(ErrorKind::invalid, "a server with TLS needs a certificate");
  if (!x509::key_matches(identity.chain.front(), identity.key))
    return fail(ErrorKind::invalid, "the server's private key does not belong to its certificate");
  TRY(check_curve(identity.key));
  auto tls = std::make_shared<TlsContext>();
  tls->clients = std::move(clients);
  tls->clock = &clock;
  tls->protocol = std::move(protocol);
  tls->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = tls->context.get();
  if (!context) return failed("version of OpenSSL");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A session that is taken up again would skip the new certificate after a change, and the client's certificate.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // The least work that is safe, as Go has it; OpenSSL would choose 256 bits.
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, tls.get());
  if (SSL_CTX_use_certificate(context, identity.chain.front().handle()) != 1) return failed("certificate");
  for (size_t i = 1; i < identity.chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, identity.chain[i].handle()) != 1) return failed("certificate chain");
  if (SSL_CTX_use_PrivateKey(context, identity.key.handle()) != 1) return failed("private key");
  if (tls->clients) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (tls->clients->required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       nullptr);
    SSL_CTX_set_cert_verify_callback(context, verify_client, tls.get());
    for (const x509::Certificate& root : tls->clients->roots) SSL_CTX_add_client_CA(context, root.handle());
  }
  ERR_clear_error();
  return tls;
}

Result<TlsSession> server_session(std::shared_ptr<TlsContext> tls) {
  TlsSession session{.context = tls, .verification = {}, .ssl = {SSL_new(tls->context.get()), SSL_free}};
  if (!session.ssl) return fail(ErrorKind::internal, "cannot start TLS");
  SSL_set_accept_state(session.ssl.get());
  return session;
}

}  // namespace fairlead::http
