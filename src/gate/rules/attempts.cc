#include "gate/rules/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fairlead::gate {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::array kFirstSteps = {1, 1, 2, 2, 4};
constexpr double kGrowth = 1.5;
// A client that tries more often than client-go does.
constexpr std::chrono::seconds kAfterwards{5};
constexpr std::chrono::seconds kLongest{600};
// A client comes later than it was told: it sleeps, sends, and waits in queues.
constexpr Duration kGrace = std::chrono::seconds(30);

}  // namespace

std::chrono::seconds retry_after(int refusals, Duration remaining, Duration held) {
  if (refusals >= kClientRetries) return kAfterwards;
  if (refusals >= 0 && static_cast<size_t>(refusals) < kFirstSteps.size())
    return std::chrono::seconds(kFirstSteps[static_cast<size_t>(refusals)]);
  int left = kClientRetries - refusals;
  double to_cover = Seconds(remaining - left * held).count();
  // The first of `left` steps, each `kGrowth` times as long as the one before it, that cover it.
  double first = to_cover * (kGrowth - 1) / (std::pow(kGrowth, left) - 1);
  auto step = std::chrono::seconds(static_cast<int64_t>(std::ceil(std::max(first, 1.0))));
  return std::min(step, kLongest);
}

std::string attempt_key(const webhook::Request& request) {
  std::string name = request.name;
  // The API server makes a new name for each try.
  if (std::string_view prefix = request.object["metadata"]["generateName"].string_or(""); !prefix.empty())
    name = fmt::format("{}*", prefix);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.user.name, admission::name_of(request.operation),
                     request.resource.name_with_group(), request.ns, name, request.dry_run);
}

Attempts::Entry& Attempts::at(const std::string& key, TimePoint now) {
  auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    order_.splice(order_.end(), order_, found->second);
    Entry& entry = order_.back().entry;
    if (now > entry.expected + kGrace) entry = {.first = now, .expected = now};
    return entry;
  }
  if (order_.size() >= most_) {
    by_key_.erase(order_.front().key);
    order_.pop_front();
  }
  order_.push_back({.key = key, .entry = {.first = now, .expected = now}});
  by_key_[key] = std::prev(order_.end());
  return order_.back().entry;
}

void Attempts::forget(const std::string& key) {
  auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  order_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace fairlead::gate
