// Which findings concern a subject.
#include <algorithm>
#include <set>

#include "admission/match.h"
#include "doctor/doctor.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/reach.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

bool is_configuration(const object::Key& key) {
  return key.kind == "ValidatingWebhookConfiguration" || key.kind == "MutatingWebhookConfiguration";
}

bool concerns(const Finding& finding, const object::Key& key) {
  return finding.object == key || std::ranges::find(finding.related, key) != finding.related.end();
}

bool is_in(const object::Key& key, const std::string& ns) {
  return key.ns == ns || (key.kind == "Namespace" && key.name == ns);
}

// Finds the resource that an object is served as; null if it is not served.
const object::Resource* resource_of(const Snapshot& snapshot, const Json& object) {
  std::string_view api_version = object["apiVersion"].string_or("");
  auto found = std::ranges::find_if(snapshot.resources, [&](const object::Resource& one) {
    return one.kind == object["kind"].string_or("") && one.api_version() == api_version;
  });
  return found == snapshot.resources.end() ? nullptr : &*found;
}

std::optional<admission::Attributes> request_with(const Snapshot& snapshot, const Json& object) {
  const object::Resource* resource = resource_of(snapshot, object);
  if (!resource) return std::nullopt;
  admission::Attributes request = request_for(snapshot, *resource, namespace_of(object));
  request.name = name_of(object);
  request.object = object;
  request.old_object = object;
  request.operation = admission::Operation::update;
  return request;
}

bool guards(const admission::Webhook& webhook, admission::Attributes& request) {
  return std::ranges::any_of(std::to_array({admission::Operation::create, admission::Operation::update}),
                             [&](admission::Operation operation) {
                               request.operation = operation;
                               return admission::match(webhook, request).outcome != admission::Match::Outcome::no;
                             });
}

// Why a webhook whose rules match the request is not called; empty if it is called, or if its rules do not match.
std::string why_skipped(const admission::Webhook& webhook, admission::Attributes& request) {
  if (!admission::may_guard(webhook.rules, webhook.match_policy, request) || guards(webhook, request)) return {};
  auto in_namespace = admission::match_namespace(webhook.namespace_selector, request);
  if (in_namespace && !*in_namespace)
    return fmt::format("its namespaceSelector does not match namespace {}", request.ns);
  auto by_labels = admission::match_object(webhook.object_selector, request);
  if (by_labels && !*by_labels) return "its objectSelector does not match the labels of the object";
  std::string condition = admission::match(webhook, request).condition;
  return condition.empty() ? "" : fmt::format("its matchCondition {} is false", condition);
}

void add_skipped(const Snapshot& snapshot, const Json& object, Findings& findings) {
  std::optional<admission::Attributes> request = request_with(snapshot, object);
  if (!request) return;
  for (const admission::Webhook& webhook : webhooks_of(snapshot)) {
    std::string why = why_skipped(webhook, *request);
    if (why.empty()) continue;
    findings.push_back({.code = "webhook-skips-object",
                        .severity = Severity::info,
                        .object = key_of(webhook),
                        .what = fmt::format("{} is not called for {}", text_of(webhook), key_of(object).text()),
                        .causes = {std::move(why)},
                        .next = get_command(key_of(webhook)),
                        .related = {key_of(object)}});
  }
}

// The objects that webhooks of a configuration guard.
std::vector<std::string> guarded_by(const Snapshot& snapshot, const object::Key& configuration,
                                    const std::vector<Json>& objects) {
  std::vector<std::string> guarded;
  std::vector<admission::Webhook> webhooks = webhooks_of(snapshot);
  std::erase_if(webhooks, [&](const admission::Webhook& one) { return key_of(one) != configuration; });
  for (const Json& object : objects) {
    std::optional<admission::Attributes> request = request_with(snapshot, object);
    if (!request) continue;
    if (std::ranges::any_of(webhooks, [&](const admission::Webhook& one) { return guards(one, *request); }))
      guarded.push_back(key_of(object).text());
  }
  return guarded;
}

}  // namespace

Result<Findings> about_webhook(const Snapshot& snapshot, Findings findings, const std::string& name) {
  std::set<object::Key> wanted;
  for (const admission::Webhook& webhook : webhooks_of(snapshot))
    if (webhook.name == name || webhook.configuration == name) wanted.insert(key_of(webhook));
  if (wanted.empty())
    return fail(Error(ErrorKind::not_found, fmt::format("there is no webhook and no webhook configuration {}", name))
                    .next("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"));
  std::erase_if(findings, [&](const Finding& finding) {
    return std::ranges::none_of(wanted, [&](const object::Key& key) { return concerns(finding, key); });
  });
  return findings;
}

Findings about_namespace(const Snapshot& snapshot, Findings findings, const std::string& ns) {
  std::set<object::Key> guarding;
  for (const admission::Webhook& webhook : webhooks_of(snapshot))
    if (Reach reach = reach_of(snapshot, webhook);
        reach.has_namespaced && std::ranges::find(reach.namespaces, ns) != reach.namespaces.end())
      guarding.insert(key_of(webhook));
  std::erase_if(findings, [&](const Finding& finding) {
    if (is_in(finding.object, ns)) return false;
    if (std::ranges::any_of(finding.related, [&](const object::Key& key) { return is_in(key, ns); })) return false;
    return finding.severity != Severity::error || !guarding.contains(finding.object);
  });
  return findings;
}

Findings about_objects(const Snapshot& snapshot, Findings findings, const std::vector<Json>& objects) {
  Findings kept;
  for (Finding& finding : findings) {
    bool is_direct = std::ranges::any_of(objects, [&](const Json& one) { return concerns(finding, key_of(one)); });
    if (is_direct) kept.push_back(std::move(finding));
    else if (is_configuration(finding.object) && finding.severity != Severity::info) {
      std::vector<std::string> guarded = guarded_by(snapshot, finding.object, objects);
      if (guarded.empty()) continue;
      if (!finding.blocks.empty()) finding.blocks = listed(guarded);
      kept.push_back(std::move(finding));
    }
  }
  if (objects.size() == 1) add_skipped(snapshot, objects.front(), kept);
  return kept;
}

}  // namespace fairlead::doctor
