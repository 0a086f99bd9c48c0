#include "http/server/internal/server_tls.h"

#include <openssl/err.h>

#include <cstring>

namespace fairlead::http {
namespace {

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                    unsigned int length, void*) {
  static constexpr unsigned char kWanted[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  int found = SSL_select_next_proto(&chosen, size, kWanted, sizeof kWanted - 1, offered, length);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
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

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(const Identity& identity, std::optional<ClientTrust> clients,
                                                     const Clock& clock) {
  if (identity.chain.empty()) return fail(ErrorKind::invalid, "a server with TLS needs a certificate");
  if (!x509::key_matches(identity.chain.front(), identity.key))
    return fail(ErrorKind::invalid, "the server's private key does not belong to its certificate");
  auto tls = std::make_shared<TlsContext>();
  tls->clients = std::move(clients);
  tls->clock = &clock;
  tls->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = tls->context.get();
  if (!context) return failed("version of OpenSSL");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A session that is taken up again would skip the new certificate after a change, and the client's certificate.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
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

}  // namespace fairlead::http
