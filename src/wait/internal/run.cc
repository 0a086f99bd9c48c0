#include "wait/internal/run.h"

#include <algorithm>
#include <cctype>

#include "base/duration_text.h"
#include "base/plain_text.h"

namespace fairlead::wait {

using journal::EventKind;
using State = ObjectEnding::State;

namespace {

constexpr size_t kReasonBytes = 600;
// So many objects are named in a line about what is waited for.
constexpr size_t kNamed = 3;
// An API server that answers gets an answer judged within this time.
constexpr Duration kPatience = std::chrono::seconds(1);
// Who has no time to wait still has time to look once, and to call a webhook once.
constexpr Duration kOneLook = std::chrono::seconds(11);

std::string shown_time(Duration duration) { return short_text(std::chrono::round<std::chrono::seconds>(duration)); }

bool is_plain(std::string_view name) {
  return std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == ':'; });
}

Task<Result<void>> wait_once(Signal& signal) { co_return co_await signal.wait(); }

}  // namespace

Task<Result<void>> wait_until(Loop& loop, Signal& signal, TimePoint time) {
  Result<void> result = co_await with_deadline(loop, time, "the time is over", wait_once(signal));
  if (!result && result.error().kind() == ErrorKind::timeout) co_return Result<void>();
  co_return result;
}

std::string kubectl(std::string_view verb, const std::string& resource, const std::string& ns,
                    const std::string& name) {
  if (!is_plain(resource) || !is_plain(ns) || !is_plain(name)) return {};
  return fmt::format("kubectl {}{} {}{}{}", ns.empty() ? "" : "-n " + ns + " ", verb, resource, name.empty() ? "" : " ",
                     name);
}

Run::Run(kube::Client& client, kube::Discovery& discovery, const Options& options, journal::Journal& journal)
    : client(client),
      discovery(discovery),
      options(options),
      journal(journal),
      loop(client.loop()),
      begun(client.loop().now()),
      settled(client.loop()),
      limits_changed(client.loop()) {}

Subject& Run::add(Unit& unit, object::Key key) {
  Subject& subject =
      subjects.emplace_back(Subject{.key = std::move(key), .source = unit.target.source, .begun = loop.now()});
  unit.subjects.push_back(&subject);
  limits_changed.notify_all();
  return subject;
}

void Run::tell(Subject& subject, std::string reason, std::string_view state) {
  reason = plain_text(reason, kReasonBytes);
  if (subject.is_settled() || reason == subject.reason) return;
  subject.reason = reason;
  journal.add({.kind = EventKind::progress,
               .key = subject.key,
               .source = subject.source,
               .state = std::string(state),
               .text = std::move(reason)});
}

void Run::seen(Subject& subject) {
  if (subject.seen) return;
  subject.seen = loop.now();
  limits_changed.notify_all();
}

void Run::met(Subject& subject, std::string reason) {
  if (subject.is_settled()) return;
  subject.state = State::met;
  subject.reason = plain_text(reason, kReasonBytes);
  subject.took = loop.now() - subject.begun;
  journal.add({.kind = EventKind::ready,
               .key = subject.key,
               .source = subject.source,
               .state = options.form.met_text(),
               .text = subject.reason});
  settled.notify_all();
}

void Run::failed(Subject& subject, Error error) {
  if (subject.is_settled()) return;
  subject.state = error.kind() == ErrorKind::timeout ? State::timed_out : State::failed;
  subject.took = loop.now() - subject.begun;
  subject.error = std::move(error);
  journal.add({.kind = EventKind::failed,
               .key = subject.key,
               .source = subject.source,
               .state = std::string(name_of(subject.state)),
               .text = subject.reason,
               .error = subject.error});
  settled.notify_all();
}

void Run::timed_out(Subject& subject) { failed(subject, unmet_error(subject, timeout_for(subject))); }

void Run::settle(Unit& unit, State state, std::optional<Error> error) {
  if (unit.is_settled()) return;
  unit.state = state;
  unit.error = std::move(error);
  settled.notify_all();
}

Duration Run::timeout_for(const Subject& subject) const {
  bool is_raised = subject.is_webhook && !options.allow_short;
  if (!subject.seen && !options.form.is(Form::Kind::removal)) {
    // A limit that stems from `timeout` is raised with it.
    Duration timeout = options.time_to_exist();
    bool is_given = options.existence_timeout || timeout == Duration::zero();
    return is_raised && !is_given ? std::max(timeout, kLeastWebhookTimeout) : timeout;
  }
  Duration timeout = options.timeout.value_or(subject.is_webhook ? kWebhookTimeout : kTimeout);
  return is_raised ? std::max(timeout, kLeastWebhookTimeout) : timeout;
}

TimePoint Run::due(const Subject& subject) const { return subject.seen.value_or(subject.begun) + timeout_for(subject); }

TimePoint Run::limit(const Unit& unit) const {
  auto with_patience = [](TimePoint begun, Duration time) {
    return begun + (time == Duration::zero() ? kOneLook : time + kPatience);
  };
  TimePoint limit = unit.target.is_group() ? with_patience(unit.begun, options.time_to_exist()) : unit.begun;
  for (const Subject* subject : unit.subjects)
    limit = std::max(limit, with_patience(subject->seen.value_or(subject->begun), timeout_for(*subject)));
  return limit;
}

Duration Run::reading_time(bool has_webhooks) const {
  Duration time = options.time_to_exist();
  if (time == Duration::zero()) return kOneLook;
  return has_webhooks && !options.allow_short ? std::max(time, kLeastWebhookTimeout) : time;
}

bool Run::is_certain() const {
  auto is_settled = [](const auto& one) { return one.is_settled(); };
  auto is_met = [](const auto& one) { return one.state == State::met; };
  auto is_lost = [](const auto& one) { return one.state == State::failed || one.state == State::timed_out; };
  if (options.any) return std::ranges::any_of(subjects, is_met) || std::ranges::all_of(units, is_settled);
  return std::ranges::any_of(units, is_lost) || std::ranges::all_of(units, is_met);
}

uint64_t Run::count_met() const {
  uint64_t met = 0;
  for (const Unit& unit : units) met += uint64_t(std::ranges::count(unit.subjects, State::met, &Subject::state));
  return met;
}

uint64_t Run::count() const {
  uint64_t all = 0;
  for (const Unit& unit : units) all += unit.subjects.size();
  return all;
}

std::string Run::awaited() const {
  std::string text;
  size_t count = 0;
  auto add = [&](const std::string& what, const std::string& reason) {
    if (count++ >= kNamed) return;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", what, reason.empty() ? "" : " (" + reason + ")");
  };
  for (const Unit& unit : units) {
    if (unit.is_settled()) continue;
    if (unit.subjects.empty()) add(unit.target.text(), "nothing matches yet");
    for (const Subject* subject : unit.subjects)
      if (!subject->is_settled()) add(subject->key.text(), subject->reason);
  }
  if (count > kNamed) text += fmt::format(" and {} more", count - kNamed);
  return text;
}

Error Run::unmet_error(const Subject& subject, std::optional<Duration> within) const {
  std::string what = subject.key.text() + " ";
  bool is_missing = !subject.seen && !options.form.is(Form::Kind::removal);
  what += is_missing ? "does not exist" : options.form.unmet_text();
  if (within && *within > Duration::zero()) what += " after " + shown_time(*within);
  Error error(within ? ErrorKind::timeout : ErrorKind::unavailable, std::move(what));
  std::optional<Error> chain = subject.why.error(error.kind());
  bool is_told = (chain && chain->what() == subject.reason) || (is_missing && subject.reason == kAbsent);
  bool says_more = !subject.reason.empty() && !is_told;
  if (says_more) {
    Error reason(error.kind(), subject.reason);
    chain = chain ? std::move(reason).because(*std::move(chain)) : std::move(reason);
  }
  if (chain) error = std::move(error).because(*std::move(chain));
  if (!subject.source.empty()) error = std::move(error).at(subject.source);
  if (error.next().empty() && !subject.next.empty()) error = std::move(error).next(subject.next);
  return error;
}

}  // namespace fairlead::wait
