// Checks whether everything that has to do with a webhook's certificate fits together: the Secret in itself, every
// caBundle that leads to the Service, and what the endpoints serve. Changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "certs/inject.h"
#include "certs/judge.h"
#include "certs/proofs.h"

namespace fairlead::certs {

struct Finding {
  enum class State { ok, wrong, unknown };
  State state = State::ok;
  // "Secret shop/hook-cert", "webhook v.shop.example.com of ValidatingWebhookConfiguration shop"
  std::string subject;
  std::string text;
};
// "ok", "wrong" or "unknown".
std::string_view name_of(Finding::State state);

// "no webhook, CRD or APIService …", for a Service that nothing is seen to call.
std::string no_caller_text(const Spec& spec);

bool is_healthy(const std::vector<Finding>& findings);

// For certificates that come from elsewhere: checks tls.crt, tls.key and ca.crt against each other, and against the
// caBundle that API servers are given (PEM, or base64 of it), if there is one. Names every mismatch. Pure.
std::vector<Finding> check_pair(const Material& stored, const Spec& spec, const std::optional<std::string>& ca_bundle,
                                WallTime now);

// Whether the certificate verifies with the caBundle of a place. Pure.
Finding check_place(const Place& place, const Material& stored, const Spec& spec, WallTime now);

// Checks the pair, every place among the targets, and, through `proofs`, what is served now.
Task<Result<std::vector<Finding>>> verify(kube::Client& client, Spec spec, Targets targets, Material stored,
                                          std::optional<std::string> ca_bundle, Proofs& proofs);

}  // namespace fairlead::certs
