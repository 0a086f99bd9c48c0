// The methods that a server offers. This is the room's first header.
//
// rpc serves gRPC over HTTP/2: one message in, one message out. It knows nothing of what the messages mean: they are
// bytes in protobuf (protobuf/wire.h). plugin.h is the way in which Terraform starts a server; Server is for everybody.
//
//   Services services;
//   services.add("/grpc.health.v1.Health/Check", [](std::string request) -> Task<Answer> { co_return "…"; });
#pragma once

#include <functional>
#include <map>
#include <string>

#include "async/task.h"
#include "rpc/status.h"

namespace fairlead::rpc {

// Runs once per call, side by side with others. Its task is cancelled when the client gives the call up or goes away.
using Handler = std::function<Task<Answer>(std::string request)>;

class Services {
 public:
  // "/PACKAGE.SERVICE/METHOD"
  void add(std::string path, Handler handler) { handlers_.insert_or_assign(std::move(path), std::move(handler)); }
  // Null if there is none.
  const Handler* find(std::string_view path) const {
    auto found = handlers_.find(path);
    return found == handlers_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Handler, std::less<>> handlers_;
};

}  // namespace fairlead::rpc
