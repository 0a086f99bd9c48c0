#include "sim/weather.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr double kMostOften = 0.25;

// About half of the troubles are in a run, each as often as chance will have it.
double rate(Random& random, double most) {
  bool there = random.chance(0.5);
  double often = double(random.below(1000)) / 1000;
  return there ? most * often : 0;
}

Spells spells(Random& random, double probability, Duration every, Duration lasts) {
  bool there = random.chance(probability);
  Duration apart = every / 4 + some_time(random, every);
  Duration length = some_time(random, lasts);
  return there ? Spells{apart, length} : Spells{};
}

// Each on its own: nothing, the usual, or several times that.
void draw_delays(Random& random, sandbox::Delays& delays) {
  for (Duration* one :
       {&delays.crd_names_accepted, &delays.crd_established, &delays.mutating_webhooks, &delays.validating_webhooks,
        &delays.policies, &delays.controller, &delays.pod_scheduled, &delays.pod_started, &delays.pod_ready,
        &delays.pod_stopped, &delays.job_run, &delays.load_balancer, &delays.volume_bound})
    *one = *one * static_cast<int64_t>(random.below(5)) / 2;
  if (random.chance(0.3)) delays.pod_listening = some_time(random, 2s);
}

// Longer than a request may take and than a claim lasts for; and often enough that some of them hit a renewal.
void draw_long_delays(Random& random, Rates& rates) {
  rates.delay = 20s + some_time(random, 160s);
  rates.late = 0.05 + double(random.below(20)) / 100;
}

}  // namespace

Weather draw_weather(Random& random) {
  Weather weather;
  // One run in eight is calm: what fails then needs no faults at all.
  double most = random.below(8) == 0 ? 0 : kMostOften * double(1 + random.below(4)) / 4;
  Rates& rates = weather.rates;
  for (double* one : {&rates.late, &rates.lost_request, &rates.lost_answer, &rates.straggler, &rates.repeated,
                      &rates.too_many, &rates.server_error, &rates.not_available, &rates.slow_body})
    *one = rate(random, most / 2);
  // These hit watches above all, of which there are few.
  rates.cut_body = rate(random, most * 2);
  rates.expired = rate(random, most * 2);
  rates.latency = 1ms + some_time(random, 40ms);
  rates.delay = 100ms + some_time(random, 3s);
  if (random.chance(0.1) && most > 0) draw_long_delays(random, rates);

  sandbox::Options& cluster = weather.cluster;
  cluster.seed = random.next();
  cluster.api_servers = 1 + random.below(3);
  cluster.history_window = random.chance(0.25) ? 20 + random.below(30) : 10000;
  cluster.bookmark_every = random.chance(0.5) ? 2s : 60s;
  cluster.controllers = false;
  draw_delays(random, cluster.delays);
  cluster.api_server_skew = some_time(random, 50ms);
  cluster.aggregator_routing = random.chance(0.3);
  double probability = most == 0 ? 0 : 0.4;
  weather.restarts = spells(random, probability, 4s, 3s);
  weather.compactions = spells(random, probability, 3s, 0s);
  weather.forbidden = spells(random, probability / 2, 5s, 3s);
  return weather;
}

}  // namespace fairlead::sim
