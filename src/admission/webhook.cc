#include "admission/webhook.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "admission/client_config.h"

namespace fairlead::admission {
namespace {

// What an expression in a webhook may name. authorizer is known to the server and not evaluated here.
const std::vector<std::string_view>& condition_variables() {
  static const std::vector<std::string_view> kVariables = {"object", "oldObject", "request", "namespaceObject"};
  return kVariables;
}

Webhook::SideEffects read_side_effects(const Json& value) {
  std::string_view text = value.string_or("");
  if (text == "None") return Webhook::SideEffects::none;
  if (text == "NoneOnDryRun") return Webhook::SideEffects::none_on_dry_run;
  if (text == "Some") return Webhook::SideEffects::some;
  return text.empty() ? Webhook::SideEffects::unset : Webhook::SideEffects::unknown;
}

int within(const Json& value, int low, int high, int fallback) {
  int64_t number = value.int_or(fallback);
  return number < low || number > high ? fallback : static_cast<int>(number);
}

Webhook read_webhook(const Json& hook) {
  const Json& client = hook["clientConfig"];
  Webhook webhook{.namespace_selector = read_selector(hook["namespaceSelector"]),
                  .object_selector = read_selector(hook["objectSelector"])};
  webhook.name = hook["name"].string_or("");
  webhook.service = read_service(client["service"]);
  webhook.url = client["url"].string_or("");
  webhook.ca_bundle = client["caBundle"].string_or("");
  for (const Json& rule : hook["rules"].items()) webhook.rules.push_back(Rule::read(rule));
  webhook.failure_policy = read_failure_policy(hook["failurePolicy"]);
  webhook.match_policy = read_match_policy(hook["matchPolicy"]);
  webhook.conditions = read_conditions(hook["matchConditions"], condition_variables());
  webhook.side_effects = read_side_effects(hook["sideEffects"]);
  webhook.timeout_seconds = within(hook["timeoutSeconds"], 1, 30, 10);
  webhook.review_versions = read_strings(hook["admissionReviewVersions"]);
  if (hook["reinvocationPolicy"].string_or("") == "IfNeeded") webhook.reinvocation = Webhook::Reinvocation::if_needed;
  return webhook;
}

}  // namespace

std::vector<Webhook> read_webhooks(const Json& configuration) {
  std::string_view kind = configuration["kind"].string_or("");
  bool mutating = kind == "MutatingWebhookConfiguration";
  std::vector<Webhook> webhooks;
  if (!mutating && kind != "ValidatingWebhookConfiguration") return webhooks;
  std::map<std::string, size_t, std::less<>> seen;
  for (const Json& hook : configuration["webhooks"].items()) {
    Webhook webhook = read_webhook(hook);
    webhook.kind = mutating ? Webhook::Kind::mutating : Webhook::Kind::validating;
    webhook.configuration = configuration["metadata"]["name"].string_or("");
    webhook.id = fmt::format("{}/{}/{}", webhook.configuration, webhook.name, seen[webhook.name]++);
    webhooks.push_back(std::move(webhook));
  }
  return webhooks;
}

void order(std::vector<Webhook>& webhooks) {
  std::map<std::string, std::vector<Webhook>> by_configuration;
  for (Webhook& webhook : webhooks) by_configuration[webhook.configuration].push_back(std::move(webhook));
  webhooks.clear();
  for (auto& [name, hooks] : by_configuration) std::move(hooks.begin(), hooks.end(), std::back_inserter(webhooks));
}

}  // namespace fairlead::admission
