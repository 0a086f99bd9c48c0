#include "pipeline/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/printable.h"
#include "base/replace_file.h"
#include "pipeline/read.h"

namespace fairlead::pipeline {
namespace {

constexpr size_t kLongestHolder = 200;

std::unexpected<Error> cannot_write(const std::string& path, int number) {
  return fail(Error(ErrorKind::invalid, fmt::format("the state {} cannot be written", path))
                  .because(std::strerror(number))
                  .next("--state FILE keeps it elsewhere"));
}

// One per file, whatever links lead to it.
std::string lock_path(const std::string& state_path) { return follow_links(state_path) + ".lock"; }

// What to do about a state that cannot be used.
std::vector<Error> with_way_out(std::vector<Error> errors, const std::string& path) {
  for (Error& error : errors)
    if (error.next().empty())
      error = std::move(error).next(
          fmt::format("rm {0} begins again from the first phase, --state FILE keeps the state elsewhere", path));
  return errors;
}

// A lock of the whole file. It belongs to the open file, so that it ends with the process.
bool lock(int descriptor) {
  struct flock whole{.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return ::fcntl(descriptor, F_OFD_SETLK, &whole) == 0;
}

bool is_locked(int descriptor) {
  struct flock whole{.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return ::fcntl(descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

std::string read_holder(int descriptor) {
  char text[kLongestHolder];
  ssize_t size = ::pread(descriptor, text, sizeof text, 0);
  return size > 0 ? printable_line(std::string_view(text, size_t(size))) : "another process";
}

// True if the descriptor is of the file that has the path now: the one before may have been removed.
bool is_current(int descriptor, const std::string& path) {
  struct stat own{}, named{};
  return ::fstat(descriptor, &own) == 0 && ::stat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
         own.st_dev == named.st_dev;
}

}  // namespace

std::expected<std::optional<State>, std::vector<Error>> read_state(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  std::error_code ignored;
  bool is_pipe = !std::filesystem::is_directory(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  // Reading a pipe would wait for somebody who writes.
  if (is_pipe)
    return std::unexpected(
        std::vector{Error(ErrorKind::invalid, fmt::format("the state {} is not a regular file", path))
                        .next("--state FILE keeps it elsewhere")});
  Result<std::string> text = read_file(path);
  if (!text && text.error().kind() == ErrorKind::not_found)
    return std::unexpected(std::vector{Error(ErrorKind::invalid, fmt::format("the state {} cannot be read", path))
                                           .because(text.error().cause()->what())
                                           .next("--state FILE keeps it elsewhere")});
  if (!text) return std::unexpected(with_way_out({text.error()}, path));
  auto state = State::parse(*text, path);
  if (!state) return std::unexpected(with_way_out(std::move(state).error(), path));
  return *std::move(state);
}

Result<void> write_state(const State& state, const std::string& path) {
  int failure = replace_file(path, state.text());
  if (failure != 0) return cannot_write(path, failure);
  return {};
}

Result<std::unique_ptr<StateLock>> StateLock::acquire(const std::string& state_path, std::string_view holder) {
  std::string path = lock_path(state_path);
  while (true) {
    int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) return cannot_write(path, errno);
    if (!lock(descriptor)) {
      std::string other = read_holder(descriptor);
      ::close(descriptor);
      return fail(Error(ErrorKind::denied, "another run of this pipeline is active")
                      .because(fmt::format("{} holds {}", other, path))
                      .next("wait until it and the commands that it has started have ended, or give --state FILE if it "
                            "is a run of another kind"));
    }
    if (!is_current(descriptor, path)) {
      ::close(descriptor);
      continue;
    }
    std::unique_ptr<StateLock> held(new StateLock(path, descriptor));
    bool is_written = ::ftruncate(descriptor, 0) == 0 &&
                      ::pwrite(descriptor, holder.data(), std::min(holder.size(), kLongestHolder), 0) >= 0;
    if (!is_written) return cannot_write(path, errno);
    return held;
  }
}

std::optional<std::string> StateLock::holder_of(const std::string& state_path) {
  int descriptor = ::open(lock_path(state_path).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> holder;
  if (is_locked(descriptor)) holder = read_holder(descriptor);
  ::close(descriptor);
  return holder;
}

StateLock::~StateLock() {
  // While it is still held: nobody else can have it, and who opened it meanwhile notices that it is gone.
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace fairlead::pipeline
