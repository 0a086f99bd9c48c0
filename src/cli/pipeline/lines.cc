#include "cli/pipeline/lines.h"

#include <utility>

namespace fairlead::cli {
namespace {

// What has no end becomes several lines.
constexpr size_t kLongest = size_t{64} << 10;

}  // namespace

void Lines::add(std::string_view piece) {
  for (char c : piece) {
    bool is_end = c == '\n' || c == '\r';
    if (!is_end) rest_ += c;
    if (is_end || rest_.size() >= kLongest) finish();
  }
}

void Lines::finish() {
  if (std::string line = std::exchange(rest_, {}); !line.empty()) on_line_(line);
}

}  // namespace fairlead::cli
