// Finds the position of a path while a document is read event by event.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "yaml/yaml.h"

namespace fairlead::yaml {

class PathFinder {
 public:
  // Looks below the first object that starts at line `start`.
  PathFinder(size_t start, std::span<const Step> path) : start_(start), path_(path) {}

  // What is read, in order.
  void begin(bool object, Position at);
  void key(std::string_view key, Position at);
  void scalar(Position at);
  void end();

  // Nothing that is still to be read can change the answer.
  bool done() const { return done_; }
  std::optional<Position> position() const { return position_; }

 private:
  struct Open {
    bool is_object = false;
    bool on_path = false;
    size_t index = 0;
  };

  // A value starts in the innermost open object or array; whether the path goes through it.
  bool enter(Position at);

  size_t start_;
  std::span<const Step> path_;
  std::vector<Open> open_;
  size_t matched_ = 0;
  bool started_ = false;
  bool key_matches_ = false;
  Position key_at_;
  bool done_ = false;
  std::optional<Position> position_;
};

}  // namespace fairlead::yaml
