#include "kube/faults/internal/retry_after.h"

#include <algorithm>
#include <charconv>

namespace fairlead::kube {
namespace {

constexpr std::chrono::seconds kLongest = std::chrono::hours(1);

Duration limited(int64_t seconds) { return std::min(std::chrono::seconds(seconds), kLongest); }

}  // namespace

std::optional<Duration> retry_after_of(const Json& status) {
  int64_t seconds = status["details"]["retryAfterSeconds"].int_or(0);
  if (seconds <= 0) return std::nullopt;
  return limited(seconds);
}

std::optional<Duration> retry_after_of(const http::Headers& headers) {
  std::optional<std::string_view> text = headers.find("Retry-After");
  if (!text) return std::nullopt;
  int64_t seconds = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() || seconds < 0) return std::nullopt;
  return limited(seconds);
}

}  // namespace fairlead::kube
