#include "kube/config/surroundings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace fairlead::kube {
namespace {

constexpr size_t kMaxFile = size_t{16} << 20;

// Without streams, because those do not tell a folder from an empty file, and can hang on a pipe.
Result<std::string> read_whole_file(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(errno == ENOENT || errno == ENOTDIR ? ErrorKind::not_found : ErrorKind::invalid, "{}",
                std::strerror(errno));
  auto close = [](int* open) { ::close(*open); };
  std::unique_ptr<int, decltype(close)> closer(&descriptor, close);
  struct stat info{};
  if (::fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) return fail(ErrorKind::invalid, "it is a folder");
  std::string text;
  char piece[16384];
  while (true) {
    ssize_t got = ::read(descriptor, piece, sizeof piece);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorKind::invalid, "{}", std::strerror(errno));
    if (text.size() + static_cast<size_t>(got) > kMaxFile) return fail(ErrorKind::limit, "it has more than 16 MiB");
    text.append(piece, static_cast<size_t>(got));
  }
}

}  // namespace

Surroundings Surroundings::real() {
  Surroundings real;
  real.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  real.read_file = read_whole_file;
  real.now = [] { return RealClock().wall_now(); };
  return real;
}

}  // namespace fairlead::kube
