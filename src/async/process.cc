#include "async/process.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "async/internal/child.h"
#include "async/process_listening.h"
#include "async/scope.h"

namespace fairlead {
namespace {

namespace asio = boost::asio;

Result<Fd> input_of(const ProcessSpec& spec) {
  switch (spec.input) {
    case ProcessSpec::Input::inherit: return Fd();
    case ProcessSpec::Input::text: return file_with(spec.input_text);
    case ProcessSpec::Input::null: break;
  }
  Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  // A root folder with a static binary need not have devices: an empty file serves as well.
  if (!null && errno == ENOENT) return file_with("");
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

// Collects what a pipe brings.
class Collector {
 public:
  enum class Excess { is_too_much, drops_the_oldest };

  using Listener = std::function<void(std::string_view piece)>;

  Collector(asio::io_context& io, Fd pipe, size_t limit, Excess excess, Listener listener)
      : pipe_(io, pipe.release()), limit_(limit), excess_(excess), listener_(std::move(listener)) {
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
    if (listener_) listener_(std::string_view(piece, static_cast<size_t>(size)));
    text_.append(piece, static_cast<size_t>(size));
    if (excess_ == Excess::is_too_much) too_much_ = text_.size() > limit_;
    else if (text_.size() > 2 * limit_ + kPiece) text_.erase(0, text_.size() - limit_);
    return Taken::some;
  }

  Descriptor pipe_;
  size_t limit_;
  Excess excess_;
  Listener listener_;
  std::string text_;
  bool too_much_ = false;
};

}  // namespace

std::string ProcessResult::ending() const {
  if (exit_status) return fmt::format("exit status {}", *exit_status);
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

Task<Result<ProcessResult>> run_process(RealLoop& loop, ProcessSpec spec) {
  return run_listening(loop, std::move(spec), {});
}

Task<Result<ProcessResult>> run_listening(RealLoop& loop, ProcessSpec spec, ProcessListener listener) {
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
  CO_TRY_ASSIGN(Child child, start({.argv = spec.argv,
                                    .environment = environment_of(spec),
                                    .directory = spec.directory,
                                    .own_group = spec.input != ProcessSpec::Input::inherit,
                                    .input = input.get(),
                                    .output = spec.inherit_output ? -1 : output_pipe.write.get(),
                                    .errors = spec.inherit_errors ? -1 : errors_pipe.write.get(),
                                    .kept = spec.kept_descriptor,
                                    .heeded = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD}}));
  output_pipe.write = Fd();
  errors_pipe.write = Fd();
  input = Fd();

  CO_TRY_ASSIGN(Fd pidfd, watch_end(child));
  Descriptor ending(loop.io(), pidfd.release());
  auto excess = listener.on_output ? Collector::Excess::drops_the_oldest : Collector::Excess::is_too_much;
  Collector output(loop.io(), std::move(output_pipe.read), spec.max_output, excess, listener.on_output);
  Collector errors(loop.io(), std::move(errors_pipe.read), spec.max_errors, Collector::Excess::drops_the_oldest,
                   listener.on_errors);

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

  CO_TRY_ASSIGN(int code, reap(child));
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
