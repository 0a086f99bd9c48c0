// Text that comes in pieces, as lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace fairlead::cli {

// Calls back with each line as soon as it is whole. A carriage return ends a line as well, as progress bars have it.
class Lines {
 public:
  explicit Lines(std::function<void(std::string_view line)> on_line) : on_line_(std::move(on_line)) {}

  void add(std::string_view piece);
  // The last line may not be whole.
  void finish();

 private:
  std::function<void(std::string_view line)> on_line_;
  std::string rest_;
};

}  // namespace fairlead::cli
