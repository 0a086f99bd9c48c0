#include "async/signals.h"

#include <sys/signalfd.h>

#include <csignal>

#include "async/internal/child.h"
#include "async/scope.h"

namespace fairlead {

struct Signals::Impl {
  sigset_t before{};
  struct sigaction pipe_before{};
  Descriptor arrived;

  explicit Impl(RealLoop& loop) : arrived(loop.io()) {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) {
      struct sigaction now{};
      bool is_ignored = sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
      if (!is_ignored) sigaddset(&wanted, number);
    }
    pthread_sigmask(SIG_BLOCK, &wanted, &before);
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &pipe_before);
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd >= 0) arrived.assign(fd);
  }
  ~Impl() {
    sigaction(SIGPIPE, &pipe_before, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
};

Signals::Signals(RealLoop& loop) : impl_(std::make_unique<Impl>(loop)) {}
Signals::~Signals() = default;

Task<Result<Signals::Received>> Signals::next() {
  while (true) {
    signalfd_siginfo info{};
    if (read(impl_->arrived.native_handle(), &info, sizeof(info)) == ssize_t(sizeof(info)))
      co_return Received{.number = int(info.ssi_signo), .is_from_terminal = info.ssi_code == SI_KERNEL};
    if (!co_await readable(impl_->arrived)) co_return fail(cancelled_error());
  }
}

}  // namespace fairlead
