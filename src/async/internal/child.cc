#include "async/internal/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "async/scope.h"

namespace fairlead {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::unexpected<Error> cannot_start(const StartSpec& spec, int error) {
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

}  // namespace

std::unexpected<Error> system_failure(const std::string& what, int error) {
  return fail(ErrorKind::internal, "{}: {}", what, std::strerror(error));
}

Result<Pipe> make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return system_failure("cannot make a pipe", errno);
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

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

void Child::kill(int signal) const { ::kill(own_group ? -pid : pid, signal); }

Result<Child> start(StartSpec spec) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (spec.input >= 0) posix_spawn_file_actions_adddup2(&actions, spec.input, 0);
  if (spec.output >= 0) posix_spawn_file_actions_adddup2(&actions, spec.output, 1);
  if (spec.errors >= 0) posix_spawn_file_actions_adddup2(&actions, spec.errors, 2);
  // Asio does not mark its sockets close-on-exec.
  if (spec.kept >= 0) posix_spawn_file_actions_adddup2(&actions, spec.kept, 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, spec.kept >= 0 ? 4 : 3);
  if (!spec.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, spec.directory.c_str());

  // What we ignore or block is our own affair.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : spec.heeded) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (spec.own_group ? POSIX_SPAWN_SETPGROUP : 0);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  std::vector<std::string> arguments = spec.argv;
  pid_t pid = 0;
  int error = posix_spawnp(&pid, spec.argv[0].c_str(), &actions, &attributes, pointers_to(arguments).data(),
                           pointers_to(spec.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot_start(spec, error);
  return Child{pid, spec.own_group};
}

Result<Fd> watch_end(const Child& child) {
  Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)));
  if (pidfd) return pidfd;
  int error = errno;
  child.kill(SIGKILL);
  waitpid(child.pid, nullptr, 0);
  return system_failure("cannot watch a process", error);
}

Result<int> reap(const Child& child) {
  int code = 0;
  while (waitpid(child.pid, &code, 0) < 0)
    if (errno != EINTR) return system_failure("cannot learn how a process ended", errno);
  return code;
}

Task<bool> readable(Descriptor& descriptor) {
  co_return !co_await await_callback<boost::system::error_code>(
      [&](auto done) { descriptor.async_wait(Descriptor::wait_read, std::move(done)); }, [&] { descriptor.cancel(); });
}

Task<void> end(Loop& loop, const Child& child, Descriptor& ending, Duration grace) {
  child.kill(SIGTERM);
  CancelSource grace_limit;
  Loop::TimerId timer = loop.call_after(grace, [&] { grace_limit.cancel(); });
  bool ended = co_await readable(ending).governed_by(&grace_limit);
  loop.cancel_timer(timer);
  // What is left of its group as well.
  child.kill(SIGKILL);
  if (!ended) (void)co_await readable(ending).uncancelled();
}

}  // namespace fairlead
