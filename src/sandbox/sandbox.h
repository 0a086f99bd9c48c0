// A Kubernetes API in memory, in this process: for demos, and for tests of everything that talks to a cluster.
//
// This is the room's first header. A sandbox has one store and one or more API servers in front of it, each an
// http::Transport; the controllers of a cluster run inside. Time and chance come from the loop and the seed alone:
// under a VirtualLoop a run is exactly repeatable. What it serves it serves as the real server would, to the word where
// words are shown; what it cannot serve so is answered with 501. It never guesses. docs/sandbox.md lists what differs.
//
//   VirtualLoop loop;
//   Sandbox sandbox(loop, {.seed = 7});
//   loop.run(test(sandbox.api_server()));
//   loop.run(sandbox.stop());      // always: before the sandbox is destroyed
#pragma once

#include <memory>
#include <vector>

#include "async/scope.h"
#include "http/message.h"
#include "sandbox/core/options.h"
#include "sandbox/core/webhook_caller.h"

namespace fairlead::sandbox {

class ApiServer;
class Controllers;
struct Core;

class Sandbox {
 public:
  Sandbox(Loop& loop, Options options = {});
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Answers and their bodies (watches) must be gone before the sandbox is.
  http::Transport& api_server(size_t index = 0);
  ApiServer& server(size_t index = 0) { return *servers_[index]; }
  size_t api_servers() const { return servers_.size(); }

  // Webhooks that are functions of this process; used unless a caller was set.
  LocalWebhooks& webhooks();
  // Must outlive the sandbox.
  void set_webhook_caller(WebhookCaller& caller);

  // Another API server behind that Service ("namespace/name"), for the APIServices that point to it; null: not any
  // more. Must outlive the sandbox, or be taken away before.
  void serve_api(const std::string& service, http::Transport* server);

  // For simulation: an API server goes away (its watches end, requests are refused) and comes back; the history up to
  // now is forgotten, so that watches from older versions are told 410.
  void set_down(size_t server, bool down);
  void compact();
  Core& core() { return *core_; }

  // Ends the controllers.
  Task<void> stop();

 private:
  std::unique_ptr<Core> core_;
  std::vector<std::unique_ptr<ApiServer>> servers_;
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace fairlead::sandbox
