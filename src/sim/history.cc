#include "sim/history.h"

#include <fmt/format.h>

namespace fairlead::sim {

bool History::happens(std::string_view source, uint64_t number) {
  Happening happening{std::string(source), number};
  if (spared_.contains(happening)) return false;
  happenings_.push_back(std::move(happening));
  return true;
}

bool History::step(std::string_view source, uint64_t number) { return happens(source, number); }

bool History::fault(std::string_view source, uint64_t number) {
  if (healed_ || !happens(source, number)) return false;
  ++faults_;
  return true;
}

void History::append(std::string_view who, std::string_view what) {
  auto since = loop_.now().time_since_epoch();
  fmt::format_to(std::back_inserter(text_), "{:>8.3f}s  {:<11} {}\n", std::chrono::duration<double>(since).count(), who,
                 what);
}

}  // namespace fairlead::sim
