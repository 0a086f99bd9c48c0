// A client of gRPC without TLS: one message out, one message back per call.
//
//   Client client(loop, "127.0.0.1:4000");
//   Answer answer = co_await client.call("/pulumirpc.Engine/Log", message);
//   co_await client.close();   // always, before it is destroyed
//
// All calls share one connection, which is made by the first call. A call fails with `unavailable` once the connection
// is lost: the client does not connect again, since the other side is a program that started this one.
#pragma once

#include <memory>
#include <string>

#include "async/real_loop.h"
#include "rpc/status.h"

namespace fairlead::rpc {

class Client {
 public:
  // "HOST:PORT"
  Client(RealLoop& loop, std::string address);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Task<Answer> call(std::string path, std::string message);
  // Calls that are running fail.
  Task<void> close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::rpc
