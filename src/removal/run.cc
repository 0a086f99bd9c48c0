#include "removal/run.h"

#include "object/containers.h"
#include "readiness/timeouts.h"

namespace fairlead::removal {

uint64_t requests_of(const kube::Client& client) {
  uint64_t all = 0;
  for (const auto& [verb, count] : client.counts()) all += count;
  return all;
}

using journal::EventKind;
using State = ObjectEnding::State;

Duration Run::timeout_for(const object::Key& key) const {
  auto set = options.timeout_for.find(key.kind + "." + key.group);
  if (set == options.timeout_for.end()) set = options.timeout_for.find(key.kind);
  return set != options.timeout_for.end() ? set->second : readiness::default_timeouts(key.group, key.kind).deletion;
}

std::optional<uint32_t> Run::find(const object::Key& key) const {
  auto found = index.find(key);
  return found == index.end() ? std::nullopt : std::optional(found->second);
}

void Run::imply(Target target) {
  if (!index.emplace(target.key, uint32_t(targets.size())).second) return;
  targets.push_back(std::move(target));
  states.emplace_back();
  states.back().implied = true;
}

std::optional<uint32_t> Run::find_namespace_of(uint32_t i) const {
  return key(i).ns.empty() ? std::nullopt : find(object::namespace_key(key(i).ns));
}

void Run::tell(EventKind kind, uint32_t i, std::string state, std::string text, std::optional<Error> error) {
  journal.add({.kind = kind,
               .key = key(i),
               .source = targets[i].source,
               .state = std::move(state),
               .text = std::move(text),
               .error = std::move(error)});
}

void Run::note(EventKind kind, std::string text, std::optional<Error> error) {
  journal.add({.kind = kind, .text = std::move(text), .error = std::move(error)});
}

void Run::settle(uint32_t i, State state) {
  TargetState& entry = states[i];
  entry.state = state;
  if (entry.timer) loop.cancel_timer(*entry.timer);
  entry.timer.reset();
}

void Run::see(uint32_t i, const Json& object) {
  TargetState& entry = states[i];
  if (!plan || plan->is_settled(i)) return;
  if (std::string_view uid = object["metadata"]["uid"].string_or(""); uid != entry.uid) {
    gone(i, "another one has its name by now, and stays");
    return;
  }
  entry.last = object;
  Progress now = progress_of(object);
  if (now.is_beyond(entry.progress)) {
    if (now.finalizers < entry.progress.finalizers)
      tell(EventKind::progress, i, "leaving", fmt::format("{} finalizers left", now.finalizers));
    moved(i);
  }
  std::optional<uint64_t> remaining = now.remaining;
  // Objects that come back are no progress. Keep the lowest number, so that the same progress is not counted twice.
  now.remaining = entry.progress.remaining;
  entry.progress = std::move(now);
  if (remaining) left(i, *remaining);
}

void Run::moved(uint32_t i) {
  states[i].moved_at = loop.now();
  states[i].stuck.reset();
  states[i].tell_at = {};
}

void Run::left(uint32_t i, uint64_t remaining) {
  TargetState& entry = states[i];
  if (!entry.first_remaining) {
    entry.first_remaining = remaining;
    entry.first_remaining_at = loop.now();
  }
  uint64_t least = entry.progress.remaining.value_or(remaining);
  entry.progress.remaining = std::min(least, remaining);
}

void Run::gone(uint32_t i, std::string how) {
  if (!plan || plan->is_settled(i)) return;
  settle(i, State::gone);
  tell(EventKind::removed, i, "gone", std::move(how));
  if (auto around = find_namespace_of(i)) moved(*around);
  plan->done(i);
  changed.notify_all();
}

void Run::failed(uint32_t i, State state, Error error) {
  if (!plan || plan->is_settled(i)) return;
  settle(i, state);
  tell(EventKind::failed, i, std::string(name_of(state)), "", error);
  states[i].error = std::move(error);
  plan->failed(i);
  changed.notify_all();
}

void Run::refuse(uint32_t i, Error error) {
  if (const std::string& where = targets[i].source; !where.empty()) error = std::move(error).at(where);
  failed(i, State::refused, std::move(error));
}

std::string rate_text(const TargetState& entry, TimePoint now) {
  if (!entry.first_remaining || !entry.progress.remaining) return {};
  uint64_t left = *entry.progress.remaining;
  if (left >= *entry.first_remaining) return fmt::format("{} left", left);
  double seconds = std::chrono::duration<double>(now - entry.first_remaining_at).count();
  double rate = seconds > 0 ? double(*entry.first_remaining - left) / seconds : 0;
  return fmt::format("{} of {} left, {:.1f} a second", left, *entry.first_remaining, rate);
}

}  // namespace fairlead::removal
