#include "removal/internal/stuck_monitor.h"

#include <algorithm>

#include "base/duration_text.h"
#include "object/containers.h"
#include "removal/diagnosis/causes.h"
#include "removal/order/finalizers.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;

constexpr Duration kTick = std::chrono::seconds(1);
constexpr Duration kReminder = std::chrono::seconds(30);
constexpr size_t kRemindedOf = 5;
// At most this many investigations are made per run, unless finalizers are removed by force.
constexpr size_t kLooks = 20;
constexpr int kForceAttempts = 3;
constexpr size_t kNamedContents = 5;
// How long before a target is given up its cause is looked for; for short time limits, half of the limit.
constexpr Duration kLead = std::chrono::seconds(2);

Duration lead_of(Duration limit) { return std::min(kLead, limit / 2); }

// Returns the pause between two checks. It is shorter for short time limits.
Duration pause_of(const Options& options) {
  Duration pause = kTick;
  auto keep_up_with = [&](Duration limit) {
    if (limit > Duration::zero()) pause = std::min(pause, limit / 8);
  };
  keep_up_with(options.timeout);
  for (const auto& [kind, limit] : options.timeout_for) keep_up_with(limit);
  return pause;
}

// Returns a merge patch that applies only to the object as it was read.
Json without_finalizers(const Json& object) {
  return Json(Json::Object{
      {"metadata", Json::Object{{"resourceVersion", object["metadata"]["resourceVersion"]}, {"finalizers", nullptr}}}});
}

bool is_container(const object::Key& key) { return is_crd(key) || is_namespace(key); }

}  // namespace

Task<void> StuckMonitor::keep() {
  TimePoint reminder = run_.loop().now() + kReminder;
  Duration pause = pause_of(run_.options());
  while (co_await sleep_for(run_.loop(), pause)) {
    for (NodeId i : run_.ids()) {
      if (run_.halt().waits().cancelled()) break;
      const TargetState& entry = run_.state(i);
      if (!is_under_way(i) || tracker_.interruption(i)) continue;
      if (!is_stuck(i)) {
        if (is_nearly_over(i)) co_await look_last_at(i);
      } else if (run_.loop().now() >= entry.tell_at) {
        if (entry.stuck) tell_stuck(i);
        else co_await look_at(i);
      }
    }
    if (run_.loop().now() < reminder) continue;
    reminder = run_.loop().now() + kReminder;
    tell_waiting();
  }
}

void StuckMonitor::set_time(NodeId target) {
  TargetState& entry = run_.edit(target);
  Duration limit = run_.timeout_for(run_.key(target));
  if (run_.options().timeout > Duration::zero())
    entry.last_look_at = run_.options().expires - lead_of(run_.options().timeout);
  if (limit <= Duration::zero()) return;
  entry.last_look_at = std::min(entry.last_look_at, run_.loop().now() + limit - lead_of(limit));
  entry.timer = run_.loop().call_after(limit, [this, target, limit] { give_up(target, limit); });
}

bool StuckMonitor::is_under_way(NodeId target) const {
  return run_.state(target).told && !run_.plan()->is_settled(target);
}

bool StuckMonitor::is_stuck(NodeId target) const {
  return is_under_way(target) && run_.loop().now() - run_.state(target).moved_at >= run_.options().stuck_after;
}

bool StuckMonitor::is_nearly_over(NodeId target) const {
  const TargetState& entry = run_.state(target);
  return is_under_way(target) && !entry.kept_by && run_.loop().now() >= entry.last_look_at;
}

bool StuckMonitor::is_alike(NodeId one, NodeId other) const {
  const TargetState &a = run_.state(one), &b = run_.state(other);
  return run_.key(one).kind == run_.key(other).kind && run_.key(one).group == run_.key(other).group &&
         a.last["metadata"]["finalizers"] == b.last["metadata"]["finalizers"];
}

Task<std::optional<Evidence>> StuckMonitor::evidence_of(NodeId target) {
  ++looks_;
  const TargetState& entry = run_.state(target);
  kube::Outcome<Evidence> evidence = co_await investigator_.look(run_.key(target), *entry.resource, entry.last);
  if (run_.plan()->is_settled(target)) co_return std::nullopt;
  if (!evidence) {
    if (evidence.error().is(kube::FaultKind::not_found)) run_.gone(target);
    else if (evidence.error().error().kind() != ErrorKind::cancelled)
      run_.tell(EventKind::error, target, "unread", "it cannot be read", evidence.error().error());
    co_return std::nullopt;
  }
  run_.see(target, evidence->object);
  if (run_.plan()->is_settled(target)) co_return std::nullopt;
  co_return *std::move(evidence);
}

Task<void> StuckMonitor::look_at(NodeId target) {
  TargetState& entry = run_.edit(target);
  if (looks_ >= kLooks && !run_.options().force_finalizers) {
    entry.stuck = Error(ErrorKind::timeout, "no progress");
    tell_stuck(target);
    co_return;
  }
  std::optional<Evidence> evidence = co_await evidence_of(target);
  if (!evidence) co_return;
  Explanation found = explain(*evidence);
  note_stuck(target, found);
  tell_stuck(target);
  if (run_.options().force_finalizers) {
    if (entry.forced < kForceAttempts) co_await force(target, *evidence, found.leaves);
    co_return;
  }
  if (is_container(run_.key(target))) co_return;
  for (NodeId i : run_.ids())
    if (i != target && is_stuck(i) && !run_.state(i).stuck && is_alike(i, target))
      note_stuck(i, explain_alike(*evidence, i));
}

Task<void> StuckMonitor::look_last_at(NodeId target) {
  TargetState& entry = run_.edit(target);
  // Do this only once, whatever the result is.
  entry.kept_by = Error(ErrorKind::timeout, "");
  if (looks_ >= kLooks) co_return;
  std::optional<Evidence> evidence = co_await evidence_of(target);
  if (!evidence) co_return;
  note_kept(target, explain(*evidence));
  if (is_container(run_.key(target))) co_return;
  for (NodeId i : run_.ids())
    if (is_nearly_over(i) && is_alike(i, target)) note_kept(i, explain_alike(*evidence, i));
}

// Explains a target by the evidence about another one, since many objects of a kind are stuck for the same reason.
Explanation StuckMonitor::explain_alike(const Evidence& evidence, NodeId target) const {
  Evidence alike = evidence;
  alike.key = run_.key(target);
  alike.remaining.clear();
  alike.remaining_kinds.clear();
  Json managed = evidence.object["metadata"]["managedFields"];
  alike.object.make("metadata") = run_.state(target).last["metadata"];
  alike.object.make("metadata").make("managedFields") = std::move(managed);
  return explain(alike);
}

void StuckMonitor::note_stuck(NodeId target, Explanation found) {
  TargetState& entry = run_.edit(target);
  entry.suspects = std::move(found.suspects);
  entry.stuck = std::move(found.chain).under(ErrorKind::timeout, "no progress", "");
}

void StuckMonitor::note_kept(NodeId target, Explanation found) {
  TargetState& entry = run_.edit(target);
  entry.suspects = std::move(found.suspects);
  entry.kept_by = std::move(found.chain).under(ErrorKind::timeout, "", "");
}

void StuckMonitor::tell_stuck(NodeId target) {
  TargetState& entry = run_.edit(target);
  Duration since = run_.loop().now() - entry.moved_at;
  Duration pause = run_.options().stuck_after;
  for (int i = 0; i <= entry.told_stuck && pause < std::chrono::minutes(5); ++i) pause *= 3;
  ++entry.told_stuck;
  entry.tell_at = run_.loop().now() + pause;
  const Error* why = entry.stuck->cause();
  run_.tell(EventKind::progress, target, "stuck",
            fmt::format("no progress for {}{}{}", short_text(since), why ? ": " : "", why ? why->message() : ""),
            entry.stuck);
}

std::string StuckMonitor::behind_text() const {
  size_t behind = 0;
  std::string first;
  for (NodeId i : run_.ids()) {
    if (run_.plan()->state(i) != Plan::State::waiting || behind++ > 0) continue;
    for (const plan::Edge& edge : run_.plan()->unmet(i, 1))
      first = fmt::format("{} for {} ({})", run_.key(i).text(), run_.key(edge.needs).text(), edge.reason);
  }
  if (behind == 0) return {};
  return fmt::format("; {} wait{} for other objects: {}{}", behind, behind == 1 ? "s" : "", first,
                     behind == 1 ? "" : ", …");
}

void StuckMonitor::tell_waiting() {
  std::string text;
  size_t count = 0;
  for (NodeId i : run_.ids()) {
    const TargetState& entry = run_.state(i);
    if (!entry.told || run_.plan()->is_settled(i)) continue;
    if (++count > kRemindedOf) continue;
    std::string rate = rate_text(entry, run_.loop().now());
    bool slow = !entry.stuck;
    text += fmt::format("{}{} ({}{}{})", text.empty() ? "" : "; ", run_.key(i).text(), slow ? "being deleted" : "stuck",
                        rate.empty() ? "" : ", ", rate);
  }
  if (count == 0) return;
  if (count > kRemindedOf) text += fmt::format("; and {} more", count - kRemindedOf);
  text += behind_text();
  run_.add_event({.kind = EventKind::waiting,
                  .text = std::move(text),
                  .details = Json(Json::Object{{"waiting", uint64_t{count}}})});
}

void StuckMonitor::give_up(NodeId target, Duration within) {
  bool is_known = !tracker_.interruption(target) && tracker_.is_known(target);
  run_.failed(target, is_known ? ObjectEnding::State::remains : ObjectEnding::State::unknown,
              still_there(target, within));
}

Error StuckMonitor::still_there(NodeId target, Duration within) const {
  const TargetState& entry = run_.state(target);
  const object::Key& key = run_.key(target);
  const std::string& where = run_.targets()[target].source;
  auto placed = [&](Error error) { return where.empty() ? error : std::move(error).at(where); };
  if (const Error* interruption = tracker_.interruption(target))
    return placed(Error(ErrorKind::unavailable,
                        fmt::format("after {} it is not known whether {} is deleted", short_text(within), key.text()))
                      .because(*interruption));
  if (entry.fault)
    return placed(
        Error(ErrorKind::timeout, fmt::format("{} could not be deleted within {}", key.text(), short_text(within)))
            .because(*entry.fault));
  std::string rate = rate_text(entry, run_.loop().now());
  Error error(ErrorKind::timeout, fmt::format("{} is still there after {}{}{}", key.text(), short_text(within),
                                              rate.empty() ? "" : ": ", rate));
  const std::optional<Error>& why_not = entry.stuck ? entry.stuck : entry.kept_by;
  if (why_not && why_not->cause()) {
    Error why = *why_not->cause();
    std::string next = why_not->next();
    error = std::move(error).because(std::move(why));
    if (!next.empty()) error = std::move(error).next(std::move(next));
  }
  return placed(std::move(error));
}

Task<bool> StuckMonitor::may_force(NodeId target, std::string question) {
  if (run_.options().ask && !co_await run_.options().ask(std::move(question))) {
    run_.edit(target).forced = kForceAttempts;
    co_return false;
  }
  co_return !run_.plan()->is_settled(target);
}

Task<void> StuckMonitor::force(NodeId target, const Evidence& evidence, const std::string& leaves) {
  TargetState& entry = run_.edit(target);
  ++entry.forced;
  const object::Key& key = run_.key(target);
  // The namespace controller has to finish first. Foreign finalizers in the namespace's metadata block it only after
  // that.
  if (is_namespace(key) && !evidence.object["spec"]["finalizers"].items().empty())
    co_return co_await force_namespace(target, evidence);
  std::string names;
  for (const Json& one : evidence.object["metadata"]["finalizers"].items())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", one.string_or(""));
  if (names.empty()) co_return;
  std::string orphans = leaves;
  if (size_t left = evidence.remaining.size())
    orphans = left == 1 ? "1 object that remains in it" : fmt::format("{} objects that remain in it", left);
  std::string question = fmt::format(
      "{} is stuck. Its finalizers ({}) would be removed by force, without the cleanup that they wait for{}{}.",
      key.text(), names, orphans.empty() ? "" : "; this may be left behind: ", orphans);
  if (!co_await may_force(target, std::move(question))) co_return;
  run_.tell(EventKind::warning, target, "forced",
            fmt::format("removing finalizers by force: {}{}{}", names,
                        orphans.empty() ? "" : "; this may be left behind: ", orphans));
  forced(target,
         co_await client_
             .patch(*entry.resource, key.ns, key.name, kube::PatchType::merge, without_finalizers(evidence.object))
             .governed_by(&run_.halt().requests()));
}

void StuckMonitor::forced(NodeId target, const kube::Outcome<kube::Reply>& done) {
  TargetState& entry = run_.edit(target);
  if (done) {
    if (done->value["metadata"]["uid"].string_or("") == entry.uid) run_.see(target, done->value);
    return;
  }
  if (done.error().is(kube::FaultKind::not_found)) {
    run_.gone(target);
    return;
  }
  // The object was changed meanwhile: investigate it and try again.
  if (done.error().is(kube::FaultKind::conflict)) entry.stuck.reset();
  run_.tell(EventKind::error, target, "not forced", "the finalizers could not be removed", done.error().error());
}

Task<void> StuckMonitor::force_namespace(NodeId target, const Evidence& evidence) {
  RemainingContent left = co_await find_remaining_content(client_, discovery_, run_.key(target).name);
  if (run_.plan()->is_settled(target) || run_.halt().waits().cancelled()) co_return;
  if (!left.held.empty()) co_return co_await force_contents(target, left);
  if (left.others == 0) co_return co_await finalize(target, evidence, unreachable_text(evidence, left));
  // The remaining objects have no finalizers, so the namespace controller is still deleting them. Check again later.
  --run_.edit(target).forced;
  run_.edit(target).stuck.reset();
}

Task<void> StuckMonitor::force_contents(NodeId target, const RemainingContent& left) {
  // Finalizers of Kubernetes itself are removed by its controllers, once the foreign ones are removed.
  bool any_foreign =
      std::ranges::any_of(left.held, [](const RemainingObject& one) { return has_foreign_finalizer(one.object); });
  std::vector<const RemainingObject*> chosen;
  for (const RemainingObject& one : left.held)
    if (!any_foreign || has_foreign_finalizer(one.object)) chosen.push_back(&one);
  std::string named;
  for (size_t i = 0; i < chosen.size() && i < kNamedContents; ++i)
    named += fmt::format("{}{} ({})", i == 0 ? "" : ", ", chosen[i]->key.text(), chosen[i]->finalizers());
  if (chosen.size() > kNamedContents) named += fmt::format(" and {} more", chosen.size() - kNamedContents);
  std::string question = fmt::format(
      "{} is stuck. The finalizers of the remaining objects in it would be removed by force, without the cleanup that "
      "they wait for: {}.",
      run_.key(target).text(), named);
  if (!co_await may_force(target, std::move(question))) co_return;
  for (const RemainingObject* one : chosen) {
    run_.add_event({.kind = EventKind::warning,
                    .key = one->key,
                    .state = "forced",
                    .text = "removing finalizers by force: " + one->finalizers()});
    auto done =
        co_await client_
            .patch(one->resource, one->key.ns, one->key.name, kube::PatchType::merge, without_finalizers(one->object))
            .governed_by(&run_.halt().requests());
    // Objects that were deleted or changed meanwhile are checked again later.
    bool is_news = !done && !done.error().is(kube::FaultKind::not_found) && !done.error().is(kube::FaultKind::conflict);
    if (is_news)
      run_.add_event({.kind = EventKind::error,
                      .key = one->key,
                      .state = "not forced",
                      .text = "the finalizers could not be removed",
                      .error = done.error().error()});
  }
  // The namespace controller needs some time now.
  if (!run_.plan()->is_settled(target)) run_.moved(target);
}

Task<void> StuckMonitor::finalize(NodeId target, const Evidence& evidence, const std::string& unreachable) {
  const object::Key& key = run_.key(target);
  std::string names;
  for (const Json& one : evidence.object["spec"]["finalizers"].items())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", one.string_or(""));
  std::string left = unreachable.empty()
                         ? "nothing remains in it"
                         : "this stays in etcd and reappears with the next namespace of that name: " + unreachable;
  std::string question =
      fmt::format("{} is stuck. Its own finalizers ({}) would be removed by force; {}.", key.text(), names, left);
  if (!co_await may_force(target, std::move(question))) co_return;
  run_.tell(EventKind::warning, target, "forced",
            fmt::format("removing its own finalizers by force: {}; {}", names, left));
  Json object = evidence.object;
  object.make("spec").make("finalizers") = Json::Array();
  forced(target,
         co_await client_.replace(*run_.state(target).resource, "", key.name, object, {.subresource = "finalize"})
             .governed_by(&run_.halt().requests()));
}

}  // namespace fairlead::removal
