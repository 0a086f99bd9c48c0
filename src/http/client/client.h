// The HTTP client: one server, as few connections as it needs.
//
//   CO_TRY_ASSIGN(auto client, http::Client::make(loop, *http::parse_url("https://10.0.0.1:6443"), options));
//   CO_TRY_ASSIGN(http::Response response, co_await http::send(*client, {.target = "/version"}));
//   co_await client->close();   // always, before it is destroyed
//
// Speaks HTTP/2 where the server does, HTTP/1.1 otherwise. Requests share a connection for as long as the server allows
// further streams on it; then another one is opened. How many ordinary requests are in flight follows the server's
// latency and its 429s (in_flight.h); a request counts until its body has been read or dropped, so answers must not be
// kept around unread. Long-lived requests do not count.
//
// A request that the server has not processed is sent again by itself, and so is a GET or HEAD whose connection was
// lost before the head of its answer was there. Anything else that is lost is an error of kind `unavailable`, and
// delivery_of() tells whether it may have been carried out. Errors of kind `untrusted`: the server's certificate;
// `denied`: the server or the proxy does not accept ours; `protocol`: it does not speak HTTP; `limit`: it sends headers
// without end.
//
// Limits: 256 KiB of headers an answer; of a body, about 1 MiB that has arrived and was not read. A request's body is
// in memory, and has no limit here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "http/message.h"
#include "http/net/proxy.h"
#include "http/net/tls.h"
#include "http/url.h"

namespace fairlead {
class RealLoop;
}

namespace fairlead::http {

struct ClientOptions {
  TlsOptions tls;
  bool http2 = true;
  // An explicit proxy is used for everything; without one, the settings decide.
  std::optional<Url> proxy;
  ProxySettings proxy_settings = ProxySettings::from_environment();
  // Sent where a request has no User-Agent of its own.
  std::string user_agent = "fairlead";
  // The most ordinary requests in flight, ever. Servers allow some 100 streams a connection; watches want theirs.
  size_t max_in_flight = 64;
  // The most connections: with HTTP/2, and with HTTP/1.1, where each carries one request.
  size_t max_connections = 8;
  size_t max_http1_connections = 128;
  Duration connect_timeout = std::chrono::seconds(30);
  Duration handshake_timeout = std::chrono::seconds(10);
  // HTTP/2: silence while requests are open before the server is asked for a sign of life, and how long that may take.
  Duration ping_after = std::chrono::seconds(15);
  Duration ping_timeout = std::chrono::seconds(10);
};

struct ClientCounts {
  uint64_t requests = 0;     // answered or failed or under way; one that was sent again counts once
  uint64_t sent_again = 0;   // how often
  uint64_t connections = 0;  // made so far
  size_t in_flight = 0;      // now
  size_t in_flight_limit = 0;
};

class Client final : public Transport {
 public:
  // The error is one of the options: certificates that cannot be read, a proxy that is none.
  static Result<std::unique_ptr<Client>> make(RealLoop& loop, Url server, ClientOptions options);
  ~Client() override;

  Task<Result<Answer>> open(Request request) override;

  // For new connections. Those that are there take no further requests, and close when they have none left.
  Result<void> set_client_certificate(std::string certificate_pem, std::string key_pem);

  ClientCounts counts() const;
  const Url& server() const;

  // Ends all connections: requests and bodies under way end with an error, and so does every later one.
  Task<void> close();

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::http
