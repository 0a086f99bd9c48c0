// The layers between an admission webhook that is stored and one that works, and what is known of each. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook.h"
#include "base/json.h"
#include "object/key.h"
#include "readiness/proof.h"
#include "readiness/why.h"

namespace fairlead::wait {

struct Layer {
  enum class State { ok, failing, unknown, unused };
  // "configuration", "caBundle", "service", "endpoints", "pods", "TLS", "answer" or "probe".
  std::string_view name;
  State state = State::unknown;
  std::string text = {};
  // A command that tells more, or empty.
  std::string next = {};

  bool operator==(const Layer&) const = default;
};
// "ok", "failing", "unknown" or "unused".
std::string_view name_of(Layer::State state);

// A webhook that the API server calls: one of a webhook configuration, or the conversion webhook of a CRD.
struct Callee {
  // "v.example.com", or the name of the CRD.
  std::string name;
  // The object that registers it.
  object::Key configuration;
  readiness::Target target;
  std::optional<admission::ServiceReference> service = {};
  std::string ca_bundle = {};
  // Nothing for a conversion.
  std::optional<admission::Webhook> hook = {};
  // The registry that it is in; nothing for a conversion, which has none.
  std::optional<readiness::GuardKind> kind = {};
  // The configuration was changed after it was created, and so lately that an API server may still use the former one.
  bool is_fresh_change = false;
  // Identifies the configuration as it is registered.
  std::string version = {};

  std::string text() const;
};

// Reads the webhooks of a configuration, or the conversion webhook of a CRD. Markers of Fairlead are left out. `now` is
// the API server's clock.
std::vector<Callee> callees_of(const Json& object, WallTime now);

// What was found out about a callee.
struct Findings {
  // Null if the Service does not exist. Nothing while that is not known.
  std::optional<Json> service = {};
  std::optional<readiness::EndpointCount> endpoints = {};
  // Why no endpoint is ready.
  readiness::Why why = {};
  // What came of a call, of one call per endpoint, of the proof that the configuration is in effect, and of the review
  // of the user's object.
  std::optional<readiness::Proof> call = {};
  std::optional<readiness::Proof> each = {};
  std::optional<readiness::Proof> effect = {};
  std::optional<readiness::Proof> review = {};
  bool wants_review = false;
  // The webhook is never asked about the user's object.
  bool ignores_object = false;
};

// In the order in which a call meets them.
std::vector<Layer> layers_of(const Callee& callee, const Findings& findings);
// The first layer that fails or, if none does, that is not known. Null if all is well.
const Layer* first_open(const std::vector<Layer>& layers);
// True if the cluster shows that a call must fail, so that none is made.
bool must_fail(const std::vector<Layer>& layers);
readiness::Rung rung_of(const Findings& findings);

}  // namespace fairlead::wait
