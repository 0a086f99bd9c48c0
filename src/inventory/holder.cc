#include "inventory/holder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>

namespace fairlead::inventory {
namespace {

std::string host_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return host;
}

// Empty if it cannot be read.
std::string link_text(const char* path) {
  char text[256];
  ssize_t length = ::readlink(path, text, sizeof text);
  return length <= 0 ? std::string() : std::string(text, size_t(length));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// In clock ticks since the boot; empty if it cannot be read.
std::string start_time(pid_t process) {
  std::string stat = first_line(fmt::format("/proc/{}/stat", process));
  // The second field is the command in parentheses, which may have any character. The start time is field 22.
  size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream fields(stat.substr(end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    if (!(fields >> field)) return {};
  return field;
}

// What has to be the same for two processes to see the same process numbers and start times; empty if it is not known.
std::string place() {
  // A /proc of another PID namespace numbers processes in another way.
  if (link_text("/proc/self") != std::to_string(::getpid())) return {};
  std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  std::string processes = link_text("/proc/self/ns/pid");
  if (boot.empty() || processes.empty()) return {};
  // Start times are shifted in a time namespace. Older kernels have none.
  return fmt::format("{} {} {}", boot, processes, link_text("/proc/self/ns/time"));
}

bool has_ended(pid_t process, std::string_view started) {
  if (::kill(process, 0) != 0 && errno == ESRCH) return true;
  // Another process may have the number by now.
  std::string now = start_time(process);
  return !now.empty() && now != started;
}

// FNV-1a: short enough for a name, and the same in every version of this program.
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash;
}

// The whole text, in hexadecimal.
std::optional<uint64_t> hex_number(std::string_view text) {
  uint64_t value = 0;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The text up to the next dash, which is taken off.
std::string_view next_part(std::string_view& text) {
  size_t dash = std::min(text.find('-'), text.size());
  std::string_view part = text.substr(0, dash);
  text.remove_prefix(std::min(dash + 1, text.size()));
  return part;
}

}  // namespace

std::string own_holder() {
  const char* user = std::getenv("USER");
  return fmt::format("{}@{}, process {}", user ? user : "somebody", host_name(), ::getpid());
}

std::string origin_of(pid_t process) {
  std::string where = place(), started = start_time(process);
  return where.empty() || started.empty() ? std::string() : fmt::format("{} {} {}", where, process, started);
}

bool is_gone(std::string_view origin) {
  std::string here = place();
  if (here.empty() || !origin.starts_with(here + " ")) return false;
  std::string_view rest = origin.substr(here.size() + 1);
  size_t space = rest.find(' ');
  pid_t process = 0;
  auto [end, wrong] = std::from_chars(rest.data(), rest.data() + std::min(space, rest.size()), process);
  if (space == std::string_view::npos || wrong != std::errc() || end != rest.data() + space || process <= 0)
    return false;
  return has_ended(process, rest.substr(space + 1));
}

std::string run_of(pid_t process) {
  std::random_device device;
  std::string where = place(), started = start_time(process);
  if (where.empty() || started.empty()) return fmt::format("{:08x}{:08x}", device(), device());
  // The last part tells machines apart that are copies of one that was running.
  return fmt::format("{:x}-{:x}-{:08x}-{:04x}", process, std::stoull(started), hash_of(where), device() & 0xffff);
}

bool is_gone_run(std::string_view run) {
  std::optional<uint64_t> process = hex_number(next_part(run)), started = hex_number(next_part(run)),
                          where = hex_number(next_part(run));
  std::string here = place();
  if (!process || !started || !where || run.empty() || here.empty() || *where != hash_of(here)) return false;
  if (*process == 0 || *process > uint64_t(std::numeric_limits<pid_t>::max())) return false;
  return has_ended(pid_t(*process), std::to_string(*started));
}

}  // namespace fairlead::inventory
