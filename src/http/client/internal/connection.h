// One connection to a server, HTTP/2 or HTTP/1.1. Inside this room only.
#pragma once

#include <expected>
#include <functional>
#include <memory>

#include "http/message.h"

namespace fairlead::http {

// How much is read from a connection at once.
inline constexpr size_t kReadSize = size_t{64} << 10;

// Why a request has no answer, and how far it got.
struct Failure {
  Error error;
  Delivery delivery;
};

class Connection {
 public:
  Connection();
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  uint64_t id() const { return id_; }

  // Does the connection's work until it is over. To be started once, before anything is opened.
  virtual Task<void> run() = 0;
  // How many further requests it takes now; 0 for good once it has been retired or is over.
  virtual size_t room() = 0;
  // Whether it will never have room again.
  virtual bool retired() const = 0;
  // Takes its place at once, before the first wait; only if there is room.
  virtual Task<std::expected<Answer, Failure>> open(std::shared_ptr<const Request> request) = 0;
  // No further requests; it is over when the last one has ended.
  virtual void retire() = 0;

  // Called when there may be more room than before. Must be set before run(); must not call back.
  std::function<void()> on_room = [] {};

 private:
  uint64_t id_;
};

}  // namespace fairlead::http
