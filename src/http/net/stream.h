// Bytes both ways: TCP, TLS over that, TLS over a proxy's TLS. For the rooms of http, and rpc.
//
// One read and one write may be under way at a time. Cancelling the task that waits for either spoils the stream.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "async/task.h"
#include "base/clock.h"
#include "base/error.h"

namespace fairlead::http {

class Stream {
 public:
  virtual ~Stream() = default;
  // At least one byte and at most `size`, or 0 at the end. `into` must stay until it is done.
  virtual Task<Result<size_t>> read(char* into, size_t size) = 0;
  // What is there now: nothing if nothing is, 0 if the stream is at its end or broken.
  virtual std::optional<size_t> try_read(char* into, size_t size) = 0;
  // All of it. `bytes` must stay until it is done.
  virtual Task<Result<void>> write(std::string_view bytes) = 0;
  // At once: what is under way ends with an error.
  virtual void shut() = 0;
  // How long the way to the other end and back takes; nothing if that is not known.
  virtual std::optional<Duration> round_trip() { return std::nullopt; }
};

}  // namespace fairlead::http
