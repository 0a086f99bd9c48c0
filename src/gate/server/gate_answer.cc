// What becomes of a request.
#include <algorithm>

#include "base/duration_text.h"
#include "base/printable.h"
#include "gate/server/internal/catch_up.h"
#include "gate/server/internal/gate_parts.h"
#include "webhook/server/reviewer.h"

namespace fairlead::gate {
namespace {

// Where a review begins, as API servers write it. What works needs nothing else of it than its uid.
constexpr std::string_view kBeginning =
    R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":")";

http::Answer text_answer(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = http::body_of(std::move(text))};
}

http::Answer json_answer(std::string text) {
  return {.headers = {{"Content-Type", "application/json"}}, .body = http::body_of(std::move(text))};
}

// Of the time-out, what is left for the answer to get back to an API server that has much to do: an answer that comes
// too late lets the request pass.
constexpr int kShareForAnswer = 5;
// Each request that is held already shortens the next one's time by this, up to a half of it, so that a crowd that came
// at once is not answered at once.
constexpr Duration kStagger = std::chrono::milliseconds(10);
// Between two requests that go on because the webhook works: it has just started, and its callers need connections.
constexpr Duration kBetweenTurns = std::chrono::milliseconds(4);
// For so many clients that wait, the next tries are spread over one more second.
constexpr size_t kTriesPerSecond = 100;
constexpr size_t kMostSpread = 10;

Duration time_to_hold(Duration timeout, size_t held) {
  Duration time = timeout - timeout / kShareForAnswer;
  return time - std::min<Duration>(time / 2, kStagger * static_cast<int64_t>(held));
}

// The uid, if the review begins like that of an API server and the uid is one; empty otherwise.
std::string_view uid_of_beginning(std::string_view body) {
  if (!body.starts_with(kBeginning)) return {};
  body.remove_prefix(kBeginning.size());
  constexpr size_t kMaxUid = 64;
  size_t size = body.substr(0, kMaxUid).find('"');
  if (size == body.npos) return {};
  std::string_view uid = body.substr(0, size);
  bool is_plain = std::ranges::all_of(uid, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
  });
  return is_plain ? uid : std::string_view();
}

// The group of the object, if the review begins like that of an API server; empty otherwise, and for the core group.
std::string_view group_of_beginning(std::string_view body) {
  constexpr std::string_view kKind = R"(","kind":{"group":")";
  std::string_view uid = uid_of_beginning(body);
  if (uid.empty()) return {};
  body.remove_prefix(kBeginning.size() + uid.size());
  if (!body.starts_with(kKind)) return {};
  body.remove_prefix(kKind.size());
  constexpr size_t kMaxGroup = 253;
  size_t size = body.substr(0, kMaxGroup + 1).find('"');
  return size == body.npos ? std::string_view() : body.substr(0, size);
}

// For requests of groups of which the gate knows no webhook. A list takes milliseconds.
constexpr Duration kCatchUp = std::chrono::milliseconds(300);

}  // namespace

// An operator's webhook names the groups of its CRDs. Where one does, the gate knows of the operator.
bool Gate::may_be_late(std::string_view group) const {
  if (!scope_ || !view_.synced() || !is_group_of_a_domain(group)) return false;
  return std::ranges::none_of(tracked_, [&](const auto& entry) { return entry.second->hook->names_group(group); });
}

Task<void> Gate::catch_up() {
  TimePoint deadline = loop_.now() + kCatchUp;
  co_await catch_up_->wait(*scope_, deadline);
  auto all_tracked = [this]() -> Task<Result<void>> {
    auto is_tracked = [this](const auto& entry) { return tracked_.contains(entry.first); };
    while (!std::ranges::all_of(view_.hooks(), is_tracked)) CO_TRY(co_await health_changed_.wait());
    co_return Result<void>();
  };
  (void)co_await with_deadline(loop_, deadline, "webhooks are not followed yet", all_tracked());
}

Gate::Awaiting Gate::awaiting(TimePoint now) const {
  Awaiting result;
  for (const auto& [id, tracked] : tracked_) {
    if (!tracked->health.is_awaited(options_.patience, now)) continue;
    result.hooks.push_back({.hook = tracked->hook.get(),
                            .phase = tracked->health.phase(options_.patience, now),
                            .until = tracked->health.awaited_until(options_.patience),
                            .finding = tracked->health.finding()});
    if (tracked->hook->webhook.service) result.backing.insert(tracked->hook->webhook.service->ns);
  }
  return result;
}

Task<http::Answer> Gate::answer(http::Request request) {
  TimePoint arrived = loop_.now();
  std::string_view target = request.target;
  std::string_view path = target.substr(0, target.find('?'));
  if (path != kPath) co_return text_answer(404, fmt::format("reviews are sent to {}\n", kPath));
  if (request.method != "POST") co_return text_answer(405, "reviews are sent with POST\n");
  Duration time = time_to_hold(webhook::timeout_in(path.size() < target.size() ? target.substr(path.size() + 1) : "")
                                   .value_or(std::chrono::seconds(options_.registrar.seconds)),
                               held_.size());
  if (may_be_late(group_of_beginning(request.body))) co_await catch_up();
  bool is_anything_awaited = view_.synced() && std::ranges::any_of(tracked_, [&](const auto& entry) {
                               return entry.second->health.is_awaited(options_.patience, arrived);
                             });
  if (!is_anything_awaited) {
    if (std::string_view uid = uid_of_beginning(request.body); !uid.empty()) {
      ++counts_.decided[static_cast<size_t>(Decided::allowed)];
      co_return json_answer(fmt::format(
          R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{}","allowed":true}}}})",
          uid));
    }
  }
  Result<webhook::AdmissionReview> review = webhook::read_admission_review(request.body);
  // What is held needs no more than names.
  request = {};
  if (!review) {
    ++counts_.decided[static_cast<size_t>(Decided::malformed)];
    co_return text_answer(review.error().kind() == ErrorKind::limit ? 413 : 400,
                          printable_line(review.error().message()) + "\n");
  }
  if (!is_anything_awaited) co_return allow(*review, Decided::allowed);
  co_return co_await answer_review(*std::move(review), arrived, time);
}

Task<http::Answer> Gate::answer_review(webhook::AdmissionReview review, TimePoint arrived, Duration time) {
  webhook::Request& request = review.request;
  if (!exemption(request, options_.registrar.ns).empty()) co_return allow(review, Decided::allowed);
  std::optional<Wait> wait;
  {
    Awaiting now = awaiting(arrived);
    bool is_namespace = request.resource.group.empty() && request.resource.resource == "namespaces";
    Knowledge knowledge{.awaited = now.hooks,
                        .backing = now.backing,
                        .kinds = view_.kinds(),
                        .ns_object = is_namespace ? Json() : view_.ns_object(request.ns)};
    wait = wait_for(request, knowledge);
  }
  std::string key = attempt_key(request);
  if (!wait) {
    attempts_.forget(key);
    co_return allow(review, Decided::allowed);
  }
  Attempts::Entry entry = attempts_.at(key, arrived);
  TimePoint own_limit =
      is_service_account(request.user) ? entry.first + options_.patience.service_accounts : TimePoint::max();
  TimePoint until = std::min(wait->until, own_limit);
  if (entry.is_spent || arrived >= until) {
    attempts_.at(key, arrived).is_spent = true;
    co_return allow(review, Decided::spent, &*wait);
  }
  tell_waiting(*wait, request);
  std::string object = object_text(request);
  request.object = {};
  request.old_object = {};
  bool is_held = held_.size() < options_.holds && !draining_;
  if (is_held) {
    // A provisional wait ends with its own patience; a proof may come before that.
    auto place = held_.insert(
        held_.end(),
        {.object = std::move(object), .user = printable_line(request.user.name), .hook = wait->text, .since = arrived});
    ++counts_.hooks[wait->name].held;
    co_await hold(wait->hooks, std::min(arrived + time, own_limit));
    bool is_unproved = false;
    if (!still_awaited(wait->hooks, is_unproved)) co_await take_turn(arrived + time);
    held_.erase(place);
    counts_.hooks[wait->name].waited += loop_.now() - arrived;
  }
  TimePoint now = loop_.now();
  bool is_proved = false;
  std::optional<TimePoint> awaited = still_awaited(wait->hooks, is_proved);
  if (!awaited) {
    attempts_.forget(key);
    // Either all work by now, or the patience with one of them is used up.
    bool has_worked = std::ranges::all_of(wait->hooks, [&](const std::string& id) {
      auto found = tracked_.find(id);
      return found == tracked_.end() || found->second->health.finding().kind != Finding::Kind::failing;
    });
    co_return allow(review, has_worked ? Decided::waited : Decided::spent, &*wait, arrived);
  }
  if (now >= std::min(*awaited, own_limit)) {
    attempts_.at(key, now).is_spent = true;
    co_return allow(review, Decided::spent, &*wait, arrived);
  }
  if (!is_proved) co_return allow(review, Decided::unproved, &*wait, arrived);
  co_return refuse(review, *wait, key, std::min(*awaited, own_limit) - now, now - arrived);
}

Task<void> Gate::hold(const std::vector<std::string>& hooks, TimePoint until) {
  auto count = [&](int step) {
    for (const std::string& id : hooks)
      if (auto found = tracked_.find(id); found != tracked_.end()) {
        found->second->waiting += static_cast<size_t>(step);
        if (step > 0) found->second->woken.notify_all();
      }
  };
  count(1);
  auto ends = [&]() -> Task<Result<void>> {
    bool is_proved = false;
    while (!draining_ && still_awaited(hooks, is_proved)) CO_TRY(co_await health_changed_.wait());
    co_return Result<void>();
  };
  // Nothing is notified when a patience ends by itself.
  bool is_proved = false;
  while (std::optional<TimePoint> awaited = still_awaited(hooks, is_proved)) {
    Result<void> ended = co_await with_deadline(loop_, std::min(until, *awaited), "the time to hold is over", ends());
    if (ended || ended.error().kind() == ErrorKind::cancelled || loop_.now() >= until) break;
  }
  count(-1);
}

Task<void> Gate::take_turn(TimePoint latest) {
  TimePoint now = loop_.now();
  next_turn_ = std::max(next_turn_ + kBetweenTurns, now);
  TimePoint turn = std::min(next_turn_, latest);
  if (turn > now) (void)co_await sleep_for(loop_, turn - now);
}

std::optional<TimePoint> Gate::still_awaited(const std::vector<std::string>& hooks, bool& is_proved) const {
  std::optional<TimePoint> until;
  TimePoint now = loop_.now();
  for (const std::string& id : hooks) {
    auto found = tracked_.find(id);
    if (found == tracked_.end() || !found->second->health.is_awaited(options_.patience, now)) continue;
    if (found->second->health.phase(options_.patience, now) != Phase::unseen) is_proved = true;
    until = std::max(until.value_or(TimePoint()), found->second->health.awaited_until(options_.patience));
  }
  return until;
}

http::Answer Gate::allow(const webhook::AdmissionReview& review, Decided decided, const Wait* wait, TimePoint arrived) {
  ++counts_.decided[static_cast<size_t>(decided)];
  webhook::Decision decision = webhook::allow();
  if (wait) {
    if (decided == Decided::spent) {
      ++counts_.hooks[wait->name].spent;
      for (const std::string& id : wait->hooks)
        if (auto found = tracked_.find(id); found != tracked_.end() && !found->second->told_spent) {
          found->second->told_spent = true;
          write_event(
              *found->second, "PatienceUsedUp",
              fmt::format("{} does not work: {}; requests are let through now", wait->text, wait->finding.cause));
        }
    }
    std::string text = arrived == TimePoint() ? fmt::format("not for {}", wait->text)
                                              : fmt::format("{} for {}", short_text(loop_.now() - arrived), wait->text);
    decision.audit_annotations = {{"waited", std::move(text)}};
    if (options_.warns && decided == Decided::waited)
      decision.warnings = {fmt::format("the request waited until {} worked", wait->text)};
  }
  return json_answer(webhook::write_admission_answer(review, decision));
}

http::Answer Gate::refuse(const webhook::AdmissionReview& review, const Wait& wait, const std::string& key,
                          Duration remaining, Duration held) {
  ++counts_.decided[static_cast<size_t>(Decided::refused)];
  ++counts_.hooks[wait.name].refused;
  Attempts::Entry& entry = attempts_.at(key, loop_.now());
  webhook::Decision decision = webhook::deny(refusal_text(wait));
  decision.code = 429;
  // Whoever is told by a replica that stops asks another one next.
  std::chrono::seconds step = draining_ ? std::chrono::seconds(1) : retry_after(entry.refusals, remaining, held);
  size_t spread = std::min(attempts_.size() / kTriesPerSecond, kMostSpread);
  if (!draining_) step += std::chrono::seconds(std::hash<std::string>()(key) % (spread + 1));
  decision.retry_after_seconds = step.count();
  entry.refusals++;
  entry.expected = loop_.now() + step;
  decision.audit_annotations = {{"waits", wait.text}};
  return json_answer(webhook::write_admission_answer(review, decision));
}

}  // namespace fairlead::gate
