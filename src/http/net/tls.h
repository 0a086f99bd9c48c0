// What a TLS client shows and whom it trusts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "x509/x509.h"

struct ssl_st;
struct ssl_ctx_st;

namespace fairlead::http {

struct TlsOptions {
  // Authorities to trust; if there are none, those of the system.
  std::string ca_pem;
  // What to show to servers that ask: both or neither. The certificate may be followed by those that lead to its root.
  std::string certificate_pem;
  std::string key_pem;
  // The name to ask for and to verify, instead of the URL's host.
  std::string server_name;
  // Takes any certificate.
  bool insecure_skip_verify = false;
};

// One connection's TLS, before its handshake. Inside this room only, like everything below.
struct TlsSession {
  struct Verification {
    std::vector<x509::Certificate> const* roots;  // null: nothing is verified
    // Where the system's roots were looked for, if it has none and they are needed.
    std::vector<std::string> const* missing;
    std::string host;
    std::optional<Error> error;
  };
  // Keeps alive what the others need: the context of a client or of a server.
  std::shared_ptr<const void> context;
  std::unique_ptr<Verification> verification;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl;
};

class ClientTlsContext : public std::enable_shared_from_this<ClientTlsContext> {
 public:
  // `alpn`: protocols to offer, the best first. `system_too`: the system's authorities besides those of the options.
  static Result<std::shared_ptr<const ClientTlsContext>> make(const TlsOptions& options, std::vector<std::string> alpn,
                                                              bool system_too = false);

  // `host` is what the certificate must be valid for.
  Result<TlsSession> session(const std::string& host) const;

 private:
  ClientTlsContext() : context_(nullptr, nullptr) {}
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_;
  std::vector<x509::Certificate> roots_;
  std::vector<std::string> missing_;
  bool verifies_ = true;
};

struct SystemRoots {
  std::vector<x509::Certificate> certificates;
  // The files and folders that were looked at, in this order; with the variable that names them, if there is one.
  std::vector<std::string> places;
};

// Looks where Go looks: SSL_CERT_FILE and SSL_CERT_DIR, and otherwise where distributions keep them.
SystemRoots system_roots();

}  // namespace fairlead::http
