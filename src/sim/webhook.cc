#include "sim/webhook.h"

#include <fmt/format.h>

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using sandbox::LocalWebhooks;

// What goes wrong with one call.
Task<Result<http::Response>> call(World& world, std::string name, uint64_t number, WebhookWeather weather,
                                  LocalWebhooks::Handler handler, http::Request request) {
  Random random = world.dice(name, number);
  Duration takes = some_time(random, weather.slowest);
  bool fails = random.chance(weather.errors);
  uint64_t how = random.below(3);
  bool well = takes == Duration::zero() && !fails;
  if (well || !world.history.fault(name + " call", number)) co_return co_await handler(std::move(request));
  world.history.note(
      name, [&] { return fmt::format("call {} takes {} ms{}", number, takes / 1ms, fails ? ", and goes wrong" : ""); });
  CO_TRY(co_await sleep_for(world.loop, takes));
  if (!fails) co_return co_await handler(std::move(request));
  if (how == 0) co_return fail(ErrorKind::unavailable, "EOF");
  co_return http::Response{.status = how == 1 ? 503 : 500, .headers = {}, .body = "not now", .connection = 0};
}

}  // namespace

WebhookWeather draw_webhook_weather(Random& random) {
  WebhookWeather weather;
  if (random.chance(0.7)) weather.outages = {.every = 200ms + some_time(random, 3s), .lasts = some_time(random, 3s)};
  if (random.chance(0.5)) weather.slowest = some_time(random, 15s);
  if (random.chance(0.5)) weather.errors = double(random.below(50)) / 100;
  return weather;
}

void serve_webhook(World& world, std::string service_or_url, WebhookWeather weather, LocalWebhooks::Handler handler,
                   std::string ca_bundle) {
  auto calls = std::make_shared<uint64_t>(0);
  LocalWebhooks::Handler weathered = [&world, service_or_url, calls, weather,
                                      handler = std::move(handler)](http::Request request) {
    return call(world, service_or_url, (*calls)++, weather, handler, std::move(request));
  };
  auto start = [&world, service_or_url, weathered = std::move(weathered), ca_bundle = std::move(ca_bundle)](uint64_t) {
    world.history.note(service_or_url, [] { return "the webhook serves"; });
    world.sandbox.webhooks().serve(service_or_url, weathered, ca_bundle);
  };
  auto stop = [&world, service_or_url](uint64_t) {
    world.history.note(service_or_url, [] { return "the webhook is gone"; });
    world.sandbox.webhooks().stop(service_or_url);
  };
  start(0);
  world.disturb(service_or_url, weather.outages, stop, start);
}

}  // namespace fairlead::sim
