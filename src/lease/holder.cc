#include "lease/holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/timestamp.h"

namespace fairlead::lease {
namespace {

using kube::FaultKind;
using kube::Outcome;
using kube::Reply;

constexpr Duration kFirstPause = std::chrono::milliseconds(250);
constexpr Duration kLongestPause = std::chrono::seconds(2);
constexpr Duration kReleaseWithin = std::chrono::seconds(5);
// How soon work is cancelled after a machine that was suspended goes on: timers do not notice the lost time.
constexpr Duration kLookEvery = std::chrono::seconds(1);

// Somebody else changed, created or deleted the Lease.
bool is_overtaken(const kube::Failure& failure) {
  return failure.is(FaultKind::conflict) || failure.is(FaultKind::already_exists) || failure.is(FaultKind::not_found);
}

}  // namespace

Result<void> check(const HolderOptions& options) {
  using std::chrono::seconds;
  if (options.duration < seconds(3) || options.duration % seconds(1) != Duration::zero())
    return fail(ErrorKind::invalid, "the duration of a Lease must be whole seconds, and at least 3");
  if (options.renew_every < std::chrono::milliseconds(500) || options.renew_every > options.duration / 2)
    return fail(ErrorKind::invalid,
                "a Lease must be renewed at least every half of its duration, and at most twice per second");
  return {};
}

std::string make_identity(std::string_view host) {
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.empty() ? "fairlead" : host, random(), random());
}

Holder::Holder(kube::Client& client, HolderOptions options, Changed changed)
    : client_(client),
      options_(std::move(options)),
      changed_(std::move(changed)),
      wake_(client.loop()),
      hints_(client, leases(), {.ns = options_.ns, .field_selector = "metadata.name=" + options_.name},
             [this](const Json& lease, bool gone) { see_hint(lease, gone); }),
      pauses_(kFirstPause, std::min(kLongestPause, options_.renew_every)) {}

bool Holder::in_force() const { return confirmed_ && confirmed_->sent.is_within(client_.loop().clock(), held_for()); }

bool Holder::holds() const { return in_force() && client_.loop().now() >= settled_at_; }

// Events about the Lease only say that it is worth reading. So there is one view of it, and its age is known.
void Holder::see_hint(const Json& lease, bool gone) {
  if (lease.is_null()) return;
  bool same_holder = !gone && record_ && Record::parse(lease).holder == record_->holder;
  if (same_holder || (gone && !stored_)) return;
  known_ = false;
  hinted_ = true;
  wake_.notify_all();
}

void Holder::update() {
  bool now = holds();
  if (now == told_) return;
  told_ = now;
  if (changed_) changed_(now);
}

void Holder::confirm() {
  auto found = std::ranges::find(attempts_, record_->renewed, &Attempt::renewed);
  if (found == attempts_.end()) return;
  if (!in_force()) settled_at_ = client_.loop().now() + options_.settle;
  confirmed_ = *found;
  attempts_.clear();
}

void Holder::see(std::optional<Json> lease) {
  // What came to notice while the request was under way may be newer than its answer.
  known_ = !hinted_;
  read_at_ = client_.loop().now();
  auto uid = [](const std::optional<Json>& of) { return of ? (*of)["metadata"]["uid"].string_or("") : ""; };
  bool is_new = !stored_ || (lease && uid(lease) != uid(stored_));
  if (lease) {
    Record record = Record::parse(*lease);
    if (is_new || record != record_) record_changed_ = read_at_;
    record_ = std::move(record);
  }
  // A Lease that somebody deleted was not released: its record counts until it lapses.
  stored_ = std::move(lease);
  if (stored_ && is_ours()) confirm();
  else confirmed_.reset();
}

template <class Make>
Task<Outcome<Reply>> Holder::ask(Make make) {
  Loop& loop = client_.loop();
  TimePoint until = loop.now() + options_.duration / 6;
  if (in_force()) until = std::min(until, confirmed_->sent.steady + held_for());
  CancelSource cancel(co_await current_cancel());
  CancelAt timer(loop, until, cancel);
  hinted_ = false;
  Task<Outcome<Reply>> task = make();
  Outcome<Reply> reply = co_await std::move(task).governed_by(&cancel);
  if (!reply) known_ = false;
  if (!reply && timer.fired() && reply.error().error().kind() == ErrorKind::cancelled)
    co_return std::unexpected(kube::Failure(Error(ErrorKind::timeout, "the API server did not answer in time")));
  co_return reply;
}

Task<Outcome<void>> Holder::read() {
  Outcome<Reply> reply = co_await ask([this] { return client_.get(leases(), options_.ns, options_.name); });
  if (!reply && !reply.error().is(FaultKind::not_found)) co_return std::unexpected(reply.error());
  see(reply ? std::optional(std::move(reply->value)) : std::nullopt);
  co_return Outcome<void>();
}

Task<Outcome<void>> Holder::write(const Record& next) {
  Json lease = stored_ ? *stored_
                       : Json(Json::Object{{"apiVersion", "coordination.k8s.io/v1"},
                                           {"kind", "Lease"},
                                           {"metadata", Json::Object{{"name", options_.name}}}});
  lease.make("metadata").if_object()->erase("managedFields");
  next.write_to(lease);
  attempts_.push_back({next.renewed, Moment::now(client_.loop().clock())});
  Outcome<Reply> reply = co_await ask([&] {
    return stored_ ? client_.replace(leases(), options_.ns, options_.name, lease)
                   : client_.create(leases(), options_.ns, lease);
  });
  if (!reply) co_return std::unexpected(reply.error());
  see(std::move(reply->value));
  co_return Outcome<void>();
}

Record Holder::next_record() const {
  std::string now = dump_micro_time(client_.loop().clock().wall_now());
  Record next{.holder = options_.identity, .duration = options_.duration, .acquired = now, .renewed = now};
  if (!stored_) return next;
  next.transitions = record_->transitions + (is_ours() ? 0 : 1);
  if (is_ours() && !record_->acquired.empty()) next.acquired = record_->acquired;
  return next;
}

TimePoint Holder::due() const {
  if (is_ours() && stored_) return confirmed_ ? confirmed_->sent.steady + options_.renew_every : read_at_;
  if (!record_ || record_->holder.empty() || is_ours()) return read_at_;
  return record_changed_ + record_->duration.value_or(options_.duration);
}

TimePoint Holder::next_look() const {
  TimePoint now = client_.loop().now();
  if (!in_force()) return read_at_ + options_.renew_every / 2;
  return now < settled_at_ ? settled_at_ : confirmed_->sent.steady + held_for();
}

Task<Result<void>> Holder::wait_until(TimePoint time) {
  if (told_) time = std::min(time, client_.loop().now() + kLookEvery);
  auto woken = [](Signal& wake) -> Task<Result<void>> { co_return co_await wake.wait(); };
  Result<void> waited = co_await with_deadline(client_.loop(), time, "it is time", woken(wake_));
  if (!waited && waited.error().kind() == ErrorKind::timeout) co_return Result<void>();
  co_return waited;
}

Task<Result<void>> Holder::pause_after(const kube::Failure& failure) {
  trouble_ = failure.error();
  update();
  TimePoint until = client_.loop().now() + pauses_.next();
  // Whoever was overtaken reads at once: perhaps it was an own write that overtook.
  if (is_overtaken(failure) && pauses_.peek() <= kFirstPause * 2) co_return Result<void>();
  if (in_force()) until = std::min(until, confirmed_->sent.steady + held_for());
  co_return co_await sleep_until(client_.loop(), until);
}

Task<Result<void>> Holder::turn() {
  update();
  TimePoint now = client_.loop().now();
  if (known_ && now < due() && now < next_look()) co_return co_await wait_until(std::min(due(), next_look()));
  bool writes = known_ && now >= due();
  Outcome<void> done = writes ? co_await write(next_record()) : co_await read();
  if (!done && done.error().error().kind() == ErrorKind::cancelled) co_return fail(done.error().error());
  if (!done) co_return co_await pause_after(done.error());
  if (writes || client_.loop().now() < due()) {
    trouble_.reset();
    pauses_.reset();
  }
  co_return Result<void>();
}

Task<void> Holder::run() {
  Scope beside(client_.loop(), co_await current_cancel());
  beside.spawn(hints_.run());
  while (co_await turn()) {
  }
  beside.cancel();
  co_await beside.join();
}

Task<void> Holder::release() {
  Loop& loop = client_.loop();
  TimePoint until = loop.now() + kReleaseWithin;
  bool may_be_ours = confirmed_ || !attempts_.empty();
  // A write that nobody heard of may still have made the Lease ours.
  known_ = known_ && attempts_.empty();
  settled_at_ = TimePoint::max();
  update();
  while (may_be_ours && loop.now() < until) {
    if (known_ && (!stored_ || !is_ours())) break;
    Record freed = next_record();
    freed.holder.clear();
    freed.duration = std::chrono::seconds(1);
    Outcome<void> done = known_ ? co_await write(freed) : co_await read();
    if (!done && done.error().error().kind() == ErrorKind::cancelled) break;
    if (!done && !is_overtaken(done.error()) && !co_await sleep_for(loop, kFirstPause)) break;
  }
  confirmed_.reset();
  attempts_.clear();
}

}  // namespace fairlead::lease
