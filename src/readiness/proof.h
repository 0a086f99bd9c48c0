// How far a guard has come, and how that is known: a Proof. Pure: what an API server answered goes in.
//
// A guard climbs a ladder: registered, in effect, reachable, trusted, answering. The API server itself is made to prove
// the rungs (shadow.h). What it could not be made to prove rests on what the cluster shows, and says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook.h"
#include "base/json.h"
#include "kube/outcome.h"

namespace fairlead::readiness {

enum class Rung {
  nothing,
  registered,  // stored; no API server was seen to use it
  in_effect,   // that API server uses it
  reachable,   // something listens behind it
  trusted,     // and serves a certificate that verifies against the caBundle
  answering,   // and answers reviews
};
// "in effect"
std::string_view name_of(Rung rung);

// What is registered in one place of the API server, and learned of by it in order.
enum class GuardKind { validating_webhooks, mutating_webhooks, validating_policies, mutating_policies };
// "validating webhooks"
std::string_view name_of(GuardKind kind);

struct Proof {
  // As far as this look has seen. A mirror does not look at the guard's own registration: from it, `in_effect` means
  // only that nothing could be reached.
  Rung rung = Rung::nothing;
  // For which connection, and so for which API server, it holds.
  uint64_t connection = 0;
  // False: nothing is proved, and `why_not` says why; the rung then means nothing beyond `registered`.
  bool proved = false;
  // No later try of this run will prove it either: the permission is missing, or the server is too old.
  bool hopeless = false;
  // What was seen, in a sentence.
  std::string evidence;
  std::string why_not;
  // What stands between this rung and the next, or in the way of the proof.
  std::optional<kube::Fault> fault;

  bool reached(Rung wanted) const { return proved && rung >= wanted; }
};

// Whom a mirror asks: the address and trust of a webhook, without its rules.
struct Target {
  enum class Role { admission, conversion };
  Role role = Role::admission;
  // For people: "webhook x.example.com (configuration)".
  std::string name;
  // As it is registered: service or url, and caBundle.
  Json client_config;
  std::vector<std::string> review_versions = {"v1"};
  int timeout_seconds = 10;
};
Target target_of(const admission::Webhook& webhook);
// Of a CustomResourceDefinition; nothing if it has no conversion webhook.
std::optional<Target> conversion_target_of(const Json& definition);

// The hooks of a shadow, by name.
struct ProbedHooks {
  std::string mirror;
  std::string marker;
};

// What the answer to a probe proves about the target. Rung::registered, not proved, if the shadow was not met: the
// server does not use it (no fault), or something else answered first (its fault).
Proof judge_mirror(const Target& target, const ProbedHooks& hooks, const kube::Outcome<kube::Reply>& answer);

// The rung that a failed call of a webhook leaves it on.
Rung rung_of(const kube::Fault& fault, Target::Role role);

}  // namespace fairlead::readiness
