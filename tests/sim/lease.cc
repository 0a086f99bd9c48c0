#include <fmt/format.h>

#include <algorithm>

#include "lease/holder.h"
#include "lease/namespace_locks.h"
#include "sandbox/core/core.h"
#include "scenarios.h"
#include "sim/machine.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using lease::Lock;

constexpr std::string_view kName = "lock";
constexpr std::string_view kNamespace = "default";
constexpr Duration kTick = 250ms;
constexpr uint64_t kLives = 3;
const lease::LocksOptions kLocks{.name = std::string(kName)};
// How long a namespace may be left alone by everybody. Clocks run up to 2 % slow.
constexpr Duration kLeftAlone = (lease::kDuration + 5s) * 103 / 100 + 2 * kTick;

Clocks draw_clocks(Random random, bool wall_sleeps) {
  return {.rate = 0.98 + double(random.below(41)) / 1000,
          .wall_ahead = random.chance(0.5) ? some_time(random, 48h) - 24h : Duration(),
          .wall_sleeps = wall_sleeps};
}

// What every process has: a network, clocks, and a client.
class Member {
 public:
  Member(World& world, const LeaseSabotage& sabotage, std::string name)
      : name_(std::move(name)),
        network_(&world.transport(name_)),
        sabotaged_(sabotage.network ? sabotage.network(world, *network_) : nullptr),
        machine_(world.loop, sabotaged_ ? *sabotaged_ : *network_,
                 draw_clocks(world.dice(name_), sabotage.wall_sleeps)),
        client_(machine_, machine_.network(), nullptr, client_options(world, name_)) {}

  const std::string& name() const { return name_; }
  bool paused() const { return machine_.paused(); }

  // Now and then it stands still.
  Task<void> disturb(World& world) {
    std::string source = name_ + " pause";
    for (uint64_t number = 0;; ++number) {
      Random random = world.dice(source, number);
      if (!co_await sleep_for(world.loop, 10s + some_time(random, 4min))) co_return;
      bool suspended = random.chance(0.5);
      Duration time = some_time(random, 90s);
      if (!world.history.fault(source, number)) continue;
      world.history.note(name_,
                         [&] { return fmt::format("{} for {} s", suspended ? "is suspended" : "stalls", time / 1s); });
      machine_.pause(suspended ? Machine::Pause::suspended : Machine::Pause::stalled, time);
    }
  }

 protected:
  std::string name_;
  http::Transport* network_;
  std::unique_ptr<http::Transport> sabotaged_;
  Machine machine_;
  kube::Client client_;
};

// An operator of the namespace: it validates while it runs, and changes objects while it holds the Lease.
class Restricted : public Member {
 public:
  Restricted(World& world, const LeaseSabotage& sabotage, const std::string& name)
      : Member(world, sabotage, name),
        holder_(client_, {.ns = std::string(kNamespace),
                          .name = std::string(kName),
                          .identity = name,
                          .settle = lease::NamespaceLocks::stale_after(kLocks)}),
        renewing_(machine_, nullptr),
        disturbing_(world.loop, nullptr) {
    renewing_.spawn(holder_.run());
    disturbing_.spawn(disturb(world));
  }

  bool runs() const { return works_ && !paused(); }
  bool changes_objects() const { return runs() && holder_.holds(); }
  bool releases() const { return releases_; }
  bool has_lease() const { return holder_.holds(); }

  Task<void> kill() {
    works_ = false;
    renewing_.cancel();
    disturbing_.cancel();
    co_await renewing_.join();
    co_await disturbing_.join();
  }
  Task<void> stop() {
    co_await kill();
    releases_ = true;
    renewing_.spawn(forget_cancel(holder_));
    co_await renewing_.join();
  }

 private:
  // On the loop of the process, though its scope is cancelled.
  static Task<void> forget_cancel(lease::Holder& holder) { co_await holder.release().uncancelled(); }

  lease::Holder holder_;
  Scope renewing_;
  Scope disturbing_;
  bool works_ = true;
  bool releases_ = false;
};

// The operator of the whole cluster, or one replica of it.
class ClusterWide : public Member {
 public:
  ClusterWide(World& world, const LeaseSabotage& sabotage, const std::string& name)
      : Member(world, sabotage, name),
        locks_(client_, kLocks),
        looking_(machine_, nullptr),
        disturbing_(world.loop, nullptr) {
    looking_.spawn(locks_.run());
    disturbing_.spawn(disturb(world));
  }

  Lock lock() const { return locks_.lock_of(std::string(kNamespace)); }
  bool validates() const { return !paused() && lock() != Lock::held; }
  bool changes_objects() const { return !paused() && lock() == Lock::free; }

  Task<void> stop() {
    looking_.cancel();
    disturbing_.cancel();
    co_await looking_.join();
    co_await disturbing_.join();
  }

 private:
  lease::NamespaceLocks locks_;
  Scope looking_;
  Scope disturbing_;
};

class Play {
 public:
  Play(World& world, LeaseSabotage sabotage) : world_(world), sabotage_(std::move(sabotage)) {}

  Task<void> run() {
    world_.sandbox.core().store.listen([judge = judge_](const sandbox::ResourceId& of, const sandbox::Event& event) {
      if (of == sandbox::ResourceId{"coordination.k8s.io", "leases"} && judge->see) judge->see(event);
    });
    judge_->see = [this](const sandbox::Event& event) { see(event); };
    for (uint64_t i = 0; i < 1 + world_.random.below(2); ++i)
      clusters_.push_back(std::make_unique<ClusterWide>(world_, sabotage_, fmt::format("cluster-wide-{}", i)));
    Scope checking(world_.loop, co_await current_cancel());
    checking.spawn(check());
    Scope living(world_.loop, co_await current_cancel());
    uint64_t replicas = 1 + world_.random.below(3);
    for (uint64_t i = 0; i < replicas; ++i) living.spawn(live(i));
    co_await living.join();
    world_.heal();
    co_await settle();
    judge_->see = nullptr;
    checking.cancel();
    co_await checking.join();
    for (const std::unique_ptr<Restricted>& one : operators_) co_await one->kill();
    for (const std::unique_ptr<ClusterWide>& one : clusters_) co_await one->stop();
  }

 private:
  struct Judge {
    std::function<void(const sandbox::Event&)> see;
  };

  // The replica starts, ends by being killed or stopped, and starts again; at last it stays.
  Task<void> live(uint64_t replica) {
    std::string source = fmt::format("replica-{}", replica);
    for (uint64_t life = 0; life < kLives; ++life) {
      Random random = world_.dice(source, life);
      (void)co_await sleep_for(world_.loop, some_time(random, 30s));
      Restricted& one =
          *operators_.emplace_back(std::make_unique<Restricted>(world_, sabotage_, fmt::format("{}-{}", source, life)));
      world_.history.note(one.name(), [] { return "starts"; });
      (void)co_await sleep_for(world_.loop, 5s + some_time(random, 2min));
      bool stops = random.chance(0.4);
      if (life + 1 == kLives || !world_.history.step(source, life)) co_return;
      world_.history.note(one.name(), [&] { return stops ? "stops" : "is killed"; });
      co_await (stops ? one.stop() : one.kill());
    }
  }

  // Every write that reaches the store.
  void see(const sandbox::Event& event) {
    if (event.type == sandbox::Event::Type::deleted) return world_.fail("the Lease was deleted");
    lease::Record now = lease::Record::parse(*event.object);
    lease::Record before = event.previous ? lease::Record::parse(*event.previous) : lease::Record();
    stored_ = now;
    if (!now.holder.empty()) last_stored_ = world_.loop.now();
    if (before.holder.empty() || before.holder == now.holder) return;
    const Restricted* former = find(before.holder);
    if (now.holder.empty() && !former->releases())
      world_.fail(fmt::format("the Lease of {} was released by somebody else", before.holder));
    if (!now.holder.empty() && !former->paused() && former->has_lease())
      world_.fail(fmt::format("{} took the Lease while {} holds it", now.holder, before.holder));
  }

  const Restricted* find(std::string_view name) const {
    return std::ranges::find(operators_, name, [](const auto& one) -> std::string_view { return one->name(); })->get();
  }

  Task<void> check() {
    TimePoint validated = world_.loop.now();
    do {
      check_changes();
      TimePoint now = world_.loop.now();
      bool somebody_could = std::ranges::any_of(clusters_, [](const auto& one) { return !one->paused(); });
      bool validates = std::ranges::any_of(operators_, [](const auto& one) { return one->runs(); }) ||
                       std::ranges::any_of(clusters_, [](const auto& one) { return one->validates(); });
      if (validates || !somebody_could) validated = now;
      Duration alone = now - std::max(validated, last_stored_);
      if (alone > kLeftAlone) world_.fail(fmt::format("nobody has validated the namespace for {} ms", alone / 1ms));
    } while (co_await sleep_for(world_.loop, kTick));
  }

  void check_changes() {
    std::vector<std::string> who;
    for (const std::unique_ptr<Restricted>& one : operators_)
      if (one->changes_objects()) who.push_back(one->name());
    // Replicas of one operator share the requests.
    auto cluster = std::ranges::find_if(clusters_, [](const auto& one) { return one->changes_objects(); });
    if (cluster != clusters_.end()) who.push_back((*cluster)->name());
    if (who.size() > 1) world_.fail(fmt::format("objects are changed by {} and by {}", who[0], who[1]));
  }

  // Without faults, one holds the Lease, and everybody knows; and when it stops, the next one does.
  Task<void> settle() {
    // Whoever once was forbidden to watch lists from then on, every few seconds.
    Duration soon = world_.weather.forbidden.every == Duration() ? 2s : 7s;
    (void)co_await sleep_for(world_.loop, 5min + world_.weather.rates.delay);
    std::vector<Restricted*> running;
    for (const std::unique_ptr<Restricted>& one : operators_)
      if (one->runs()) running.push_back(one.get());
    while (!running.empty() && !world_.failure()) {
      auto holds = std::ranges::find_if(running, [](Restricted* one) { return one->changes_objects(); });
      if (holds == running.end()) co_return world_.fail("nobody holds the Lease, long after the last fault");
      for (const std::unique_ptr<ClusterWide>& one : clusters_)
        if (one->lock() != Lock::held)
          world_.fail(fmt::format("the namespace is {} to {}, long after the last fault", lease::name_of(one->lock()),
                                  one->name()));
      co_await (*holds)->stop();
      running.erase(holds);
      (void)co_await sleep_for(world_.loop, soon);
      if (!running.empty() && stored_.holder.empty()) world_.fail("a Lease that was released was not taken at once");
      for (const std::unique_ptr<ClusterWide>& one : clusters_)
        if (running.empty() && one->lock() != Lock::free)
          world_.fail(fmt::format("{} did not take back a namespace that was released", one->name()));
      (void)co_await sleep_for(world_.loop, 1min);
    }
  }

  World& world_;
  LeaseSabotage sabotage_;
  std::vector<std::unique_ptr<Restricted>> operators_;
  std::vector<std::unique_ptr<ClusterWide>> clusters_;
  // The Lease in the store, and when it was last stored with a holder.
  lease::Record stored_;
  TimePoint last_stored_{};
  std::shared_ptr<Judge> judge_ = std::make_shared<Judge>();
};

Task<void> play_leases(World& world, LeaseSabotage sabotage) {
  Play play(world, std::move(sabotage));
  co_await play.run();
}

}  // namespace

Scenario lease_scenario(LeaseSabotage sabotage) {
  return {.name = "lease",
          .play = [sabotage = std::move(sabotage)](World& world) { return play_leases(world, sabotage); }};
}

}  // namespace fairlead::sim
