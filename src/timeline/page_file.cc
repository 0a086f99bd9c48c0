#include "timeline/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace fairlead::timeline {
namespace {

Error cannot_be_written(const std::string& path, std::string why) {
  return Error(ErrorKind::invalid, fmt::format("the timeline {} cannot be written", path)).because(std::move(why));
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(size_t(written));
  }
  return true;
}

}  // namespace

Result<void> check_page_file(const std::string& path) {
  if (path.empty() || path.back() == '/') return fail(cannot_be_written(path, "it is not the name of a file"));
  struct stat there = {};
  if (::lstat(path.c_str(), &there) == 0) {
    if (S_ISDIR(there.st_mode)) return fail(cannot_be_written(path, "it is a folder"));
    if (S_ISLNK(there.st_mode)) return fail(cannot_be_written(path, "it is a symbolic link, which is not followed"));
    if (!S_ISREG(there.st_mode)) return fail(cannot_be_written(path, "it is not a regular file"));
  } else if (errno != ENOENT) {
    return fail(cannot_be_written(path, std::strerror(errno)));
  }
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0)
    return fail(cannot_be_written(path, fmt::format("its folder: {}", std::strerror(errno))));
  return {};
}

Result<void> write_page_file(const std::string& path, std::string_view page) {
  TRY(check_page_file(path));
  std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  // Left by a process of the same number that was killed.
  (void)::unlink(temporary.c_str());
  int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return fail(cannot_be_written(path, std::strerror(errno)));
  std::optional<int> trouble;
  if (!write_all(descriptor, page)) trouble = errno;
  if (::close(descriptor) != 0 && !trouble) trouble = errno;
  if (!trouble && ::rename(temporary.c_str(), path.c_str()) != 0) trouble = errno;
  if (!trouble) return {};
  (void)::unlink(temporary.c_str());
  return fail(cannot_be_written(path, std::strerror(*trouble)));
}

}  // namespace fairlead::timeline
