// Who is at work on a bundle: a record that a run writes, renews while it lives, and takes away at its end. Pure.
//
// Whether a run is still alive is judged by watching its record with our own clock that never goes back: one that does
// not change for as long as it promised to is dead. Times that others wrote are for people to read, since clocks
// differ; they count only where they are so old that no clock can be wrong by that much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace fairlead::inventory {

struct Claim {
  // For people: "ann@laptop, process 4711"
  std::string holder;
  // For machines: what tells the process from all others (cli/holder.h). Empty if that is not known.
  std::string origin;
  // As RFC 3339 has it, to the microsecond.
  std::string since;
  std::string renewed;
  int64_t renewals = 0;
  // The holder renews within this, or is dead.
  Duration lease = std::chrono::seconds(30);

  // Of the same run: a holder's name alone can come again.
  bool same_run(const Claim& other) const {
    return holder == other.holder && origin == other.origin && since == other.since;
  }

  // What cannot be read is a claim all the same, of somebody who is not known. Limited, since all of it is hostile.
  static Claim parse(std::string_view text);
  std::string dump() const;

  bool operator==(const Claim&) const = default;
};

// Judges another's claim by watching it.
class ClaimWatch {
 public:
  enum class Verdict { unknown, alive, dead };

  // The claim as it was read at that time. Times must not go back.
  Verdict see(const Claim& claim, TimePoint now, WallTime wall_now);
  // When it will be dead if nothing changes.
  TimePoint dies() const { return seen_ + (first_ ? first_->lease : Duration()); }

 private:
  std::optional<Claim> first_;
  TimePoint seen_{};
};

std::string dump_micro_time(WallTime time);

}  // namespace fairlead::inventory
