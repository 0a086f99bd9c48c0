// From a ClusterConfig to a client of the real cluster: transport, credentials and client, put together.
//
//   CO_TRY_ASSIGN(std::unique_ptr<Connection> connection, connect(loop, std::move(config), {}));
//   ... connection->client() ...
//   co_await connection->close();   // always, before it is destroyed
#pragma once

#include <memory>

#include "async/real_loop.h"
#include "http/client/client.h"
#include "kube/client.h"
#include "kube/config/cluster_config.h"
#include "kube/config/credentials.h"

namespace fairlead::kube {

struct ConnectOptions {
  // Standard input is a terminal, and nobody else reads it: a credential plugin may ask questions.
  bool has_terminal = false;
  // Told of every token, password and key: they must not reach any text.
  std::function<void(std::string_view secret)> on_secret;
  Client::Options client;
  // Everything about the connection that the kubeconfig does not say.
  http::ClientOptions http;
};

class Connection {
 public:
  ~Connection();

  Client& client() { return client_; }
  http::Client& http() { return *http_; }
  const ClusterConfig& config() const { return config_; }

  Task<void> close();

 private:
  friend Result<std::unique_ptr<Connection>> connect(RealLoop& loop, ClusterConfig config, ConnectOptions options);
  Connection(RealLoop& loop, ClusterConfig config, std::unique_ptr<http::Client> http, const ConnectOptions& options);

  ClusterConfig config_;
  std::unique_ptr<http::Client> http_;
  Credentials credentials_;
  Client client_;
};

// Opens no connection yet: the first request does.
Result<std::unique_ptr<Connection>> connect(RealLoop& loop, ClusterConfig config, ConnectOptions options);

}  // namespace fairlead::kube
