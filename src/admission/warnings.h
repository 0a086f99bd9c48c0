// The warnings of a request, cut as the API server cuts them before they become Warning headers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::admission {

class Warnings {
 public:
  // Empty ones, repeated ones, and ones with control characters or bad UTF-8 are dropped. Past 4096 characters in all,
  // each is cut to 256, and what comes after that is dropped.
  void add(std::string_view text);

  const std::vector<std::string>& texts() const { return texts_; }
  // `299 - "text"`
  static std::string header(std::string_view text);

 private:
  void write(std::string_view text);

  std::vector<std::string> seen_;
  std::vector<std::string> texts_;
  size_t written_ = 0;
  bool cutting_ = false;
};

}  // namespace fairlead::admission
