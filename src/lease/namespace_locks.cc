#include "lease/namespace_locks.h"

#include <algorithm>
#include <set>

#include "async/scope.h"

namespace fairlead::lease {
namespace {

// Between two lists, however much changes.
constexpr Duration kShortestPause = std::chrono::milliseconds(200);
constexpr Duration kPauseAfterFailure = std::chrono::seconds(1);

std::string text_of(const Json& text) { return std::string(text.string_or("")); }

}  // namespace

std::string_view name_of(Lock lock) {
  switch (lock) {
    case Lock::free: return "free";
    case Lock::held: return "held";
    case Lock::unknown: return "unknown";
  }
  return "unknown";
}

NamespaceLocks::NamespaceLocks(kube::Client& client, LocksOptions options, Changed changed)
    : client_(client),
      options_(std::move(options)),
      changed_(std::move(changed)),
      wake_(client.loop()),
      hints_(client, leases(), {.ns = {}, .field_selector = "metadata.name=" + options_.name},
             [this](const Json& lease, bool gone) { see_hint(lease, gone); }) {}

bool NamespaceLocks::is_stale() const {
  return !asked_ || !asked_->is_within(client_.loop().clock(), stale_after(options_));
}

Lock NamespaceLocks::lock_of(const Seen& seen) const {
  const Clock& clock = client_.loop().clock();
  if (seen.record.holder.empty()) return Lock::free;
  Duration stated = seen.record.duration.value_or(kDuration);
  Duration believed = std::min(stated, options_.longest) + options_.grace;
  if (!seen.deleted && seen.stored_after && seen.stored_after->is_within(clock, believed)) return Lock::held;
  return clock.now() < seen.seen_at + stated + options_.grace ? Lock::unknown : Lock::free;
}

Lock NamespaceLocks::lock_of(const std::string& ns) const {
  if (is_stale()) return Lock::unknown;
  auto found = seen_.find(ns);
  return found == seen_.end() ? Lock::free : lock_of(found->second);
}

std::string NamespaceLocks::holder_of(const std::string& ns) const {
  auto found = seen_.find(ns);
  return found == seen_.end() ? std::string() : found->second.record.shown_holder();
}

size_t NamespaceLocks::held() const {
  if (is_stale()) return 0;
  return static_cast<size_t>(
      std::ranges::count_if(seen_, [&](const auto& one) { return lock_of(one.second) == Lock::held; }));
}

// Events only say that a list is worth the while, when a Lease was taken, released or deleted. The lists tell when.
void NamespaceLocks::see_hint(const Json& lease, bool gone) {
  if (lease.is_null()) return;
  auto found = seen_.find(text_of(lease["metadata"]["namespace"]));
  bool known = found != seen_.end() && !found->second.deleted;
  bool same = gone ? !known : known && found->second.record.holder == Record::parse(lease).holder;
  if (same) return;
  hinted_ = true;
  wake_.notify_all();
}

void NamespaceLocks::see(const Json& lease) {
  const Json& metadata = lease["metadata"];
  Seen next{.uid = text_of(metadata["uid"]),
            .record = Record::parse(lease),
            .stored_after = asked_,
            .seen_at = client_.loop().now()};
  auto [place, is_new] = seen_.try_emplace(text_of(metadata["namespace"]), next);
  Seen& known = place->second;
  bool same = known.uid == next.uid && known.record == next.record && !known.deleted;
  if (!is_new && !same) known = std::move(next);
}

void NamespaceLocks::take(const std::vector<Json>& items, Moment asked) {
  std::set<std::string, std::less<>> there;
  for (const Json& lease : items) {
    // Not every server knows the selector.
    if (lease["metadata"]["name"].string_or("") != options_.name) continue;
    there.insert(text_of(lease["metadata"]["namespace"]));
    see(lease);
  }
  asked_ = asked;
  for (auto& [ns, seen] : seen_) seen.deleted = !there.contains(ns);
  std::erase_if(seen_, [&](const auto& one) { return one.second.deleted && lock_of(one.second) == Lock::free; });
}

void NamespaceLocks::tell() {
  if (!changed_ || is_stale()) return;
  std::map<std::string, Lock> now;
  for (const auto& [ns, seen] : seen_) now[ns] = lock_of(seen);
  for (const auto& [ns, lock] : told_) now.try_emplace(ns, Lock::free);
  for (const auto& [ns, lock] : now) {
    auto told = told_.find(ns);
    if ((told == told_.end() ? Lock::free : told->second) != lock) changed_(ns, lock, holder_of(ns));
  }
  std::erase_if(now, [](const auto& one) { return one.second == Lock::free; });
  told_ = std::move(now);
}

Task<void> NamespaceLocks::list() {
  Loop& loop = client_.loop();
  Moment asked = Moment::now(loop.clock());
  CancelSource cancel(co_await current_cancel());
  CancelAt timer(loop, loop.now() + options_.check_every, cancel);
  kube::Outcome<kube::List> found =
      co_await client_.list(leases(), {.ns = {}, .field_selector = "metadata.name=" + options_.name})
          .governed_by(&cancel);
  if (found) take(found->items, asked);
  trouble_ = found ? std::nullopt : std::optional(found.error().error());
}

Task<void> NamespaceLocks::run() {
  Loop& loop = client_.loop();
  Scope beside(loop, co_await current_cancel());
  beside.spawn(hints_.run());
  auto woken = [](NamespaceLocks& locks) -> Task<Result<void>> {
    while (!locks.hinted_) CO_TRY(co_await locks.wake_.wait());
    co_return Result<void>();
  };
  bool goes_on = true;
  while (goes_on) {
    hinted_ = false;
    co_await list();
    tell();
    TimePoint next = loop.now() + (trouble_ ? kPauseAfterFailure : options_.check_every);
    Result<void> slept = co_await sleep_for(loop, kShortestPause);
    if (slept) slept = co_await with_deadline(loop, next, "it is time", woken(*this));
    goes_on = slept || slept.error().kind() == ErrorKind::timeout;
  }
  beside.cancel();
  co_await beside.join();
}

}  // namespace fairlead::lease
