#include "removal/vigil.h"

#include <algorithm>

#include "base/duration_text.h"
#include "removal/causes.h"
#include "removal/finalizers.h"

namespace fairlead::removal {
namespace {

using journal::What;

constexpr Duration kTick = std::chrono::seconds(1);
constexpr Duration kReminder = std::chrono::seconds(30);
constexpr size_t kRemindedOf = 5;
// What is stuck for different reasons is looked into so many times a run.
constexpr size_t kLooks = 20;
constexpr int kForceAttempts = 3;
constexpr size_t kNamedContents = 5;
// So long before something is given up, it is found out what keeps it; of short times, half.
constexpr Duration kLead = std::chrono::seconds(2);

Duration lead_of(Duration limit) { return std::min(kLead, limit / 2); }

// Short times are looked at more often.
Duration pause_of(const Options& options) {
  Duration pause = kTick;
  auto keep_up_with = [&](Duration limit) {
    if (limit > Duration::zero()) pause = std::min(pause, limit / 8);
  };
  keep_up_with(options.timeout);
  for (const auto& [kind, limit] : options.timeout_for) keep_up_with(limit);
  return pause;
}

// A merge patch, for the object as it was read.
Json without_finalizers(const Json& object) {
  return Json(Json::Object{
      {"metadata", Json::Object{{"resourceVersion", object["metadata"]["resourceVersion"]}, {"finalizers", nullptr}}}});
}

bool is_container(const object::Key& key) {
  return key.kind == "CustomResourceDefinition" || (key.group.empty() && key.kind == "Namespace");
}

}  // namespace

Task<void> Vigil::keep() {
  TimePoint reminder = run_.loop.now() + kReminder;
  Duration pause = pause_of(run_.options);
  while (co_await sleep_for(run_.loop, pause)) {
    for (uint32_t i = 0; i < run_.targets.size() && !run_.waits.cancelled(); ++i) {
      const Record& record = run_.records[i];
      if (!is_under_way(i) || tracker_.interruption(i)) continue;
      if (!is_stuck(i)) {
        if (is_nearly_over(i)) co_await look_last_at(i);
      } else if (run_.loop.now() >= record.tell_at) {
        if (record.stuck) tell_stuck(i);
        else co_await look_at(i);
      }
    }
    if (run_.loop.now() < reminder) continue;
    reminder = run_.loop.now() + kReminder;
    tell_waiting();
  }
}

void Vigil::set_time(uint32_t target) {
  Record& record = run_.records[target];
  Duration limit = run_.patience_for(run_.key(target));
  if (run_.options.timeout > Duration::zero())
    record.last_look_at = run_.options.expires - lead_of(run_.options.timeout);
  if (limit <= Duration::zero()) return;
  record.last_look_at = std::min(record.last_look_at, run_.loop.now() + limit - lead_of(limit));
  record.timer = run_.loop.call_after(limit, [this, target, limit] { give_up(target, limit); });
}

bool Vigil::is_under_way(uint32_t target) const { return run_.records[target].told && !run_.plan->is_settled(target); }

bool Vigil::is_stuck(uint32_t target) const {
  return is_under_way(target) && run_.loop.now() - run_.records[target].moved_at >= run_.options.stuck_after;
}

bool Vigil::is_nearly_over(uint32_t target) const {
  const Record& record = run_.records[target];
  return is_under_way(target) && !record.kept_by && run_.loop.now() >= record.last_look_at;
}

bool Vigil::is_alike(uint32_t one, uint32_t other) const {
  const Record &a = run_.records[one], &b = run_.records[other];
  return run_.key(one).kind == run_.key(other).kind && run_.key(one).group == run_.key(other).group &&
         a.last["metadata"]["finalizers"] == b.last["metadata"]["finalizers"];
}

Task<std::optional<Evidence>> Vigil::evidence_of(uint32_t target) {
  ++looks_;
  const Record& record = run_.records[target];
  kube::Outcome<Evidence> evidence = co_await investigator_.look(run_.key(target), *record.resource, record.last);
  if (run_.plan->is_settled(target)) co_return std::nullopt;
  if (!evidence) {
    if (evidence.error().is(kube::FaultKind::not_found)) run_.gone(target);
    else if (evidence.error().error().kind() != ErrorKind::cancelled)
      run_.tell(What::error, target, "unread", "it cannot be read", evidence.error().error());
    co_return std::nullopt;
  }
  run_.see(target, evidence->object);
  if (run_.plan->is_settled(target)) co_return std::nullopt;
  co_return *std::move(evidence);
}

Task<void> Vigil::look_at(uint32_t target) {
  Record& record = run_.records[target];
  if (looks_ >= kLooks && !run_.options.force_finalizers) {
    record.stuck = Error(ErrorKind::timeout, "no progress");
    tell_stuck(target);
    co_return;
  }
  std::optional<Evidence> evidence = co_await evidence_of(target);
  if (!evidence) co_return;
  Explanation found = explain(*evidence);
  record.stuck = std::move(found.chain).under(ErrorKind::timeout, "no progress", "");
  tell_stuck(target);
  if (run_.options.force_finalizers) {
    if (record.forced < kForceAttempts) co_await force(target, *evidence, found.leaves);
    co_return;
  }
  if (is_container(run_.key(target))) co_return;
  for (uint32_t i = 0; i < run_.targets.size(); ++i)
    if (i != target && is_stuck(i) && !run_.records[i].stuck && is_alike(i, target))
      run_.records[i].stuck = explain_alike(*evidence, i);
}

Task<void> Vigil::look_last_at(uint32_t target) {
  Record& record = run_.records[target];
  // Once, whatever comes of it.
  record.kept_by = Error(ErrorKind::timeout, "");
  if (looks_ >= kLooks) co_return;
  std::optional<Evidence> evidence = co_await evidence_of(target);
  if (!evidence) co_return;
  record.kept_by = explain(*evidence).chain.under(ErrorKind::timeout, "", "");
  if (is_container(run_.key(target))) co_return;
  for (uint32_t i = 0; i < run_.targets.size(); ++i)
    if (is_nearly_over(i) && is_alike(i, target)) run_.records[i].kept_by = explain_alike(*evidence, i);
}

// Many of a kind do not go for one reason: that is found out once.
Error Vigil::explain_alike(const Evidence& evidence, uint32_t target) const {
  Evidence alike = evidence;
  alike.key = run_.key(target);
  alike.remaining.clear();
  alike.remaining_kinds.clear();
  Json managed = evidence.object["metadata"]["managedFields"];
  alike.object.make("metadata") = run_.records[target].last["metadata"];
  alike.object.make("metadata").make("managedFields") = std::move(managed);
  return explain(alike).chain.under(ErrorKind::timeout, "no progress", "");
}

void Vigil::tell_stuck(uint32_t target) {
  Record& record = run_.records[target];
  Duration since = run_.loop.now() - record.moved_at;
  Duration pause = run_.options.stuck_after;
  for (int i = 0; i <= record.told_stuck && pause < std::chrono::minutes(5); ++i) pause *= 3;
  ++record.told_stuck;
  record.tell_at = run_.loop.now() + pause;
  const Error* why = record.stuck->cause();
  run_.tell(What::progress, target, "stuck",
            fmt::format("no progress for {}{}{}", short_text(since), why ? ": " : "", why ? why->message() : ""),
            record.stuck);
}

std::string Vigil::behind_text() const {
  size_t behind = 0;
  std::string first;
  for (uint32_t i = 0; i < run_.targets.size(); ++i) {
    if (run_.plan->state(i) != Plan::State::waiting || behind++ > 0) continue;
    for (const Plan::Wait& wait : run_.plan->waits_for(i, 1))
      first = fmt::format("{} for {} ({})", run_.key(i).text(), run_.key(wait.thing).text(), wait.reason);
  }
  if (behind == 0) return {};
  return fmt::format("; {} {} behind: {}{}", behind, behind == 1 ? "waits" : "wait", first, behind == 1 ? "" : ", …");
}

void Vigil::tell_waiting() {
  std::string text;
  size_t count = 0;
  for (uint32_t i = 0; i < run_.targets.size(); ++i) {
    const Record& record = run_.records[i];
    if (!record.told || run_.plan->is_settled(i)) continue;
    if (++count > kRemindedOf) continue;
    std::string rate = rate_text(record, run_.loop.now());
    bool slow = !record.stuck;
    text += fmt::format("{}{} ({}{}{})", text.empty() ? "" : "; ", run_.key(i).text(), slow ? "going" : "stuck",
                        rate.empty() ? "" : ", ", rate);
  }
  if (count == 0) return;
  if (count > kRemindedOf) text += fmt::format("; and {} more", count - kRemindedOf);
  text += behind_text();
  run_.journal.add(
      {.what = What::waiting, .text = std::move(text), .details = Json(Json::Object{{"waiting", uint64_t{count}}})});
}

void Vigil::give_up(uint32_t target, Duration within) {
  bool is_known = !tracker_.interruption(target) && tracker_.is_known(target);
  run_.failed(target, is_known ? ObjectEnding::State::remains : ObjectEnding::State::unknown,
              still_there(target, within));
}

Error Vigil::still_there(uint32_t target, Duration within) const {
  const Record& record = run_.records[target];
  const object::Key& key = run_.key(target);
  const std::string& where = run_.targets[target].source;
  auto placed = [&](Error error) { return where.empty() ? error : std::move(error).at(where); };
  if (const Error* interruption = tracker_.interruption(target))
    return placed(Error(ErrorKind::unavailable,
                        fmt::format("after {} it is not known whether {} is gone", short_text(within), key.text()))
                      .because(*interruption));
  if (record.fault)
    return placed(
        Error(ErrorKind::timeout, fmt::format("{} could not be removed within {}", key.text(), short_text(within)))
            .because(*record.fault));
  std::string rate = rate_text(record, run_.loop.now());
  Error error(ErrorKind::timeout, fmt::format("{} is still there after {}{}{}", key.text(), short_text(within),
                                              rate.empty() ? "" : ": ", rate));
  const std::optional<Error>& why_not = record.stuck ? record.stuck : record.kept_by;
  if (why_not && why_not->cause()) {
    Error why = *why_not->cause();
    std::string next = why_not->next();
    error = std::move(error).because(std::move(why));
    if (!next.empty()) error = std::move(error).next(std::move(next));
  }
  return placed(std::move(error));
}

Task<bool> Vigil::may_force(uint32_t target, std::string question) {
  if (run_.options.ask && !co_await run_.options.ask(std::move(question))) {
    run_.records[target].forced = kForceAttempts;
    co_return false;
  }
  co_return !run_.plan->is_settled(target);
}

Task<void> Vigil::force(uint32_t target, const Evidence& evidence, const std::string& leaves) {
  Record& record = run_.records[target];
  ++record.forced;
  const object::Key& key = run_.key(target);
  bool is_namespace = key.group.empty() && key.kind == "Namespace";
  // Its own controller ends it first; finalizers of others in its metadata hold it only after that.
  if (is_namespace && !evidence.object["spec"]["finalizers"].items().empty())
    co_return co_await force_namespace(target, evidence);
  std::string names;
  for (const Json& one : evidence.object["metadata"]["finalizers"].items())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", one.string_or(""));
  if (names.empty()) co_return;
  std::string orphans = leaves;
  if (size_t left = evidence.remaining.size())
    orphans = left == 1 ? "1 object that is left in it" : fmt::format("{} objects that are left in it", left);
  std::string question = fmt::format(
      "{} does not go by itself. Its finalizers ({}) would be removed by force, and what they stand for is "
      "not cleaned up{}{}.",
      key.text(), names, orphans.empty() ? "" : "; this may be left behind: ", orphans);
  if (!co_await may_force(target, std::move(question))) co_return;
  run_.tell(What::warning, target, "forced",
            fmt::format("finalizers are removed by force: {}{}{}", names,
                        orphans.empty() ? "" : "; this may be left behind: ", orphans));
  forced(target,
         co_await run_.client
             .patch(*record.resource, key.ns, key.name, kube::PatchType::merge, without_finalizers(evidence.object))
             .governed_by(&run_.requests));
}

void Vigil::forced(uint32_t target, const kube::Outcome<kube::Reply>& done) {
  Record& record = run_.records[target];
  if (done) {
    if (done->value["metadata"]["uid"].string_or("") == record.uid) run_.see(target, done->value);
    return;
  }
  if (done.error().is(kube::FaultKind::not_found)) {
    run_.gone(target);
    return;
  }
  // Changed meanwhile: looked at anew, and tried again.
  if (done.error().is(kube::FaultKind::conflict)) record.stuck.reset();
  run_.tell(What::error, target, "not forced", "the finalizers could not be removed", done.error().error());
}

Task<void> Vigil::force_namespace(uint32_t target, const Evidence& evidence) {
  Leftovers left = co_await find_leftovers(run_.client, run_.discovery, run_.key(target).name);
  if (run_.plan->is_settled(target) || run_.waits.cancelled()) co_return;
  if (!left.held.empty()) co_return co_await force_contents(target, left);
  if (left.others == 0) co_return co_await finalize(target, evidence, unreachable_text(evidence, left));
  // What is left has no finalizers: its controller is still at work on it. Looked at again later.
  --run_.records[target].forced;
  run_.records[target].stuck.reset();
}

Task<void> Vigil::force_contents(uint32_t target, const Leftovers& left) {
  // Finalizers of Kubernetes itself go by themselves, once those of others are gone.
  bool any_foreign =
      std::ranges::any_of(left.held, [](const Leftover& one) { return has_foreign_finalizer(one.object); });
  std::vector<const Leftover*> chosen;
  for (const Leftover& one : left.held)
    if (!any_foreign || has_foreign_finalizer(one.object)) chosen.push_back(&one);
  std::string named;
  for (size_t i = 0; i < chosen.size() && i < kNamedContents; ++i)
    named += fmt::format("{}{} ({})", i == 0 ? "" : ", ", chosen[i]->key.text(), chosen[i]->finalizers());
  if (chosen.size() > kNamedContents) named += fmt::format(" and {} more", chosen.size() - kNamedContents);
  std::string question = fmt::format(
      "{} does not go by itself. The finalizers of what is left in it would be removed by force, and what they stand "
      "for is not cleaned up: {}.",
      run_.key(target).text(), named);
  if (!co_await may_force(target, std::move(question))) co_return;
  for (const Leftover* one : chosen) {
    run_.journal.add({.what = What::warning,
                      .key = one->key,
                      .state = "forced",
                      .text = "finalizers are removed by force: " + one->finalizers()});
    auto done =
        co_await run_.client
            .patch(one->resource, one->key.ns, one->key.name, kube::PatchType::merge, without_finalizers(one->object))
            .governed_by(&run_.requests);
    // What has gone or changed meanwhile is looked at again.
    bool is_news = !done && !done.error().is(kube::FaultKind::not_found) && !done.error().is(kube::FaultKind::conflict);
    if (is_news)
      run_.journal.add({.what = What::error,
                        .key = one->key,
                        .state = "not forced",
                        .text = "the finalizers could not be removed",
                        .error = done.error().error()});
  }
  // Now its controller needs some time.
  if (!run_.plan->is_settled(target)) run_.moved(target);
}

Task<void> Vigil::finalize(uint32_t target, const Evidence& evidence, const std::string& unreachable) {
  const object::Key& key = run_.key(target);
  std::string names;
  for (const Json& one : evidence.object["spec"]["finalizers"].items())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", one.string_or(""));
  std::string left = unreachable.empty()
                         ? "nothing is left in it"
                         : "this stays in etcd, and comes back with the next namespace of that name: " + unreachable;
  std::string question = fmt::format("{} does not go by itself. Its own finalizers ({}) would be removed by force; {}.",
                                     key.text(), names, left);
  if (!co_await may_force(target, std::move(question))) co_return;
  run_.tell(What::warning, target, "forced",
            fmt::format("its own finalizers are removed by force: {}; {}", names, left));
  Json object = evidence.object;
  object.make("spec").make("finalizers") = Json::Array();
  forced(target,
         co_await run_.client.replace(*run_.records[target].resource, "", key.name, object, {.subresource = "finalize"})
             .governed_by(&run_.requests));
}

}  // namespace fairlead::removal
