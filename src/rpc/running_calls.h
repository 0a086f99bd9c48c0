// The calls of one server that are running. The protocols of Terraform and of Pulumi each have a method that asks for
// all others to be cancelled.
#pragma once

#include <list>
#include <string>
#include <utility>

#include "async/cancel.h"
#include "async/task.h"
#include "protobuf/message.h"
#include "rpc/status.h"

namespace fairlead::rpc {

class RunningCalls {
 public:
  // Gives the request, decoded, to `method`, which returns a task; the request lives until that task has ended. The
  // call is cancelled by cancel_all, or when its client gives it up. Bytes that are no message are refused.
  template <class Method>
  Task<Answer> run(std::string bytes, Method method) {
    Result<protobuf::Message> request = protobuf::Message::read(bytes);
    if (!request) co_return std::unexpected(Status{Code::invalid_argument, std::move(request).error().message()});
    CancelSource cancel(co_await current_cancel());
    auto place = running_.insert(running_.end(), &cancel);
    Answer answer = co_await method(*request).governed_by(&cancel);
    running_.erase(place);
    co_return answer;
  }

  void cancel_all() {
    for (CancelSource* call : running_) call->cancel();
  }

 private:
  std::list<CancelSource*> running_;
};

}  // namespace fairlead::rpc
