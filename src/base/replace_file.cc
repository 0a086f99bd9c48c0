#include "base/replace_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace fairlead {
namespace {

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t size = ::write(descriptor, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    text.remove_prefix(size_t(size));
  }
  // A machine that goes down must not leave an empty file under the right name.
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

int replace_file(const std::string& link, std::string_view text) {
  std::string path = follow_links(link);
  std::string draft = path + ".XXXXXX";
  int descriptor = ::mkstemp(draft.data());
  if (descriptor < 0) return errno;
  int failure = write_all(descriptor, text);
  ::close(descriptor);
  if (failure == 0 && ::rename(draft.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) ::unlink(draft.c_str());
  return failure;
}

}  // namespace fairlead
