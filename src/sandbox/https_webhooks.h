// Webhooks over real HTTPS, for a sandbox that is on the network.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "base/real_loop.h"
#include "http/client.h"
#include "sandbox/webhook_caller.h"

namespace fairlead::sandbox {

class HttpsWebhooks final : public WebhookCaller {
 public:
  explicit HttpsWebhooks(RealLoop& loop) : loop_(loop) {}

  Task<Result<http::Response>> post(const WebhookEndpoint& endpoint, http::Request request) override;
  // Always: before it is destroyed.
  Task<void> close();

 private:
  // As the real server keeps them: by where they go and whom they trust.
  using Key = std::tuple<std::string, std::string, std::string>;
  RealLoop& loop_;
  std::map<Key, std::unique_ptr<http::Client>> clients_;
};

// An error of our client in the words of a Go client.
std::string go_words(const Error& error, const WebhookEndpoint& endpoint, WallTime now);

}  // namespace fairlead::sandbox
