// Says how far a guard has come, and how that is known. Pure: it judges answers of an API server that others obtained.
//
// A guard has to pass five steps, called rungs: registered, in effect, reachable, trusted, answering. The API server
// itself is made to prove the rungs (shadow.h). If it cannot be made to prove a rung, the Proof says so.
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
  registered,  // the configuration is stored, but no API server was seen to use it
  in_effect,   // the API server of this connection uses it
  reachable,   // its endpoint accepts connections
  trusted,     // its certificate is valid for the caBundle
  answering,   // it answers reviews
};
// For example "in effect".
std::string_view name_of(Rung rung);

// Guards of one kind have one registry in the API server, which learns about them in order.
enum class GuardKind { validating_webhooks, mutating_webhooks, validating_policies, mutating_policies };
inline bool is_webhooks(GuardKind kind) {
  return kind == GuardKind::validating_webhooks || kind == GuardKind::mutating_webhooks;
}
// For example "validating webhooks".
std::string_view name_of(GuardKind kind);

// What is known about a guard after one attempt to prove it.
struct Proof {
  // How far the guard has come. A mirror does not test the guard's own registration: from a mirror, `in_effect` only
  // means that nothing could be reached.
  Rung rung = Rung::nothing;
  // The connection, and so the API server, that the proof is valid for.
  uint64_t connection = 0;
  // If false, nothing is proved and `why_not` has the reason. The rung then means no more than `registered`.
  bool proved = false;
  // True if no later attempt of this run can succeed: the permission is missing, or the server is too old.
  bool hopeless = false;
  // What was observed, as a sentence.
  std::string evidence;
  std::string why_not;
  // What prevents the next rung, or the proof.
  std::optional<kube::Fault> fault;

  bool reached(Rung wanted) const { return proved && rung >= wanted; }
};

// The webhook that a mirror calls: its address and its caBundle, without its rules.
struct Target {
  enum class Role { admission, conversion };
  Role role = Role::admission;
  // Shown to users, for example "webhook x.example.com (configuration)".
  std::string name;
  // The name by which people know the webhook: "x.example.com", or the CRD that it converts.
  std::string own_name = {};
  // As registered: service or url, and caBundle.
  Json client_config;
  std::vector<std::string> review_versions = {"v1"};
  int timeout_seconds = 10;
};
Target target_of(const admission::Webhook& webhook);
// Reads a CustomResourceDefinition. Returns nothing if it has no conversion webhook.
std::optional<Target> conversion_target_of(const Json& definition);

// The names of the hooks in a shadow.
struct ProbedHooks {
  std::string mirror;
  std::string marker;
};

// Judges the answer to a probe. If the probe did not reach the shadow, the result is Rung::registered, not proved:
// either the server does not use the shadow yet (then there is no fault), or something else refused the probe (then
// `fault` is set).
Proof judge_mirror(const Target& target, const ProbedHooks& hooks, const kube::Outcome<kube::Reply>& answer);

// The API server was made to call a copy of the webhook, and speaks of that. Returns the same about the webhook itself.
kube::Fault about_the_webhook(kube::Fault fault, const Target& target);

// Returns the rung that a webhook has reached if a call of it fails like this.
Rung rung_of(const kube::Fault& fault, Target::Role role);

}  // namespace fairlead::readiness
