// A sandbox on the network: TLS, certificates, a kubeconfig, and webhooks over HTTPS.
//
//   TRY_ASSIGN(auto front, NetworkFront::start(loop, {}, {}));
//   write(front->kubeconfig());
//   ...
//   co_await front->stop();   // always: before it is destroyed
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "http/server/server.h"
#include "sandbox/sandbox.h"
#include "sandbox/webhooks/https_webhooks.h"

namespace fairlead::sandbox {

struct NetworkSpec {
  std::string address = "127.0.0.1";
  // Of the first API server; the others get any that is free. 0: any.
  uint16_t port = 0;
  // Webhooks at addresses of other machines are called.
  bool allow_outside_calls = false;
};

class NetworkFront {
 public:
  static Result<std::unique_ptr<NetworkFront>> start(RealLoop& loop, Options options, NetworkSpec spec);

  // For an administrator, with a client certificate. A secret.
  const std::string& kubeconfig() const { return kubeconfig_; }
  // "https://127.0.0.1:6443"
  std::string server(size_t index = 0) const;
  Sandbox& sandbox() { return *sandbox_; }

  Task<void> stop();

 private:
  NetworkFront(RealLoop& loop, bool allow_outside_calls) : webhooks_(loop, allow_outside_calls) {}
  Task<http::Answer> answer(size_t server, http::Request request, const http::Peer& peer);

  HttpsWebhooks webhooks_;
  std::unique_ptr<Sandbox> sandbox_;
  std::vector<std::unique_ptr<http::Server>> servers_;
  std::string address_;
  std::string kubeconfig_;
};

}  // namespace fairlead::sandbox
