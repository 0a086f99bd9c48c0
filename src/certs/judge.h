// Decides what has to happen to the stored certificates, and does it to a copy. Pure: no I/O, and the caller passes the
// time. The input is hostile: anything may be in a Secret.
//
// A CA is renewed with its own key and subject where possible: what old and new have signed verifies with both, so the
// order in which API servers and webhooks get them does not matter. A new key needs two steps instead, with a proof
// before each: first everybody trusts both CAs, then the leaf is changed; only then is the old CA removed. How far that
// has come is seen from the contents of the Secrets alone, so that anybody can finish what somebody else began.
#pragma once

#include <string>
#include <string_view>

#include "certs/material.h"
#include "certs/spec.h"

namespace fairlead::certs {

enum class Step {
  keep,            // nothing is to be done
  create,          // nothing is stored: a leaf, and a CA unless there is one
  replace,         // nothing works with what is stored: everything at once
  renew_leaf,      // a new leaf of the same CA
  renew_ca,        // the CA with its own key and subject, and a new leaf
  begin_rotation,  // a CA with a new key, which nobody uses yet
  publish,         // the new CA joins the old one in ca.crt
  switch_leaf,     // a leaf of the new CA. Requires that API servers trust the new CA
  retire,          // the old CA leaves ca.crt. Requires that no endpoint serves an old leaf any more
};
// For example "renew-leaf".
std::string_view name_of(Step step);
// For example "make a new certificate with the same CA".
std::string_view text_of(Step step);
// The step can be taken at once: nobody has to be waited for before it or after it.
bool is_immediate(Step step);

struct Judgement {
  Step step = Step::keep;
  // Why, as a sentence without a full stop: "the certificate expires on 2026-03-14T05:06:07Z".
  std::string reason;
  // When the pair has to be renewed; only for a pair that works.
  std::optional<WallTime> due;
};

Judgement judge(const Material& stored, const Spec& spec, WallTime now);

// Returns the contents after the step. The CA is a new object exactly if `writes_ca`.
struct Change {
  Material after;
  bool writes_ca = false;
  bool writes_serving = false;
  // The order of the two writes. The mark of a rotation must be the last thing that goes.
  bool ca_last = false;
};
Result<Change> take_step(Step step, const Material& stored, const Spec& spec, WallTime now);

// Adds what the cluster has lost and `memory` still has: a Secret that was deleted or emptied comes back as it was.
// What is stored always wins, even a pair that is broken: its CA comes back, so that the next pair is one of that CA.
// Returns nothing if nothing is missing, or if what is remembered does not work any more.
std::optional<Change> heal(const Material& stored, const Material& memory, const Spec& spec, WallTime now);

// Why clients that trust `roots` cannot use the pair under the Service's name; nothing if they can. A certificate that
// begins within the next hour is taken as valid: clocks of machines differ.
std::optional<std::string> flaw_of(const Material& stored, const std::vector<x509::Certificate>& roots,
                                   const Spec& spec, WallTime now);

// "2026-03-14T05:06:07Z"
std::string time_text(WallTime time);

}  // namespace fairlead::certs
