// For the tests of this room: a stream that keeps its text, and events.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "journal/journal.h"

namespace fairlead::report {

class Stream {
 public:
  Stream() : file_(::open_memstream(&text_, &size_)) {}
  ~Stream() {
    std::fclose(file_);
    std::free(text_);  // NOLINT: the stream allocates it so
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::FILE* file() const { return file_; }
  std::string text() const {
    std::fflush(file_);
    return std::string(text_, size_);
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

inline object::Key key_of(std::string kind, std::string ns, std::string name) {
  return {.group = "", .kind = std::move(kind), .ns = std::move(ns), .name = std::move(name)};
}

inline journal::Event event_at(Duration at, journal::EventKind kind, object::Key key, std::string state = "",
                               std::string text = "") {
  journal::Event event{.kind = kind, .state = std::move(state), .text = std::move(text)};
  event.at = at;
  event.key = std::move(key);
  return event;
}

}  // namespace fairlead::report
