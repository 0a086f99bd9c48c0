// The claim of the run that is working on a bundle. The run writes it, renews it while it is alive, and removes it at
// its end. Pure.
//
// Other runs decide whether the holder is still alive by watching the claim with their own monotonic clock: if the
// claim does not change for the time that it promises (its lease), the holder is dead. Clocks differ between machines,
// so timestamps in a claim are for people to read. They count only if they are so old that no clock can be wrong by
// that much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace fairlead::inventory {

// The lease of a claim, unless it says otherwise.
inline constexpr Duration kLease = std::chrono::seconds(30);

struct Claim {
  // For people, for example "ann@laptop, process 4711".
  std::string holder;
  // For programs: identifies the process (inventory/holder.h). Empty if that is not known.
  std::string origin;
  // RFC 3339 timestamps in microseconds.
  std::string since;
  std::string renewed;
  int64_t renewals = 0;
  // The holder renews the claim at least this often, or counts as dead.
  Duration lease = kLease;

  // True if both claims are of the same run. The name of the holder alone may occur again.
  bool same_run(const Claim& other) const {
    return holder == other.holder && origin == other.origin && since == other.since;
  }

  // Reads a claim. The text may be hostile, so every part is limited in size. A text that cannot be parsed still is a
  // claim, of an unknown holder.
  static Claim parse(std::string_view text);
  std::string dump() const;

  bool operator==(const Claim&) const = default;
};

// Decides whether the holder of a claim is alive by watching the claim.
class ClaimWatch {
 public:
  enum class Verdict { unknown, alive, dead };

  // Takes the claim as it was read at `now`. Times must not go back. Returns `alive` once the claim has changed, `dead`
  // once its lease is over or its timestamps are very old, and `unknown` before that.
  Verdict see(const Claim& claim, TimePoint now, WallTime wall_now);
  // The time when the holder will count as dead if the claim does not change. Requires a call of see().
  TimePoint dies() const { return seen_ + (first_ ? first_->lease : Duration()); }

 private:
  std::optional<Claim> first_;
  TimePoint seen_{};
};

}  // namespace fairlead::inventory
