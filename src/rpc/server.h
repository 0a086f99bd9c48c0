// A gRPC server on a socket.
//
//   CO_TRY_ASSIGN(auto server, Server::listen(loop, {.unix_path = path}, services));
//   ...
//   co_await server->close();   // always, before it is destroyed
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "async/real_loop.h"
#include "http/net/server_identity.h"
#include "rpc/service.h"

namespace fairlead::rpc {

struct ServerSpec {
  // A socket file, which must not be there yet. Empty: a port of 127.0.0.1.
  std::string unix_path;
  // 0: any that is free.
  uint16_t port = 0;
  // None: no TLS.
  std::optional<http::Identity> identity;
  std::optional<http::ClientTrust> clients;
};

class Server {
 public:
  // Accepts connections from now on. The services must outlive the server.
  static Result<std::unique_ptr<Server>> listen(RealLoop& loop, ServerSpec spec, const Services& services);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Of a server on 127.0.0.1.
  uint16_t port() const;

  // Ends everything. Calls that are running are cancelled.
  Task<void> close();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::rpc
