#include "removal/run.h"

#include "object/containers.h"
#include "plan/stopping.h"
#include "readiness/timeouts.h"

namespace fairlead::removal {

uint64_t requests_of(const kube::Client& client) {
  uint64_t all = 0;
  for (const auto& [verb, count] : client.counts()) all += count;
  return all;
}

using journal::EventKind;
using State = ObjectEnding::State;

Run::Run(Loop& loop, journal::Journal& journal, Options options, std::vector<Target> targets)
    : journal_(journal),
      options_(std::move(options)),
      loop_(loop),
      changed_(loop),
      halt_(loop, plan::kLandingTime),
      targets_(std::move(targets)),
      states_(targets_.size()) {
  for (NodeId i : ids()) index_.emplace(targets_[i].key, i);
}

void Run::make_plan(Order order) {
  order_ = std::move(order);
  plan_.emplace(plan_of(order_));
}

Duration Run::timeout_for(const object::Key& key) const {
  auto set = options_.timeout_for.find(key.kind + "." + key.group);
  if (set == options_.timeout_for.end()) set = options_.timeout_for.find(key.kind);
  return set != options_.timeout_for.end() ? set->second : readiness::default_timeouts(key.group, key.kind).deletion;
}

std::optional<NodeId> Run::find(const object::Key& key) const {
  auto found = index_.find(key);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

void Run::imply(Target target) {
  if (!index_.emplace(target.key, NodeId(targets_.size())).second) return;
  targets_.add(std::move(target));
  states_.add({});
  states_.back().implied = true;
}

std::optional<NodeId> Run::find_namespace_of(NodeId i) const {
  return key(i).ns.empty() ? std::nullopt : find(object::namespace_key(key(i).ns));
}

void Run::tell(EventKind kind, NodeId i, std::string state, std::string text, std::optional<Error> error) {
  journal_.add({.kind = kind,
                .key = key(i),
                .source = targets_[i].source,
                .state = std::move(state),
                .text = std::move(text),
                .error = std::move(error)});
}

void Run::note(EventKind kind, std::string text, std::optional<Error> error) {
  journal_.add({.kind = kind, .text = std::move(text), .error = std::move(error)});
}

void Run::settle(NodeId i, State state) {
  states_[i].state = state;
  cancel_timer(i);
}

void Run::cancel_timer(NodeId i) {
  TargetState& entry = states_[i];
  if (entry.timer) loop_.cancel_timer(*entry.timer);
  entry.timer.reset();
}

void Run::ended(NodeId i, State state) {
  settle(i, state);
  plan_->done(i);
  changed_.notify_all();
}

void Run::spare(NodeId i) {
  states_[i].spared = true;
  plan_->done(i);
}

void Run::see(NodeId i, const Json& object) {
  TargetState& entry = states_[i];
  if (!plan_ || plan_->is_settled(i)) return;
  if (std::string_view uid = object["metadata"]["uid"].string_or(""); uid != entry.uid) {
    gone(i, "another object has its name now and is not touched");
    return;
  }
  entry.last = object;
  Progress now = progress_of(object);
  if (now.is_beyond(entry.progress)) {
    if (now.finalizers < entry.progress.finalizers)
      tell(EventKind::progress, i, "leaving",
           fmt::format("{} finalizer{} left", now.finalizers, now.finalizers == 1 ? "" : "s"));
    moved(i);
  }
  std::optional<uint64_t> remaining = now.remaining;
  // Objects that come back are no progress. Keep the lowest number, so that the same progress is not counted twice.
  now.remaining = entry.progress.remaining;
  entry.progress = std::move(now);
  if (remaining) left(i, *remaining);
}

void Run::moved(NodeId i) {
  states_[i].moved_at = loop_.now();
  states_[i].stuck.reset();
  states_[i].tell_at = {};
}

void Run::left(NodeId i, uint64_t remaining) {
  TargetState& entry = states_[i];
  if (!entry.first_remaining) {
    entry.first_remaining = remaining;
    entry.first_remaining_at = loop_.now();
  }
  uint64_t least = entry.progress.remaining.value_or(remaining);
  entry.progress.remaining = std::min(least, remaining);
}

void Run::gone(NodeId i, std::string how) {
  if (!plan_ || plan_->is_settled(i)) return;
  settle(i, State::gone);
  tell(EventKind::removed, i, "gone", std::move(how));
  if (auto around = find_namespace_of(i)) moved(*around);
  plan_->done(i);
  changed_.notify_all();
}

void Run::failed(NodeId i, State state, Error error) {
  if (!plan_ || plan_->is_settled(i)) return;
  settle(i, state);
  tell(EventKind::failed, i, std::string(name_of(state)), "", error);
  states_[i].error = std::move(error);
  plan_->failed(i);
  changed_.notify_all();
}

void Run::refuse(NodeId i, Error error) {
  if (const std::string& where = targets_[i].source; !where.empty()) error = std::move(error).at(where);
  failed(i, State::refused, std::move(error));
}

std::string rate_text(const TargetState& entry, TimePoint now) {
  if (!entry.first_remaining || !entry.progress.remaining) return {};
  uint64_t left = *entry.progress.remaining;
  if (left >= *entry.first_remaining) return fmt::format("{} left", left);
  double seconds = std::chrono::duration<double>(now - entry.first_remaining_at).count();
  double rate = seconds > 0 ? double(*entry.first_remaining - left) / seconds : 0;
  return fmt::format("{} of {} left, {:.1f} per second", left, *entry.first_remaining, rate);
}

}  // namespace fairlead::removal
