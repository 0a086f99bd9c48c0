#include "yaml/internal/path_finder.h"

namespace fairlead::yaml {

bool PathFinder::enter(Position at) {
  if (open_.empty() || !open_.back().on_path) return false;
  Open& parent = open_.back();
  const Step& step = path_[matched_];
  if (parent.is_object) {
    if (!key_matches_) return false;
    at = key_at_;
  } else {
    const size_t* index = std::get_if<size_t>(&step);
    if (!index || *index != parent.index++) return false;
  }
  position_ = at;
  // The parent has nothing else to offer.
  parent.on_path = false;
  if (++matched_ == path_.size()) done_ = true;
  return true;
}

void PathFinder::begin(bool object, Position at) {
  if (done_) return;
  bool on_path = enter(at);
  if (!started_ && object && at.line == start_) {
    started_ = on_path = true;
    position_ = at;
    done_ = path_.empty();
  }
  open_.push_back({.is_object = object, .on_path = on_path});
}

void PathFinder::key(std::string_view key, Position at) {
  if (done_ || open_.empty() || !open_.back().on_path) return;
  const std::string* wanted = std::get_if<std::string>(&path_[matched_]);
  key_matches_ = wanted && *wanted == key;
  key_at_ = at;
}

void PathFinder::scalar(Position at) {
  if (done_) return;
  // The path ends here, whether all of it was found or not.
  if (enter(at)) done_ = true;
}

void PathFinder::end() {
  if (done_ || open_.empty()) return;
  if (open_.back().on_path) done_ = true;
  open_.pop_back();
}

}  // namespace fairlead::yaml
