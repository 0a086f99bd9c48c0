#include "async/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "async/internal/child.h"
#include "async/scope.h"

namespace fairlead {
namespace {

namespace asio = boost::asio;

// A write of this size to a pipe that has room does not block (PIPE_BUF).
constexpr size_t kPiece = 4096;

// The end of what is added.
class Tail {
 public:
  explicit Tail(size_t limit) : limit_(limit) {}
  void add(std::string_view piece) {
    text_ += piece;
    if (text_.size() > 2 * limit_ + kPiece) text_.erase(0, text_.size() - limit_);
  }
  std::string take() {
    if (text_.size() > limit_) text_.erase(0, text_.size() - limit_);
    return std::move(text_);
  }

 private:
  size_t limit_;
  std::string text_;
};

// Waits for room in a descriptor of ours that others share. Asio makes what it watches non-blocking, which the others
// would notice; so it watches an epoll descriptor that watches the shared one.
class Room {
 public:
  Room(asio::io_context& io, int descriptor) : watch_(io) {
    Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    epoll_event wanted{.events = EPOLLOUT, .data = {}};
    // Files cannot be watched, and always have room.
    if (epoll && epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &wanted) == 0) watch_.assign(epoll.release());
  }
  // False if cancelled.
  Task<bool> wait() {
    if (!watch_.is_open()) co_return true;
    co_return co_await readable(watch_);
  }

 private:
  Descriptor watch_;
};

// Brings what one end of a pipe or pseudo-terminal gives to a descriptor of ours.
class Stream {
 public:
  Stream(asio::io_context& io, Fd source, int sink, size_t kept)
      : source_(io, source.release()), room_(io, sink), sink_(sink), tail_(kept) {
    source_.non_blocking(true);
  }

  // Runs until the end of the source. After finish(), until there is nothing in it.
  Task<void> run() {
    while (co_await has_more()) {
      char piece[kPiece];
      ssize_t size = read(source_.native_handle(), piece, sizeof(piece));
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      // A pseudo-terminal ends with an error.
      if (size <= 0) break;
      std::string_view text(piece, size_t(size));
      tail_.add(text);
      if (!co_await pass_on(text)) break;
    }
    // Whoever writes to it hears of it.
    source_.close();
  }
  // Call when the program has ended. Others may hold the other end open for longer.
  void finish() {
    is_finishing_ = true;
    waiting_.cancel();
  }
  // Why something was not written.
  const std::string& lost() const { return lost_; }
  std::string take_tail() { return tail_.take(); }

 private:
  Task<bool> has_more() {
    if (!is_finishing_ && co_await readable(source_).governed_by(&waiting_)) co_return true;
    if (!is_finishing_) co_return false;
    pollfd state{.fd = source_.native_handle(), .events = POLLIN, .revents = 0};
    co_return poll(&state, 1, 0) > 0;
  }
  // False if nobody reads it any more.
  Task<bool> pass_on(std::string_view text) {
    while (!text.empty() && lost_.empty()) {
      if (!co_await room_.wait()) co_return false;
      ssize_t size = write(sink_, text.data(), text.size());
      if (size >= 0) text.remove_prefix(size_t(size));
      else if (errno == EPIPE) co_return false;
      else if (errno != EAGAIN && errno != EINTR) lost_ = std::strerror(errno);
    }
    co_return true;
  }

  Descriptor source_;
  Room room_;
  int sink_;
  Tail tail_;
  CancelSource waiting_;
  bool is_finishing_ = false;
  std::string lost_;
};

// A terminal that is as large as that of `like`, and passes everything on as it is.
Result<Pipe> make_terminal(int like) {
  winsize size{};
  termios mode{};
  bool is_known = ioctl(like, TIOCGWINSZ, &size) == 0 && tcgetattr(like, &mode) == 0;
  if (!is_known) return system_failure("cannot ask the terminal for its size", errno);
  mode.c_oflag &= ~tcflag_t(OPOST);
  mode.c_lflag &= ~tcflag_t(ECHO);
  int ours = -1, theirs = -1;
  if (openpty(&ours, &theirs, nullptr, &mode, &size) != 0) return system_failure("cannot make a terminal", errno);
  fcntl(ours, F_SETFD, FD_CLOEXEC);
  fcntl(theirs, F_SETFD, FD_CLOEXEC);
  return Pipe{Fd(ours), Fd(theirs)};
}

// The program writes to a terminal exactly where we would.
Result<Pipe> make_channel(int descriptor) {
  if (!isatty(descriptor)) return make_pipe();
  Result<Pipe> terminal = make_terminal(descriptor);
  return terminal ? std::move(terminal) : make_pipe();
}

bool has_terminal() {
  Fd terminal(open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return terminal && tcgetpgrp(terminal.get()) == getpgrp();
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) all.emplace_back(*variable);
  return all;
}

// What the program reads and writes: our ends, and its own.
struct Channels {
  Fd input;
  Pipe output;
  // None if both are one stream: on a terminal, so that they stay in order.
  Pipe errors;

  bool is_one() const { return !errors.read; }
};

Result<Channels> open_channels(const RelaySpec& spec) {
  Channels channels;
  if (spec.input) {
    TRY_ASSIGN(channels.input, file_with(*spec.input));
  }
  TRY_ASSIGN(channels.output, make_channel(STDOUT_FILENO));
  if (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) return channels;
  TRY_ASSIGN(channels.errors, make_channel(STDERR_FILENO));
  return channels;
}

}  // namespace

struct Relay::Impl {
  explicit Impl(RealLoop& loop) : loop(loop) {}
  RealLoop& loop;
  std::optional<Child> child;
  // Our ends of the program's terminals.
  std::vector<Fd> terminals;
};

Relay::Relay(RealLoop& loop) : impl_(std::make_unique<Impl>(loop)) {}
Relay::~Relay() = default;

bool Relay::is_running() const { return impl_->child.has_value(); }
bool Relay::shares_terminal() const { return impl_->child && !impl_->child->own_group; }

void Relay::pass(int signal) {
  if (impl_->child) impl_->child->kill(signal);
}

void Relay::resize() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return;
  for (const Fd& terminal : impl_->terminals) ioctl(terminal.get(), TIOCSWINSZ, &size);
  // It may have looked before the size was there.
  if (!impl_->terminals.empty()) pass(SIGWINCH);
}

Task<Result<RelayResult>> Relay::run(RelaySpec spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) co_return fail(ErrorKind::invalid, "exec: no executable was given");
  CancelSource* cancel = co_await current_cancel();
  if (cancel && cancel->cancelled()) co_return fail(cancelled_error());
  CO_TRY_ASSIGN(Channels channels, open_channels(spec));
  bool is_one = channels.is_one();
  CO_TRY_ASSIGN(Child child, start({.argv = spec.argv,
                                    .environment = environment(),
                                    .own_group = !has_terminal(),
                                    .input = channels.input.get(),
                                    .output = channels.output.write.get(),
                                    .errors = (is_one ? channels.output : channels.errors).write.get(),
                                    .heeded = {SIGPIPE}}));
  channels.output.write = Fd();
  channels.errors.write = Fd();
  CO_TRY_ASSIGN(Fd pidfd, watch_end(child));
  Descriptor ending(impl_->loop.io(), pidfd.release());
  for (const Fd* ours : {&channels.output.read, &channels.errors.read})
    if (isatty(ours->get())) impl_->terminals.emplace_back(fcntl(ours->get(), F_DUPFD_CLOEXEC, 3));
  impl_->child = child;

  Stream out(impl_->loop.io(), std::move(channels.output.read), STDOUT_FILENO, spec.kept);
  std::optional<Stream> err;
  Scope streams(impl_->loop, nullptr);
  streams.spawn(out.run());
  if (!is_one)
    streams.spawn(err.emplace(impl_->loop.io(), std::move(channels.errors.read), STDERR_FILENO, spec.kept).run());
  bool ended = co_await readable(ending);
  if (!ended) co_await end(impl_->loop, child, ending, spec.grace);
  impl_->child.reset();
  impl_->terminals.clear();
  out.finish();
  if (err) err->finish();
  // After a time limit, nobody waits for a reader that does not read.
  if (!ended) streams.cancel();
  co_await streams.join();
  CO_TRY_ASSIGN(int code, reap(child));
  if (!ended) co_return fail(cancelled_error());
  RelayResult result{.exit_status = {}, .signal = 0, .output = out.take_tail(), .errors = {}, .lost = out.lost()};
  if (err) result.errors = err->take_tail();
  if (err && result.lost.empty()) result.lost = err->lost();
  if (WIFEXITED(code)) result.exit_status = WEXITSTATUS(code);
  else result.signal = WTERMSIG(code);
  co_return result;
}

}  // namespace fairlead
