#include "async/interrupt.h"

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>

namespace fairlead {

struct Interrupt::Impl {
  boost::asio::signal_set signals;
  CancelSource& source;
  bool happened = false;

  Impl(RealLoop& loop, CancelSource& stop, LostReader lost_reader) : signals(loop.io(), SIGINT, SIGTERM), source(stop) {
    if (lost_reader == LostReader::stops) signals.add(SIGPIPE);
    else std::signal(SIGPIPE, SIG_IGN);
    // Whoever starts us with nohup wants us to outlive the terminal.
    struct sigaction before{};
    if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) signals.add(SIGHUP);
  }

  void wait() {
    signals.async_wait([this](boost::system::error_code error, int signal) {
      if (error) return;
      // Every further write to a pipe without a reader brings another one.
      // Runs what was registered with at_quick_exit: a live view removes itself.
      if (happened && signal != SIGPIPE) std::quick_exit(128 + signal);
      happened = true;
      source.cancel();
      wait();
    });
  }
};

Interrupt::Interrupt(RealLoop& loop, CancelSource& source, LostReader lost_reader)
    : impl_(std::make_unique<Impl>(loop, source, lost_reader)) {
  impl_->wait();
}

// The handler of a wait that is given up runs only if the loop does, and then with an error: it touches nothing.
Interrupt::~Interrupt() = default;

bool Interrupt::happened() const { return impl_->happened; }

}  // namespace fairlead
