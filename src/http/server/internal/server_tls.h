// What the server's side of TLS is set up with.
#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "http/server/server.h"

namespace fairlead::http {

// One identity, ready for handshakes; connections that were made with it keep it alive.
struct TlsContext {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{nullptr, SSL_CTX_free};
  std::optional<ClientTrust> clients;
  const Clock* clock = nullptr;
};

Result<std::shared_ptr<TlsContext>> make_tls_context(const Identity& identity, std::optional<ClientTrust> clients,
                                                     const Clock& clock);

}  // namespace fairlead::http
