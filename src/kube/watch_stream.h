// The lines of a watch, as they arrive in pieces, into events. All of it is hostile: a line has a limit, and what is no
// event is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::kube {

class WatchStream {
 public:
  struct Event {
    enum class Type { added, modified, deleted, bookmark, error };
    Type type;
    Json object;
  };

  static constexpr size_t kMaxLine = size_t{32} << 20;
  explicit WatchStream(size_t max_line = kMaxLine) : max_line_(max_line) {}

  void feed(std::string_view piece);
  // The next whole event; nothing until more is fed. After an error there is nothing to be had any more.
  Result<std::optional<Event>> next();

 private:
  size_t max_line_;
  std::string buffer_;
  size_t start_ = 0;    // of the line that comes next
  size_t scanned_ = 0;  // no line break before this
  bool broken_ = false;
};

}  // namespace fairlead::kube
