#include "rollout_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "few_rights.h"
#include "ignores_selectors.h"
#include "rollout_manifests.h"
#include "rollout_network.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using rollout::Ending;

constexpr uint64_t kMostRuns = 40;

// But for the bundle's home: a claim is kept in it, so it goes first where it is part of the bundle.
bool nothing_sent(const Ending& ending, const std::string& home) {
  using State = rollout::ObjectEnding::State;
  return std::ranges::all_of(ending.objects, [&](const auto& object) {
    bool is_home = object.key.kind == "Namespace" && object.key.group.empty() && object.key.name == home;
    return object.state == State::not_sent || is_home;
  });
}

// Whose renewals nobody answers in time: the run ends before others may take over.
bool has_lost_claim(const Ending& ending) {
  return std::ranges::any_of(ending.causes, [](const rollout::Cause& cause) {
    return cause.error.message().find("is no longer claimed by this run") != std::string::npos;
  });
}

}  // namespace

Rollouts::Rollouts(World& world, std::shared_ptr<Judge> judge, RolloutSabotage sabotage)
    : world_(world), judge_(std::move(judge)), sabotage_(std::move(sabotage)) {
  Random random = world.dice("rollout");
  if (random.chance(0.4)) options_.name = "bundle";
  options_.default_namespace = judge_->bundle().home;
  if (random.chance(0.1)) options_.concurrency = 1 + random.below(4);
  ignores_selectors_ = world.dice("selectors").chance(0.15);
  has_few_rights_ = world.dice("rights").chance(0.15);
  if (random.chance(0.5)) options_.known_dead = [this](std::string_view origin) { return killed_.contains(origin); };
}

Task<Rollouts::End> Rollouts::run(manifest::Bundle bundle, std::optional<Duration> killed_after) {
  rollout::Options options = options_;
  options.run = fmt::format("run{}", ++runs_);
  options.holder = options.run;
  options.origin = options.run;
  End end{.ending = {}, .run = options.run};
  LoadBalancer balancer(world_, *judge_, end.run + " servers");
  FaultyTransport& network = world_.transport(end.run, balancer);
  IgnoresSelectors ignorant(network, ignores_selectors_);
  FewRights restricted(ignorant, has_few_rights_);
  Rehearsal rehearsal(restricted, world_, options.dry_run);
  std::unique_ptr<http::Transport> wrong = sabotage_ ? sabotage_(rehearsal) : nullptr;
  http::Transport& way_out = wrong ? *wrong : static_cast<http::Transport&>(rehearsal);
  Process process(way_out, *judge_, end.run, named());
  kube::Client::Options client_options;
  client_options.seed = world_.seed + runs_;
  kube::Client client(world_.loop, process, nullptr, client_options);
  kube::Discovery discovery(client);
  journal::Journal journal(world_.loop.clock());
  journal.read_by([&](const journal::Event& event) {
    world_.history.note(end.run, [&] { return journal::to_json(event).dump(); });
  });
  CancelSource stop;
  Loop::TimerId timer{};
  if (killed_after)
    timer = world_.loop.call_after(*killed_after, [&] {
      world_.history.note(end.run, [] { return "killed"; });
      process.kill();
      killed_.insert(end.run);
      stop.cancel();
    });
  size_t faults_before = world_.history.faults();
  end.ending = co_await rollout::roll_out(client, discovery, std::move(bundle), std::move(options), journal, &stop);
  end.killed = process.killed();
  end.faulty = world_.history.faults() > faults_before;
  if (killed_after && !end.killed) world_.loop.cancel_timer(timer);
  co_await network.stop();
  co_return end;
}

void Rollouts::fail_with(const End& end) {
  std::string why;
  for (const rollout::Cause& cause : end.ending.causes) why += "\n" + cause.error.report();
  world_.fail(fmt::format("{} ended {}:{}", end.run, name_of(end.ending.how), why));
}

Task<void> Rollouts::run_older(const std::vector<BundleObject>& objects) {
  for (uint64_t i = 0; i < 2; ++i) {
    Random random = world_.dice("older", i);
    std::optional<Duration> killed_after;
    if (random.chance(0.4) && world_.history.step("older kill", i)) killed_after = some_time(random, 12s);
    (void)co_await run(to_manifest(objects), killed_after);
    if (random.chance(0.5)) co_return;
  }
}

Task<void> Rollouts::rehearse() {
  options_.dry_run = true;
  (void)co_await run(to_manifest(judge_->bundle().objects), std::nullopt);
  options_.dry_run = false;
}

Task<void> Rollouts::run_until_done() {
  Random random = world_.dice("kills");
  uint64_t kills = random.below(3) == 0 ? 1 + random.below(2) : 0;
  for (uint64_t i = 0; i < kMostRuns; ++i) {
    std::optional<Duration> killed_after;
    Random moment = world_.dice("kill", i);
    if (i < kills && world_.history.step("kill", i)) killed_after = some_time(moment, moment.chance(0.5) ? 1s : 12s);
    End end = co_await run(to_manifest(judge_->bundle().objects), killed_after);
    if (end.killed) continue;
    ended_ = world_.loop.now();
    if (end.ending.how == Ending::How::done) co_return;
    // Somebody else may have been at work on it.
    bool may_have_been_refused = end.faulty || named();
    bool never_began = may_have_been_refused && nothing_sent(end.ending, judge_->bundle().home);
    if (!never_began && !(end.faulty && has_lost_claim(end.ending))) co_return fail_with(end);
    if (!co_await sleep_for(world_.loop, 1s)) co_return;
  }
  world_.fail("the rollout was never done");
}

Task<void> Rollouts::run_rival() {
  Random random = world_.dice("rival");
  if (!co_await sleep_for(world_.loop, some_time(random, 10s))) co_return;
  std::vector<BundleObject> objects = judge_->bundle().objects;
  for (BundleObject& object : objects)
    if (object.leaf && random.chance(0.5)) object.value = with_leftovers(object.value);
  End end = co_await run(to_manifest(objects), std::nullopt);
  if (nothing_sent(end.ending, judge_->bundle().home)) co_return;
  rival_ended_ = world_.loop.now();
  if (end.ending.how != Ending::How::done && !(end.faulty && has_lost_claim(end.ending))) fail_with(end);
}

Task<void> Rollouts::run_again() {
  End end = co_await run(to_manifest(judge_->bundle().objects), std::nullopt);
  while (end.faulty && has_lost_claim(end.ending))
    end = co_await run(to_manifest(judge_->bundle().objects), std::nullopt);
  if (end.ending.how != Ending::How::done) fail_with(end);
}

}  // namespace fairlead::sim
