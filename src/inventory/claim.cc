#include "inventory/claim.h"

#include "base/plain_text.h"
#include "base/timestamp.h"

namespace fairlead::inventory {
namespace {

constexpr size_t kMaxHolder = 200;
constexpr size_t kMaxOrigin = 200;
constexpr size_t kMaxTime = 40;
constexpr auto kLongestLease = std::chrono::minutes(10);
// Clocks are assumed to be wrong by less than this.
constexpr auto kLongExpired = std::chrono::hours(1);

}  // namespace

Claim Claim::parse(std::string_view text) {
  Claim claim{.holder = "an unknown user"};
  Result<Json> json = Json::parse(text, {.bytes = 4096, .depth = 4});
  if (!json) return claim;
  if (std::string_view holder = (*json)["holder"].string_or(""); !holder.empty())
    claim.holder = plain_text(holder, kMaxHolder);
  claim.origin = plain_text((*json)["origin"].string_or(""), kMaxOrigin);
  claim.since = plain_text((*json)["since"].string_or(""), kMaxTime);
  claim.renewed = plain_text((*json)["renewed"].string_or(""), kMaxTime);
  claim.renewals = (*json)["renewals"].int_or(0);
  if (int64_t milliseconds = (*json)["leaseMilliseconds"].int_or(0); milliseconds > 0)
    claim.lease =
        std::chrono::milliseconds(std::min<int64_t>(milliseconds, std::chrono::milliseconds(kLongestLease).count()));
  return claim;
}

std::string Claim::dump() const {
  Json::Object claim{{"holder", holder}};
  if (!origin.empty()) claim.append("origin", origin);
  claim.append("since", since);
  claim.append("renewed", renewed);
  claim.append("renewals", renewals);
  claim.append("leaseMilliseconds", std::chrono::duration_cast<std::chrono::milliseconds>(lease).count());
  return Json(std::move(claim)).dump();
}

ClaimWatch::Verdict ClaimWatch::see(const Claim& claim, TimePoint now, WallTime wall_now) {
  if (first_ && *first_ != claim) return Verdict::alive;
  if (!first_) {
    first_ = claim;
    seen_ = now;
  }
  if (now >= dies()) return Verdict::dead;
  std::optional<WallTime> renewed = parse_timestamp(claim.renewed);
  return renewed && *renewed < wall_now - claim.lease - kLongExpired ? Verdict::dead : Verdict::unknown;
}

}  // namespace fairlead::inventory
