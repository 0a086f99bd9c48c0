// What happens in a run: the faults, the steps of the workload, and what everybody said meanwhile.
//
// Everything that chance adds to a run asks here first, by the name of its source and a number of its own. So a run can
// be made shorter by sparing things one by one, while the others stay what they are.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop.h"

namespace fairlead::sim {

struct Happening {
  std::string source;  // "writer-1", "restart"
  uint64_t number = 0;
  auto operator<=>(const Happening&) const = default;
};
using Spared = std::set<Happening>;

class History {
 public:
  // The loop must outlive it. Lines are kept only if somebody wants to read them: they cost more than the run.
  History(const Loop& loop, Spared spared, bool keep_lines)
      : loop_(loop), spared_(std::move(spared)), keep_lines_(keep_lines) {}

  // Whether this step of the workload is done.
  bool step(std::string_view source, uint64_t number);
  // Whether this fault happens: not if it is spared, nor once the run is healed.
  bool fault(std::string_view source, uint64_t number);
  void heal() { healed_ = true; }
  bool healed() const { return healed_; }

  // `line` is a function that gives the text.
  template <class Line>
  void note(std::string_view who, Line line) {
    if (keep_lines_) append(who, line());
  }

  const std::vector<Happening>& happenings() const { return happenings_; }
  size_t faults() const { return faults_; }
  // One line each: the time, who, what.
  const std::string& text() const { return text_; }

 private:
  bool happens(std::string_view source, uint64_t number);
  void append(std::string_view who, std::string_view what);

  const Loop& loop_;
  Spared spared_;
  bool keep_lines_;
  bool healed_ = false;
  size_t faults_ = 0;
  std::vector<Happening> happenings_;
  std::string text_;
};

}  // namespace fairlead::sim
