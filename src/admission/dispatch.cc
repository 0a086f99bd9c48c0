#include "admission/dispatch.h"

#include <algorithm>

#include "admission/internal/status.h"
#include "base/go_quoted.h"
#include "base/json_patch.h"

namespace fairlead::admission {
namespace {

// What the real server counts a call as that brought no valid answer, one that it could not make, and an answer that it
// could not use.
constexpr int kNoAnswer = 503;
constexpr int kNotCallable = 400;
constexpr int kUnusable = 0;

bool is_success(int http) { return http >= 200 && http <= 206; }

// Why a webhook cannot be called at all.
struct Obstacle {
  // A Status, where the failure policy does not count.
  Json status;
  // Otherwise the tail of a failed call.
  std::string tail;
};

std::expected<Call, Obstacle> prepare_call(const Webhook& webhook, const Target& target, const Attributes& attributes,
                                           const MakeUid& make_uid) {
  if (attributes.dry_run) {
    if (webhook.side_effects == Webhook::SideEffects::unset)
      return std::unexpected(Obstacle{.status = {}, .tail = "Webhook SideEffects is nil"});
    if (webhook.side_effects != Webhook::SideEffects::none &&
        webhook.side_effects != Webhook::SideEffects::none_on_dry_run)
      return std::unexpected(Obstacle{.status = no_dry_run_status(webhook.name), .tail = {}});
  }
  Result<Json> object = in_version(attributes, attributes.object, target.kind);
  Result<Json> old_object = in_version(attributes, attributes.old_object, target.kind);
  for (const Result<Json>* converted : {&object, &old_object})
    if (!*converted)
      return std::unexpected(Obstacle{.status = internal_error(converted->error().message()), .tail = {}});
  std::optional<ReviewVersion> version = choose_version(webhook.review_versions);
  if (!version)
    return std::unexpected(Obstacle{.status = {},
                                    .tail = "could not create admission objects: webhook does not accept known "
                                            "AdmissionReview versions (v1, v1beta1)"});
  Call call;
  call.webhook = &webhook;
  call.target = target;
  call.version = *version;
  call.uid = make_uid();
  call.review = review_request(*version, call.uid, attributes, target, *object, *old_object);
  call.timeout_seconds = webhook.timeout_seconds;
  return call;
}

void gather(const Webhook& webhook, const Response& response, Gathered& gathered) {
  for (const auto& [key, value] : response.audit_annotations)
    gathered.audit_annotations.emplace_back(webhook.name + "/" + key, value);
  for (const std::string& warning : response.warnings) gathered.warnings.push_back(warning);
}

void count_conditions(const Webhook& webhook, const Match& match, Gathered& gathered) {
  if (!match.condition_errors) return;
  gathered.encounters.push_back(
      {.webhook = &webhook, .how = Encounter::How::conditions, .condition_errors = *match.condition_errors});
}

void count_failure(const Webhook& webhook, int code, Gathered& gathered) {
  gathered.encounters.push_back({.webhook = &webhook,
                                 .how = Encounter::How::failed,
                                 .code = code,
                                 .is_rejected = webhook.failure_policy == FailurePolicy::fail});
}

void count_unusable(const Webhook& webhook, Gathered& gathered) {
  gathered.encounters.push_back(
      {.webhook = &webhook, .how = Encounter::How::unusable, .code = kUnusable, .is_rejected = true});
}

// Returns the refusal of a webhook that denied the request.
Json denied(const Webhook& webhook, const Response& response, Gathered& gathered) {
  Json status = denial_status(webhook.name, response.status);
  gathered.encounters.push_back(
      {.webhook = &webhook, .how = Encounter::How::denied, .code = int(status["code"].int_or(0)), .is_rejected = true});
  return status;
}

}  // namespace

Mutation::Mutation(const std::vector<Webhook>& hooks, Attributes attributes, MakeUid make_uid)
    : hooks_(hooks), attributes_(std::move(attributes)), make_uid_(std::move(make_uid)) {}

const Call* Mutation::next() {
  while (!call_ && status_.is_null()) {
    if (at_ == hooks_.size()) {
      if (round_ == 1 || !again_) return nullptr;
      round_ = 1;
      at_ = 0;
      continue;
    }
    const Webhook& webhook = hooks_[at_];
    if (webhook.kind != Webhook::Kind::mutating || !prepare(webhook)) ++at_;
  }
  return status_.is_null() && call_ ? &*call_ : nullptr;
}

bool Mutation::prepare(const Webhook& webhook) {
  Match matched = match(webhook, attributes_);
  count_conditions(webhook, matched, gathered_);
  if (matched.outcome == Match::Outcome::refused) refuse(std::move(matched.status));
  if (matched.outcome != Match::Outcome::yes) return false;
  // A hook is never called for the first time in the second round.
  if (round_ == 1 && !call_again_.contains(webhook.id)) return false;
  gathered_.undecided = gathered_.undecided || matched.undecided;
  std::expected<Call, Obstacle> call = prepare_call(webhook, matched.target, attributes_, make_uid_);
  if (call) {
    call_ = *std::move(call);
    return true;
  }
  if (!call.error().status.is_null()) {
    refuse_answer(webhook, std::move(call.error().status));
  } else {
    failed_call(webhook, call.error().tail, kNotCallable);
    if (webhook.reinvocation == Webhook::Reinvocation::if_needed) called_.insert(webhook.id);
  }
  return false;
}

void Mutation::refuse(Json status) {
  if (status_.is_null()) status_ = std::move(status);
}

void Mutation::refuse_answer(const Webhook& webhook, Json status) {
  count_unusable(webhook, gathered_);
  refuse(std::move(status));
}

void Mutation::failed_call(const Webhook& webhook, std::string_view tail, int code) {
  count_failure(webhook, code, gathered_);
  if (webhook.failure_policy == FailurePolicy::fail) return refuse(call_failure_status(webhook.name, tail));
  gathered_.failed_open.push_back(webhook.name);
  gathered_.audit_annotations.emplace_back(
      fmt::format("failed-open.mutation.webhook.admission.k8s.io/round_{}_index_{}", round_, at_), webhook.name);
}

void Mutation::answered(const Answer& answer) {
  if (!call_) return;
  const Webhook& webhook = *call_->webhook;
  std::expected<Response, std::string> response = read_answer(call_->version, call_->uid, true, answer);
  if (!response) {
    failed_call(webhook, response.error(), is_success(answer.http) ? kNoAnswer : answer.http);
    return finish(webhook, false);
  }
  gather(webhook, *response, gathered_);
  if (!response->allowed) {
    refuse(denied(webhook, *response, gathered_));
    return finish(webhook, false);
  }
  apply(webhook, *response);
}

void Mutation::failed(std::string_view tail) {
  if (!call_) return;
  const Webhook& webhook = *call_->webhook;
  failed_call(webhook, tail, kNoAnswer);
  finish(webhook, false);
}

void Mutation::expire() {
  if (call_) count_failure(*call_->webhook, kNoAnswer, gathered_);
  refuse(request_timed_out());
}

void Mutation::apply(const Webhook& webhook, const Response& response) {
  auto allow = [&](bool changed) {
    gathered_.encounters.push_back({.webhook = &webhook});
    finish(webhook, changed);
  };
  if (response.patch.empty()) return allow(false);
  Result<Json> patch = Json::parse(response.patch);
  Result<void> checked = patch ? check_json_patch(*patch) : Result<void>(std::unexpected(patch.error()));
  if (!checked)
    return failed(fmt::format("received undecodable patch in webhook response: {}", checked.error().what()));
  if (patch->items().empty()) return allow(false);
  if (attributes_.object.is_null()) {
    refuse_answer(webhook,
                  internal_error(fmt::format(
                      "admission webhook {} attempted to modify the object, which is not supported for this operation",
                      go_quoted(webhook.name))));
    return finish(webhook, false);
  }
  if (response.patch_type != "JSONPatch") {
    failed_call(webhook, fmt::format("unsupported patch type {}", go_quoted(response.patch_type)), kNotCallable);
    return finish(webhook, false);
  }
  Result<Json> before = in_version(attributes_, attributes_.object, call_->target.kind);
  Result<Json> after = before ? apply_json_patch(*before, *patch) : before;
  if (!after) {
    // The failure policy does not count for a patch that does not fit.
    refuse_answer(webhook, internal_error(after.error().message()));
    return finish(webhook, false);
  }
  bool changed = !after->same_as(*before);
  attributes_.object = *std::move(after);
  allow(changed);
}

void Mutation::finish(const Webhook& webhook, bool changed) {
  if (changed) {
    again_ = true;
    call_again_.insert(called_.begin(), called_.end());
    called_.clear();
  }
  if (webhook.reinvocation == Webhook::Reinvocation::if_needed) called_.insert(webhook.id);
  call_.reset();
  ++at_;
}

Result<Json> Mutation::object() const { return in_version(attributes_, attributes_.object, attributes_.kind); }

Validation::Validation(const std::vector<Webhook>& hooks, const Attributes& attributes, const MakeUid& make_uid) {
  struct Matched {
    const Webhook* webhook;
    Target target;
  };
  std::vector<Matched> matched;
  for (const Webhook& webhook : hooks) {
    if (webhook.kind != Webhook::Kind::validating) continue;
    Match found = match(webhook, attributes);
    count_conditions(webhook, found, gathered_);
    if (found.outcome == Match::Outcome::refused) {
      refuse(std::move(found.status));
      return;
    }
    if (found.outcome == Match::Outcome::no) continue;
    gathered_.undecided = gathered_.undecided || found.undecided;
    matched.push_back({.webhook = &webhook, .target = std::move(found.target)});
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    const Webhook& webhook = *matched[i].webhook;
    std::expected<Call, Obstacle> call = prepare_call(webhook, matched[i].target, attributes, make_uid);
    if (call) {
      calls_.push_back(*std::move(call));
      places_.push_back(i);
    } else if (!call.error().status.is_null()) {
      count_unusable(webhook, gathered_);
      refuse(std::move(call.error().status));
    } else {
      failed_call(webhook, i, call.error().tail, kNotCallable);
    }
  }
}

void Validation::refuse(Json status) {
  if (status_.is_null()) status_ = std::move(status);
}

void Validation::failed_call(const Webhook& webhook, size_t index, std::string_view tail, int code) {
  count_failure(webhook, code, gathered_);
  if (webhook.failure_policy == FailurePolicy::fail) return refuse(call_failure_status(webhook.name, tail));
  gathered_.failed_open.push_back(webhook.name);
  gathered_.audit_annotations.emplace_back(
      fmt::format("failed-open.validating.webhook.admission.k8s.io/round_0_index_{}", index), webhook.name);
}

void Validation::answered(size_t call, const Answer& answer) {
  const Webhook& webhook = *calls_[call].webhook;
  std::expected<Response, std::string> response = read_answer(calls_[call].version, calls_[call].uid, false, answer);
  if (!response)
    return failed_call(webhook, places_[call], response.error(), is_success(answer.http) ? kNoAnswer : answer.http);
  gather(webhook, *response, gathered_);
  if (!response->allowed) return refuse(denied(webhook, *response, gathered_));
  gathered_.encounters.push_back({.webhook = &webhook});
}

void Validation::failed(size_t call, std::string_view tail) {
  failed_call(*calls_[call].webhook, places_[call], tail, kNoAnswer);
}

void Validation::expire(size_t call) {
  count_failure(*calls_[call].webhook, kNoAnswer, gathered_);
  refuse(request_timed_out());
}

}  // namespace fairlead::admission
