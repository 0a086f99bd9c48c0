// The webhooks of ValidatingWebhookConfigurations and MutatingWebhookConfigurations (admissionregistration.k8s.io/v1),
// with the defaults that the API server sets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/criteria.h"
#include "base/json.h"

namespace fairlead::admission {

struct ServiceReference {
  std::string ns;
  std::string name;
  std::string path;
  int port = 443;

  bool operator==(const ServiceReference&) const = default;
};

struct Webhook {
  enum class Kind { validating, mutating };
  // `unset` cannot be stored; it ends a dry run just as `some` does, in other words.
  enum class SideEffects { unset, none, none_on_dry_run, some, unknown };
  enum class Reinvocation { never, if_needed };

  Kind kind = Kind::validating;
  std::string configuration;
  std::string name;
  // "configuration/name/0": names may come twice.
  std::string id;

  // One of the two.
  std::optional<ServiceReference> service;
  std::string url;
  // As it is stored: base64, empty for the server's own roots.
  std::string ca_bundle;

  std::vector<Rule> rules;
  FailurePolicy failure_policy = FailurePolicy::fail;
  MatchPolicy match_policy = MatchPolicy::equivalent;
  Result<object::Selector> namespace_selector;
  Result<object::Selector> object_selector;
  std::vector<Condition> conditions;
  SideEffects side_effects = SideEffects::unset;
  int timeout_seconds = 10;
  std::vector<std::string> review_versions;
  Reinvocation reinvocation = Reinvocation::never;
};

// In the order of the list. Reads what can be read: a configuration that no server would store gives hooks that match
// nothing. Nothing at all if it is neither kind.
std::vector<Webhook> read_webhooks(const Json& configuration);

// As the server calls them: configurations by name, hooks of one in the order of its list.
void order(std::vector<Webhook>& webhooks);

}  // namespace fairlead::admission
