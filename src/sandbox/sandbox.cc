#include "sandbox/sandbox.h"

#include "sandbox/controllers/bootstrap.h"
#include "sandbox/controllers/controllers.h"
#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

Sandbox::Sandbox(Loop& loop, Options options) : core_(std::make_unique<Core>(loop, std::move(options))) {
  for (size_t i = 0; i < std::max<size_t>(1, core_->options.api_servers); ++i)
    servers_.push_back(std::make_unique<ApiServer>(*core_, i));
  controllers_ = std::make_unique<Controllers>(*servers_[0], core_->options.controllers);
  bootstrap(*core_);
}

Sandbox::~Sandbox() = default;

http::Transport& Sandbox::api_server(size_t index) { return *servers_[index]; }
LocalWebhooks& Sandbox::webhooks() { return core_->local_webhooks; }
void Sandbox::set_webhook_caller(WebhookCaller& caller) { core_->webhooks = &caller; }
void Sandbox::serve_api(const std::string& service, http::Transport* server) {
  if (server) core_->extension_servers[service] = server;
  else core_->extension_servers.erase(service);
}
void Sandbox::set_down(size_t server, bool down) { servers_[server]->set_down(down); }
void Sandbox::compact() { core_->store.compact(core_->store.version()); }

Task<void> Sandbox::stop() { return controllers_->stop(); }

}  // namespace fairlead::sandbox
