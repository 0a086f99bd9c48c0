// What the gate counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace fairlead::gate {

// What became of a request.
enum class Decided {
  allowed,   // no webhook that is awaited is in its way
  waited,    // it was held until the webhooks worked
  refused,   // 429: the client comes again
  spent,     // let through after the patience was used up
  unproved,  // let through after a moment, because nothing could be proved
  malformed,
};
inline constexpr size_t kDecisions = 6;
std::string_view name_of(Decided decided);

struct Counts {
  std::array<uint64_t, kDecisions> decided{};
  // By the name of the webhook that was waited for: names of webhooks of the cluster, so there are not many.
  struct PerHook {
    uint64_t held = 0;
    uint64_t refused = 0;
    uint64_t spent = 0;
    Duration waited{};
  };
  std::map<std::string, PerHook> hooks;

  uint64_t operator[](Decided what) const { return decided[static_cast<size_t>(what)]; }
};

// In the text format 0.0.4.
std::string text_of(const Counts& counts, size_t held);
// A value of a label.
std::string label_text(std::string_view text);

}  // namespace fairlead::gate
