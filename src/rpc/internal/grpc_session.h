// One connection of gRPC as a state machine: bytes in, bytes out, calls that arrive. No sockets, so that it can be fed
// anything.
//
// Calls have one message each way. Whatever is wrong with a call is answered with a status, and the connection goes on;
// a client that does not keep to HTTP/2 loses the connection.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "rpc/status.h"

struct nghttp2_session;

namespace fairlead::rpc {

class GrpcSession {
 public:
  struct Limits {
    // Of a message that arrives.
    size_t message_bytes = size_t{256} << 20;
    size_t header_bytes = size_t{64} << 10;
    uint32_t calls = 128;
  };
  // Called from within feed(); they must not feed.
  struct Events {
    // Whether there is such a method: asked before its message is there.
    std::function<bool(std::string_view path)> is_known;
    std::function<void(int32_t call, std::string path, std::string message)> arrived;
    // The client gave up a call that has arrived and has no answer yet.
    std::function<void(int32_t call)> cancelled;
  };

  GrpcSession(Limits limits, Events events);
  ~GrpcSession();
  GrpcSession(const GrpcSession&) = delete;
  GrpcSession& operator=(const GrpcSession&) = delete;

  // After an error the session is of no use.
  Result<void> feed(std::string_view bytes);
  // Appends what is to be sent, about `size` bytes at most.
  void take_output(std::string& into, size_t size);
  // Does nothing for a call that is gone.
  void answer(int32_t call, Answer answer);

 private:
  struct Callbacks;
  struct Call {
    std::string path;
    bool is_grpc = false;
    size_t header_bytes = 0;
    // What has arrived, with the five bytes before the message; then what is being sent.
    std::string bytes;
    size_t sent = 0;
    bool arrived = false;
    bool answered = false;
    Status status;
  };

  void read_call(int32_t id, Call& call);
  void refuse(int32_t id, Call& call, Status status);

  Limits limits_;
  Events events_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Call> calls_;
};

// As a header may have it: bytes that are not printable ASCII as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace fairlead::rpc
