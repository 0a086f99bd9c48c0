// What a Lease of coordination.k8s.io/v1 says: who holds it, for how long at a time, and since when. Pure.
//
// The timestamps are for people. Clocks differ between machines, so whether a holder is still there is decided by how
// long the record has not changed, on the clock of whoever watches it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "object/resource.h"

namespace fairlead::lease {

// What a holder promises unless it is told otherwise, and how often it then renews.
inline constexpr Duration kDuration = std::chrono::seconds(30);
inline constexpr Duration kRenewEvery = std::chrono::seconds(10);
// The Lease that the operator of a namespace holds there, unless it is told another name.
inline constexpr std::string_view kNamespaceLock = "dynamo-operator-ns-lock";

struct Record {
  // As it is stored, for comparisons; empty if nobody holds the Lease.
  std::string holder;
  // Nothing if the Lease does not say, or says something senseless.
  std::optional<Duration> duration;
  // RFC 3339, in microseconds, as they are stored.
  std::string acquired;
  std::string renewed;
  int64_t transitions = 0;

  // The whole object. Its content may be hostile: what has the wrong type counts as missing.
  static Record parse(const Json& lease);
  // Puts the record into an object, beside the fields that are there already. Durations are whole seconds, at least 1.
  void write_to(Json& lease) const;

  // For logs and messages: one line, of bounded length.
  std::string shown_holder() const;

  bool operator==(const Record&) const = default;
};

object::Resource leases();

}  // namespace fairlead::lease
