// Makes the API server ask a webhook about an object of the user.
#pragma once

#include <string>

#include "kube/client.h"
#include "object/resource.h"
#include "readiness/shadow.h"

namespace fairlead::readiness {

// What the API server is asked to create, in a dry run.
struct Reviewed {
  object::Resource resource;
  // Empty for a resource without namespaces.
  std::string ns;
  Json object;

  // "Widget team/a"
  std::string text() const;
};

// Asks once whether the webhook decides on the object. The rung of the Proof is `answering` only if the webhook allowed
// or denied it; the evidence tells which. Removes its shadow before it returns. A Failure means that there was no
// answer.
Task<kube::Outcome<Proof>> review(kube::Client& client, Prover::Options options, Target target, Reviewed reviewed);

// Judges the answer to the probe.
Proof judge_review(const Target& target, const ProbedHooks& hooks, const Reviewed& reviewed,
                   const kube::Outcome<kube::Reply>& answer);

}  // namespace fairlead::readiness
