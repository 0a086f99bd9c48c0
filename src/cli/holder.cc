#include "cli/holder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace fairlead::cli {
namespace {

std::string host_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return host;
}

}  // namespace

std::string own_holder() {
  const char* user = std::getenv("USER");
  return fmt::format("{}@{}, process {}", user ? user : "somebody", host_name(), ::getpid());
}

bool is_gone(std::string_view holder) {
  std::string here = fmt::format("@{}, process ", host_name());
  size_t at = holder.find(here);
  if (at == std::string_view::npos) return false;
  pid_t process = std::atoi(std::string(holder.substr(at + here.size())).c_str());
  return process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace fairlead::cli
