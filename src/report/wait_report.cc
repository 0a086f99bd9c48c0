#include "report/wait_report.h"

#include <algorithm>

namespace fairlead::report {
namespace {

using journal::Event;
using wait::Ending;
using wait::ObjectEnding;
using State = ObjectEnding::State;

constexpr std::pair<State, std::string_view> kCounted[] = {
    {State::met, "met"}, {State::failed, "failed"}, {State::timed_out, "timedOut"}, {State::waiting, "waiting"}};

constexpr Tally kTallies[] = {
    {"met", {"met"}}, {"failed", {"failed"}}, {"timed out", {"timedOut"}}, {"still waiting", {"waiting"}}};

std::string_view words(State state) { return state == State::waiting ? "still waiting" : wait::name_of(state); }

std::string registration_of(const wait::WebhookEnding& webhook) {
  return fmt::format("{} {}", webhook.configuration.kind, webhook.configuration.name);
}

Json json_of(const wait::WebhookEnding& webhook) {
  Json::Array layers;
  for (const wait::Layer& layer : webhook.layers) {
    Json one(Json::Object{{"layer", layer.name}, {"state", wait::name_of(layer.state)}, {"text", layer.text}});
    if (!layer.next.empty()) one.make("next") = layer.next;
    layers.push_back(std::move(one));
  }
  Json::Array evidence;
  for (const std::string& text : webhook.evidence) evidence.emplace_back(text);
  return Json::Object{{"name", webhook.name},
                      {"configuration", registration_of(webhook)},
                      {"rung", readiness::name_of(webhook.rung)},
                      {"layers", std::move(layers)},
                      {"evidence", std::move(evidence)}};
}

Json json_of(const ObjectEnding& object) {
  Json json = object_json(object.key, object.source, wait::name_of(object.state));
  json.make("reason") = object.reason;
  json.make("seconds") = seconds(object.took);
  Json::Array webhooks;
  for (const wait::WebhookEnding& webhook : object.webhooks) webhooks.push_back(json_of(webhook));
  if (!webhooks.empty()) json.make("webhooks") = std::move(webhooks);
  return json;
}

}  // namespace

std::string layers_text(const wait::WebhookEnding& webhook) {
  std::string text = fmt::format("webhook {} ({})\n", webhook.name, registration_of(webhook));
  for (const wait::Layer& layer : webhook.layers)
    text += fmt::format("  {:<13}  {:<7}  {}\n", layer.name, wait::name_of(layer.state), layer.text);
  return text;
}

std::string totals_text(const Ending& ending) {
  if (ending.objects.empty() && ending.how != Ending::How::done) return std::string(name_of(ending.how));
  return ending.objects.empty() ? "nothing matches"
                                : tallies_text(kTallies, counts_of(ending.objects, kCounted, words));
}

WaitReport::WaitReport(Loop& loop, const journal::Journal& journal, Settings settings, bool layers)
    : output_(settings.format, settings.requests, settings.out, settings.err),
      layers_(layers),
      display_(loop, journal, settings,
               std::make_unique<WaitNarrator>(
                   NarratorOptions{.all = true, .is_beside_live_view = settings.progress == Progress::live}),
               Board::Run::wait) {}

void WaitReport::read(const Event& event) {
  output_.stream(event);
  display_.read(event);
  if (github_) github_->warn(event);
}

void WaitReport::finish(const Ending& ending) {
  display_.stop();
  std::vector<Count> counts = counts_of(ending.objects, kCounted, words);
  Closing closing{.outcome = name_of(ending.how),
                  .counts = counts,
                  .totals = totals_text(ending),
                  .took = ending.took,
                  .requests = ending.requests,
                  .causes = ending.causes,
                  .more = {{"objects", uint64_t{ending.objects.size()}}},
                  .totals_end = "\n",
                  .causes_end = ending.how == Ending::How::interrupted ? "error: interrupted\n" : ""};
  if (output_.format() == Format::json)
    std::ranges::transform(ending.objects, std::back_inserter(closing.objects),
                           [](const ObjectEnding& object) { return json_of(object); });
  if (layers_ && output_.format() == Format::text)
    for (const ObjectEnding& object : ending.objects)
      for (const wait::WebhookEnding& webhook : object.webhooks) print(display_.settings().out, layers_text(webhook));
  output_.show(closing);
  if (github_)
    github_->finish(fmt::format("fairlead wait: {}", closing.outcome),
                    fmt::format("{} in {:.1f}s", closing.totals, seconds(closing.took)), ending.causes);
}

}  // namespace fairlead::report
