// What the server's side of TLS is set up with. For the rooms of http, and rpc.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "http/net/server_identity.h"
#include "http/net/tls.h"

namespace fairlead::http {

// One identity, ready for handshakes; connections that were made with it keep it alive.
struct TlsContext {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{nullptr, SSL_CTX_free};
  std::optional<ClientTrust> clients;
  const Clock* clock = nullptr;
  // The one protocol that is spoken: "http/1.1" or "h2". A client that offers others only is turned away.
  std::string protocol;
};

Result<std::shared_ptr<TlsContext>> make_tls_context(const Identity& identity, std::optional<ClientTrust> clients,
                                                     const Clock& clock, std::string protocol = "http/1.1");

// One connection's TLS, before its handshake.
Result<TlsSession> server_session(std::shared_ptr<TlsContext> tls);

}  // namespace fairlead::http
