// An HTTP/1.1 server, with TLS.
//
// It runs on the loop that it was made on, for as long as somebody runs that loop, from listen() until close() is done:
//
//   CO_TRY_ASSIGN(auto server, Server::listen(loop, {.port = 8443, .identity = {{chain, key}}}, handler));
//   ...
//   server->announce_drain();                  // answers carry `Connection: close`; new connections are still accepted
//   co_await server->drain(loop.now() + 30s);  // no new connections; waits for requests in flight, and cancels none
//   co_await server->close();                  // always: before the server is destroyed
//
// The handler runs once a request, side by side for different connections. Its task, and then the reading of the body
// of its answer, is cancelled when the peer goes away. An answer whose body is there as a whole is sent with its
// length; any other is sent in pieces as they come, each at once. No request ever ends the server: what is wrong with
// one is answered (400, 408, 413, 417, 431, 503) and the connection closed.
//
// Where one thread is not enough, further loops on threads of their own serve a share of the connections. The server's
// own loop accepts all of them and hands each to the loop that has the fewest. Each connection lives on one loop, and
// each loop has an equal share of the limits. All functions of the server are called on its own loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "http/message.h"
#include "http/net/server_identity.h"
#include "x509/x509.h"

namespace fairlead::http {

struct ServerLimits {
  size_t header_bytes = size_t{64} << 10;
  size_t body_bytes = size_t{16} << 20;
  // What has come of all bodies that are larger than `small_body_bytes`, of requests that are being read or answered.
  // Where it is too much, the request that has been read for longest makes room and is answered with 503 and
  // Retry-After: whoever sends slowly keeps nobody else out. If the others are all being answered, it is the new one.
  size_t all_bodies_bytes = size_t{256} << 20;
  // Requests no larger than this are always read.
  size_t small_body_bytes = size_t{16} << 10;
  // At this number another connection makes room: one whose request or handshake has been incomplete for a second or
  // more, or else the one that has been idle for longest. If there is none, new ones wait.
  size_t connections = 2000;
  Duration handshake = std::chrono::seconds(10);
  // From the first byte of a request to the end of its head, and from there to the end of its body.
  Duration header = std::chrono::seconds(10);
  Duration body = std::chrono::seconds(30);
  // Between requests. An API server keeps its idle connections for 90 s; closing first would fail a request on its way.
  Duration idle = std::chrono::seconds(120);
  // For a peer to take what is written to it.
  Duration write = std::chrono::seconds(30);
  // For a peer to close its side after we closed ours.
  Duration linger = std::chrono::seconds(2);
};

struct ServerSpec {
  // An IP address; "0.0.0.0" or "::" for all.
  std::string address = "127.0.0.1";
  // 0: any that is free.
  uint16_t port = 0;
  // None: plain HTTP.
  std::optional<Identity> identity;
  std::optional<ClientTrust> clients;
  ServerLimits limits;
  // Told, on the server's own loop, about what no handler sees: the status with which a request was refused, or 0 for a
  // handshake that failed. May be empty.
  std::function<void(int status, const std::string& peer)> refused;
};

// Who sent a request. Valid until the body of its answer has been read to its end or given up.
struct Peer {
  // "10.0.0.1:4321" or "[::1]:4321".
  std::string address;
  // Verified against ClientTrust; none where it showed none or was not asked.
  std::optional<x509::Certificate> certificate;
};

class Server {
 public:
  using Handler = std::move_only_function<Task<Answer>(Request, const Peer&)>;

  // A further loop, which another thread runs until close() is done. The handler is called there.
  struct Helper {
    RealLoop* loop;
    Handler handler;
  };

  // Whether clients can make a connection with a server that shows this: the key belongs to the certificate, and both
  // are of a kind that is spoken everywhere. Whether anybody trusts it is for x509::verify() to say.
  static Result<void> check(const Identity& identity);

  // Accepts connections from now on.
  static Result<std::unique_ptr<Server>> listen(RealLoop& loop, ServerSpec spec, Handler handler,
                                                std::vector<Helper> helpers = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  size_t connections() const;

  // New connections see it at once, those that are there keep what they saw. On an error nothing changes.
  Result<void> set_identity(Identity identity);

  // From now on every answer asks the peer to go elsewhere, and its connection ends. New ones are still accepted.
  void announce_drain();
  // Stops accepting, closes what is idle, and waits for the rest to end. An error of kind `timeout` if requests were
  // still in flight at the deadline; they go on.
  Task<Result<void>> drain(TimePoint deadline);
  // Ends everything, requests in flight included, and waits until it has ended.
  Task<void> close();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::http
