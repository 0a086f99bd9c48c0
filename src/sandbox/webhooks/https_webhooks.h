// Webhooks over real HTTPS, for a sandbox that is on the network. Only this machine is called, unless more is allowed;
// webhooks in pods of the sandbox are not called at all, but simulated.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "async/real_loop.h"
#include "http/client/client.h"
#include "sandbox/core/webhook_caller.h"

namespace fairlead::sandbox {

class HttpsWebhooks final : public WebhookCaller {
 public:
  HttpsWebhooks(RealLoop& loop, bool allow_outside) : loop_(loop), allow_outside_(allow_outside) {}

  Task<Result<http::Response>> post(const WebhookEndpoint& endpoint, http::Request request) override;
  // Always: before it is destroyed.
  Task<void> close();

 private:
  // As the real server keeps them: by where they go and whom they trust.
  using Key = std::tuple<std::string, std::string, std::string>;
  RealLoop& loop_;
  bool allow_outside_;
  std::map<Key, std::unique_ptr<http::Client>> clients_;
};

// An error of our client in the words of a Go client.
std::string go_words(const Error& error, const WebhookEndpoint& endpoint, WallTime now);

}  // namespace fairlead::sandbox
