#include "lease/record.h"

#include <algorithm>

#include "base/plain_text.h"

namespace fairlead::lease {
namespace {

constexpr size_t kShownHolder = 200;
// The type of the field is int32.
constexpr int64_t kMostSeconds = INT32_MAX;

}  // namespace

Record Record::parse(const Json& lease) {
  const Json& spec = lease["spec"];
  Record record{.holder = std::string(spec["holderIdentity"].string_or("")),
                .duration = std::nullopt,
                .acquired = std::string(spec["acquireTime"].string_or("")),
                .renewed = std::string(spec["renewTime"].string_or("")),
                .transitions = spec["leaseTransitions"].int_or(0)};
  if (int64_t seconds = spec["leaseDurationSeconds"].int_or(0); seconds > 0)
    record.duration = std::chrono::seconds(std::min(seconds, kMostSeconds));
  return record;
}

void Record::write_to(Json& lease) const {
  Json& spec = lease.make("spec");
  spec.make("holderIdentity") = holder;
  int64_t seconds = std::chrono::floor<std::chrono::seconds>(duration.value_or(kDuration)).count();
  spec.make("leaseDurationSeconds") = std::clamp<int64_t>(seconds, 1, kMostSeconds);
  spec.make("acquireTime") = acquired;
  spec.make("renewTime") = renewed;
  spec.make("leaseTransitions") = transitions;
}

std::string Record::shown_holder() const { return plain_text(holder, kShownHolder); }

object::Resource leases() {
  return {.group = "coordination.k8s.io",
          .version = "v1",
          .kind = "Lease",
          .plural = "leases",
          .singular = "lease",
          .namespaced = true};
}

}  // namespace fairlead::lease
