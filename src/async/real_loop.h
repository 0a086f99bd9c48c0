// The loop of a running program: sockets through Asio, the real clock.
#pragma once

#include <memory>

#include "async/loop.h"

namespace boost::asio {
class io_context;
}

namespace fairlead {

class RealLoop final : public Loop {
 public:
  RealLoop();
  ~RealLoop() override;

  const Clock& clock() const override { return clock_; }
  void post(Callback callback) override;

  // For what waits on file descriptors: http, Process. Everybody else stays clear of Asio.
  boost::asio::io_context& io();

 private:
  void run_until(const bool& done) override;
  void timers_changed() override;

  struct Impl;
  RealClock clock_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
