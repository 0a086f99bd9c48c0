// One API server of a sandbox: takes requests, in process or from a network front, and serves them from the shared
// core.
//
// Several of them share the objects; what each has for itself is which configurations it uses by now.
#pragma once

#include "async/scope.h"
#include "http/message.h"
#include "sandbox/core/call.h"
#include "sandbox/core/core.h"
#include "sandbox/verbs/counters.h"
#include "sandbox/webhooks/webhooks.h"

namespace fairlead::sandbox {

class ApiServer final : public http::Transport {
 public:
  ApiServer(Core& core, size_t index);

  // From outside, without sockets: as the user that the sandbox was given.
  Task<Result<http::Answer>> open(http::Request request) override { return answer(std::move(request), User{}); }
  Task<Result<http::Answer>> answer(http::Request request, User user);
  // From inside: controllers.
  Task<Reply> serve(Call& call);

  Core& core() { return core_; }
  size_t index() const { return index_; }
  Webhooks& webhooks() { return webhooks_; }
  // Each server counts for itself, and begins again when it is started.
  Counters& counters() { return counters_; }
  // Takes no further requests: answers that it is shutting down. Its watches end.
  void set_down(bool down);
  // Grows when its watches have to end.
  uint64_t generation() const { return generation_; }

 private:
  Task<Outcome<Reply>> dispatch(Call& call);
  Task<Outcome<Reply>> dispatch_resource(Call& call, const Kind& kind);

  Core& core_;
  size_t index_;
  uint64_t connection_;
  bool down_ = false;
  uint64_t generation_ = 0;
  Webhooks webhooks_;
  Counters counters_;
};

}  // namespace fairlead::sandbox
