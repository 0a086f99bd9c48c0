// From an address to a stream that HTTP can be spoken over: TCP, a proxy if there is one, TLS. Inside this room only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "http/net/stream.h"
#include "http/net/tls.h"
#include "http/url.h"

namespace fairlead {
class RealLoop;
}

namespace fairlead::http {

struct Route {
  Url server;
  std::optional<Url> proxy;
  // For https servers and https proxies.
  std::shared_ptr<const ClientTlsContext> tls;
  std::shared_ptr<const ClientTlsContext> proxy_tls;
  // What the server's certificate must be valid for.
  std::string server_name;
  Duration connect_timeout;
  Duration handshake_timeout;

  // Plain HTTP through an HTTP proxy needs no tunnel: the proxy gets whole URLs.
  bool asks_proxy() const { return proxy && !server.is_tls() && !proxy->scheme.starts_with("socks5"); }
};

struct Connected {
  std::unique_ptr<Stream> stream;
  bool http2 = false;
  // How long the way to the server and back takes; nothing behind a proxy.
  std::optional<Duration> round_trip = {};
};

Task<Result<Connected>> connect(RealLoop& loop, Route route);

// The value of Proxy-Authorization for the user and password of a proxy's URL, or "".
std::string proxy_authorization(const Url& proxy);

}  // namespace fairlead::http
