#include "async/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "async/scope.h"

namespace fairlead {
namespace {

namespace asio = boost::asio;

std::unexpected<Error> system_failure(const std::string& what, int error) {
  return fail(ErrorKind::internal, "{}: {}", what, std::strerror(error));
}

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return system_failure("cannot make a pipe", errno);
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

// A file in memory rather than a pipe: there is nobody to feed it, and no SIGPIPE when nobody reads it.
Result<Fd> file_with(const std::string& text) {
  Fd file(memfd_create("stdin", MFD_CLOEXEC));
  if (!file) return system_failure("cannot make a file for standard input", errno);
  for (size_t written = 0; written < text.size();) {
    ssize_t size = write(file.get(), text.data() + written, text.size() - written);
    if (size < 0) return system_failure("cannot write standard input", errno);
    written += static_cast<size_t>(size);
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return system_failure("cannot rewind standard input", errno);
  return file;
}

Result<Fd> input_of(const ProcessSpec& spec) {
  switch (spec.input) {
    case ProcessSpec::Input::inherit: return Fd();
    case ProcessSpec::Input::text: return file_with(spec.input_text);
    case ProcessSpec::Input::null: break;
  }
  Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return system_failure("cannot open /dev/null", errno);
  return null;
}

std::vector<std::string> environment_of(const ProcessSpec& spec) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    std::string_view text(*variable);
    bool replaced = std::ranges::any_of(spec.environment, [&](const auto& own) {
      return text.starts_with(own.first) && text.substr(own.first.size()).starts_with('=');
    });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : spec.environment) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::unexpected<Error> cannot_start(const ProcessSpec& spec, int error) {
  const std::string& program = spec.argv[0];
  bool is_path = program.find('/') != program.npos;
  std::string path = program.starts_with('/') || spec.directory.empty() ? program : spec.directory + "/" + program;
  if (error == ENOENT && !is_path)
    return fail(Error(ErrorKind::not_found, "exec: executable " + program + " not found")
                    .next("install " + program + ", or add the folder that it is in to PATH"));
  if (error == ENOENT && access(path.c_str(), F_OK) != 0)
    return fail(Error(ErrorKind::not_found, "exec: executable " + path + " not found").next("ls -l " + path));
  if (error == ENOENT)
    return fail(Error(ErrorKind::not_found, "exec: executable " + path + " cannot be started")
                    .because("the interpreter in its first line is not there")
                    .next("head -1 " + path));
  return fail(
      Error(ErrorKind::invalid, "exec: executable " + program + " cannot be started").because(std::strerror(error)));
}

struct Child {
  pid_t pid;
  bool own_group;

  // Only before it is reaped: until then its number belongs to nobody else.
  void kill(int signal) const { ::kill(own_group ? -pid : pid, signal); }
};

Result<Child> start(const ProcessSpec& spec, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, 0);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (errors >= 0) posix_spawn_file_actions_adddup2(&actions, errors, 2);
  // Asio does not mark its sockets close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (!spec.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, spec.directory.c_str());

  // What we ignore or block is our own affair.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  // In a group of its own it could not read from our terminal.
  bool own_group = spec.input != ProcessSpec::Input::inherit;
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  std::vector<std::string> arguments = spec.argv, environment = environment_of(spec);
  pid_t pid = 0;
  int error = posix_spawnp(&pid, spec.argv[0].c_str(), &actions, &attributes, pointers_to(arguments).data(),
                           pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot_start(spec, error);
  return Child{pid, own_group};
}

using Descriptor = asio::posix::stream_descriptor;

// False when it was cancelled.
Task<bool> readable(Descriptor& descriptor) {
  co_return !co_await await_callback<boost::system::error_code>(
      [&](auto done) { descriptor.async_wait(Descriptor::wait_read, std::move(done)); }, [&] { descriptor.cancel(); });
}

// Collects what a pipe brings.
class Collector {
 public:
  enum class Excess { is_too_much, drops_the_oldest };

  Collector(asio::io_context& io, Fd pipe, size_t limit, Excess excess)
      : pipe_(io, pipe.release()), limit_(limit), excess_(excess) {
    pipe_.non_blocking(true);
  }

  // Until the end of the pipe, or cancelled, or it was too much.
  Task<void> run(CancelSource& on_too_much) {
    while (!too_much_ && co_await readable(pipe_)) {
      if (take(kPiece) == Taken::end) break;
    }
    if (too_much_) on_too_much.cancel();
  }

  // What is in the pipe when the program has ended; never waits for others that hold its other end.
  void take_rest() {
    int present = 0;
    if (ioctl(pipe_.native_handle(), FIONREAD, &present) != 0) return;
    for (size_t rest = static_cast<size_t>(present); rest > 0 && !too_much_;) {
      size_t piece = std::min(rest, kPiece);
      if (take(piece) != Taken::some) return;
      rest -= piece;
    }
  }

  bool too_much() const { return too_much_; }
  std::string text() {
    if (text_.size() > limit_) text_.erase(0, text_.size() - limit_);
    return std::move(text_);
  }

 private:
  static constexpr size_t kPiece = size_t{64} << 10;

  enum class Taken { some, nothing_yet, end };

  Taken take(size_t most) {
    char piece[kPiece];
    ssize_t size = read(pipe_.native_handle(), piece, most);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Taken::nothing_yet;
    if (size <= 0) return Taken::end;
    text_.append(piece, static_cast<size_t>(size));
    if (excess_ == Excess::is_too_much) too_much_ = text_.size() > limit_;
    else if (text_.size() > 2 * limit_ + kPiece) text_.erase(0, text_.size() - limit_);
    return Taken::some;
  }

  Descriptor pipe_;
  size_t limit_;
  Excess excess_;
  std::string text_;
  bool too_much_ = false;
};

// Asks, insists, and waits: no cancelling here.
Task<void> end(Loop& loop, const Child& child, Descriptor& ending, Duration grace) {
  child.kill(SIGTERM);
  CancelSource grace_limit;
  Loop::TimerId timer = loop.call_after(grace, [&] { grace_limit.cancel(); });
  bool ended = co_await readable(ending).governed_by(&grace_limit);
  loop.cancel_timer(timer);
  // What is left of its group as well.
  child.kill(SIGKILL);
  CancelSource never;
  if (!ended) (void)co_await readable(ending).governed_by(&never);
}

}  // namespace

std::string ProcessResult::ending() const {
  if (exit_status) return fmt::format("exit status {}", *exit_status);
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

Task<Result<ProcessResult>> run_process(RealLoop& loop, ProcessSpec spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) co_return fail(ErrorKind::invalid, "exec: no executable was given");
  CancelSource give_up(co_await current_cancel());
  if (give_up.cancelled()) co_return fail(cancelled_error());
  struct stat status{};
  if (!spec.directory.empty() && (stat(spec.directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)))
    co_return fail(ErrorKind::not_found, "exec: {} cannot run in {}, which is not a directory", spec.argv[0],
                   spec.directory);

  CO_TRY_ASSIGN(Fd input, input_of(spec));
  CO_TRY_ASSIGN(Pipe output_pipe, make_pipe());
  CO_TRY_ASSIGN(Pipe errors_pipe, make_pipe());
  CO_TRY_ASSIGN(Child child, start(spec, input.get(), spec.inherit_output ? -1 : output_pipe.write.get(),
                                   spec.inherit_errors ? -1 : errors_pipe.write.get()));
  output_pipe.write = Fd();
  errors_pipe.write = Fd();
  input = Fd();

  // Becomes readable when the program has ended, which leaves it to be reaped by us.
  Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)));
  if (!pidfd) {
    int error = errno;
    child.kill(SIGKILL);
    waitpid(child.pid, nullptr, 0);
    co_return system_failure("cannot watch a process", error);
  }
  Descriptor ending(loop.io(), pidfd.release());
  Collector output(loop.io(), std::move(output_pipe.read), spec.max_output, Collector::Excess::is_too_much);
  Collector errors(loop.io(), std::move(errors_pipe.read), spec.max_errors, Collector::Excess::drops_the_oldest);

  // The pipes are read while it is being ended, too: it may have something to say.
  Scope pipes(loop, nullptr);
  pipes.spawn(output.run(give_up));
  pipes.spawn(errors.run(give_up));
  bool ended = co_await readable(ending).governed_by(&give_up);
  if (!ended) co_await end(loop, child, ending, spec.grace);
  pipes.cancel();
  co_await pipes.join();
  output.take_rest();
  errors.take_rest();

  int code = 0;
  while (waitpid(child.pid, &code, 0) < 0) {
    if (errno != EINTR) co_return system_failure("cannot learn how a process ended", errno);
  }
  if (output.too_much())
    co_return fail(ErrorKind::limit, "exec: {} wrote more than {} bytes to its standard output", spec.argv[0],
                   spec.max_output);
  if (!ended) co_return fail(cancelled_error());
  ProcessResult result{.output = output.text(), .errors = errors.text()};
  if (WIFEXITED(code)) result.exit_status = WEXITSTATUS(code);
  else result.signal = WTERMSIG(code);
  co_return result;
}

}  // namespace fairlead
