// HTTP/2 as a state machine: bytes in, bytes out, streams that change. No sockets, so that it can be fed anything.
// Inside this room only; h2_connection.h puts it on a wire.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "async/signal.h"
#include "http/client/internal/connection.h"

struct nghttp2_session;

namespace fairlead::http {

// One request and what has come of it. Shared by the session and whoever waits for the answer.
struct H2Stream {
  H2Stream(Loop& loop, std::shared_ptr<const Request> what) : request(std::move(what)), changed(loop) {}

  std::shared_ptr<const Request> request;
  int32_t id = 0;
  size_t body_sent = 0;
  // The head of the request has left the session: from here on the server may have seen it.
  bool written = false;

  int status = 0;
  Headers headers;
  size_t header_bytes = 0;
  bool has_head = false;
  // What has arrived of the body and was not taken yet. Bounded by the window.
  std::string data;
  // Nothing more will come: a whole answer, or a failure.
  bool ended = false;
  std::optional<Failure> failure;
  // Something above has changed.
  Signal changed;
};

class H2Session {
 public:
  // What may arrive unread on a stream, and on all of them before the session has looked at it.
  static constexpr int32_t kStreamWindow = 1 << 20;
  static constexpr int32_t kConnectionWindow = 8 << 20;
  static constexpr size_t kMaxHeaderBytes = size_t{256} << 10;

  // `peer` names the server in errors, `authority` in requests; `prefix` comes before each request's target.
  struct Names {
    std::string peer;
    std::string scheme;
    std::string authority;
    std::string prefix;
  };
  H2Session(Loop& loop, Names names);
  ~H2Session();
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  // After an error the session is of no use, but for fail_all().
  Result<void> feed(std::string_view bytes);
  // Appends what is to be sent, about `size` bytes at most.
  void take_output(std::string& into, size_t size);
  // What the server did wrong, once the output says goodbye for it: nothing more will be taken in.
  std::optional<Error> violation() const;

  size_t open_streams() const { return open_; }
  // How many further streams the server allows; 0 once it has said goodbye.
  size_t room() const;
  bool draining() const { return draining_; }
  void drain() { draining_ = true; }

  std::shared_ptr<H2Stream> submit(std::shared_ptr<const Request> request);
  // Takes what has arrived, and lets the server send as much again.
  std::string take_data(H2Stream& stream);
  // Gives the rest of the exchange up.
  void cancel(H2Stream& stream);
  void ping();
  // Ends all streams, for a connection that is gone.
  void fail_all(const Error& error);

 private:
  struct Callbacks;

  void end(H2Stream& stream, std::optional<Failure> failure);
  Failure failure_of(uint32_t code) const;

  Loop& loop_;
  Names names_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, std::shared_ptr<H2Stream>> streams_;
  size_t open_ = 0;
  bool draining_ = false;
  bool has_settings_ = false;
  bool violated_ = false;
  // What the library had to say about the server's mistakes.
  std::string complaint_;
  // The server itself has ended the stream, with a code; for the stream that is being closed.
  bool reset_by_server_ = false;
};

}  // namespace fairlead::http
