#include "kube/config/timeout_text.h"

#include <charconv>
#include <utility>

namespace fairlead::kube {
namespace {

// The longest first where one begins like another.
constexpr std::pair<std::string_view, double> kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3},
                                                          {"s", 1},     {"m", 60},    {"h", 3600}};
constexpr double kMaxSeconds = 3600.0 * 24 * 365;

}  // namespace

Result<Duration> parse_timeout(std::string_view text) {
  auto bad = [&] {
    return fail(
        Error(ErrorKind::invalid, fmt::format("\"{}\" is not a duration", text)).next("write it like 30s, 1m30s or 0"));
  };
  auto from_seconds = [](double seconds) { return Duration(static_cast<int64_t>(seconds * 1e9)); };
  std::string_view rest = text;
  if (rest.empty() || rest.size() > 64) return bad();
  double total = 0;
  bool has_unit = false;
  while (!rest.empty()) {
    double number = 0;
    if (rest.front() < '0' || rest.front() > '9') return bad();
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return bad();
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    double unit = 0;
    for (auto [name, seconds] : kUnits) {
      if (!rest.starts_with(name)) continue;
      unit = seconds;
      rest.remove_prefix(name.size());
      break;
    }
    bool plain_seconds = unit == 0 && rest.empty() && !has_unit && !text.contains('.');
    if (unit == 0 && !plain_seconds) return bad();
    has_unit = true;
    total += number * (plain_seconds ? 1 : unit);
    if (total > kMaxSeconds) return bad();
  }
  return from_seconds(total);
}

}  // namespace fairlead::kube
