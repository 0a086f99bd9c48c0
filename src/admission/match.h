// Whether a request meets a webhook: the API server's own decision, step by step.
#pragma once

#include <optional>
#include <string>

#include "admission/attributes.h"
#include "admission/webhook.h"
#include "base/json.h"

namespace fairlead::admission {

struct Match {
  // `refused` ends the request: a condition that failed, a selector that cannot be read, a namespace that is not there.
  enum class Outcome { no, yes, refused };
  Outcome outcome = Outcome::no;
  // Of a yes: as what, and whether a condition that cannot be evaluated here was counted as met.
  Target target;
  bool undecided = false;
  // Of a no that a condition decided.
  std::string condition;
  // Of a refusal.
  Json status;
  // How many conditions could not be evaluated; nothing if none was tried.
  std::optional<size_t> condition_errors = std::nullopt;
};

// The kind of the webhook is not looked at: a request meets both kinds. Exempt resources (exempt.h) match nothing.
Match match(const Webhook& webhook, const Attributes& attributes);

// Whether rules that guard requests match, and whether rules that exclude requests do, for a request that is still to
// be sent. An error would end the request, so it counts as guarded and not as excluded.
bool may_guard(const std::vector<Rule>& rules, MatchPolicy policy, const Attributes& attributes);
bool surely_exclude(const std::vector<Rule>& rules, MatchPolicy policy, const Attributes& attributes);

}  // namespace fairlead::admission
