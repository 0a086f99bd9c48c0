// What a request has to go through, as a plan that the caller carries out: mutating webhooks one after another,
// validating ones all at once. The caller makes the calls; what they are, what follows from an answer, and how it ends
// is decided here.
//
//   Mutation mutation(hooks, attributes, make_uid);
//   while (const Call* call = mutation.next()) { send call->review; mutation.answered(answer) or mutation.failed(tail);
//   } if (!mutation.status().is_null()) …refused… else go on with mutation.object()
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/attributes.h"
#include "admission/match.h"
#include "admission/review.h"
#include "admission/webhook.h"

namespace fairlead::admission {

using MakeUid = std::function<std::string()>;
using Annotations = std::vector<std::pair<std::string, std::string>>;

struct Call {
  const Webhook* webhook = nullptr;
  Target target;
  ReviewVersion version = ReviewVersion::v1;
  std::string uid;
  Json review;
  // The request may have less time left than that.
  int timeout_seconds = 10;
};

// What an API server counts of a webhook that a request met.
struct Encounter {
  enum class How {
    allowed,
    denied,
    // There was no valid answer. `is_rejected` says whether that refused the request.
    failed,
    // The answer was valid, and of no use: a patch that does not fit.
    unusable,
    // Its matchConditions were evaluated; `condition_errors` of them could not be.
    conditions
  };
  const Webhook* webhook = nullptr;
  How how = How::allowed;
  // The HTTP status that stands for the outcome.
  int code = 200;
  bool is_rejected = false;
  size_t condition_errors = 0;
};

// What came of the calls so far, apart from a refusal.
struct Gathered {
  std::vector<std::string> warnings;
  Annotations audit_annotations;
  // Webhooks that should have been called and were not, or in vain: failurePolicy Ignore let the request pass.
  std::vector<std::string> failed_open;
  // Some condition could not be evaluated here, and counted as met.
  bool undecided = false;
  std::vector<Encounter> encounters;
};

// Mutating webhooks are matched on what those before them have made of the object. When all are through and one has
// changed the object after another that wants to know (reinvocationPolicy IfNeeded), there is one more round, for those
// only.
class Mutation {
 public:
  // Of the hooks, which have to stay and be in order, only mutating ones count.
  Mutation(const std::vector<Webhook>& hooks, Attributes attributes, MakeUid make_uid);

  // The call to make now; null once it is over. Stays the same until it is answered or has failed.
  const Call* next();
  void answered(const Answer& answer);
  // There was no answer: "failed to call webhook: Post \"https://…\": context deadline exceeded"
  void failed(std::string_view tail);
  // The request's own time is up, before the call or during it.
  void expire();

  // Null unless the request is refused.
  const Json& status() const { return status_; }
  // In the version of the request.
  Result<Json> object() const;
  const Gathered& gathered() const { return gathered_; }

 private:
  bool prepare(const Webhook& webhook);
  void refuse(Json status);
  // The answer of the webhook is of no use.
  void refuse_answer(const Webhook& webhook, Json status);
  void failed_call(const Webhook& webhook, std::string_view tail, int code);
  void apply(const Webhook& webhook, const Response& response);
  void finish(const Webhook& webhook, bool changed);

  const std::vector<Webhook>& hooks_;
  Attributes attributes_;
  MakeUid make_uid_;
  std::optional<Call> call_;
  size_t at_ = 0;
  int round_ = 0;
  bool again_ = false;
  std::set<std::string> called_;
  std::set<std::string> call_again_;
  Json status_;
  Gathered gathered_;
};

// Validating webhooks see what came of the mutation. All are called; the first refusal to arrive is the one that is
// told.
class Validation {
 public:
  Validation(const std::vector<Webhook>& hooks, const Attributes& attributes, const MakeUid& make_uid);

  // All to be made at once; none if the request is refused already.
  const std::vector<Call>& calls() const { return calls_; }
  void answered(size_t call, const Answer& answer);
  void failed(size_t call, std::string_view tail);
  // The request's own time is up, before the call or during it.
  void expire(size_t call);

  const Json& status() const { return status_; }
  const Gathered& gathered() const { return gathered_; }

 private:
  void refuse(Json status);
  void failed_call(const Webhook& webhook, size_t index, std::string_view tail, int code);

  std::vector<Call> calls_;
  // The place of each call among the hooks that matched, for the audit log.
  std::vector<size_t> places_;
  Json status_;
  Gathered gathered_;
};

}  // namespace fairlead::admission
