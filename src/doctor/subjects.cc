// Which findings concern a subject.
#include <algorithm>
#include <set>
#include <utility>

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
  return request;
}

// The requests for an object that webhooks can be called for. One that need not be in the cluster is not deleted.
std::vector<admission::Attributes> requests_for(const Snapshot& snapshot, const Json& object, bool is_stored) {
  std::optional<admission::Attributes> request = request_with(snapshot, object);
  if (!request) return {};
  std::vector<admission::Attributes> requests(is_stored ? 3 : 2, *request);
  requests[0].operation = admission::Operation::create;
  requests[1].operation = admission::Operation::update;
  requests[1].old_object = object;
  if (is_stored) {
    requests[2].operation = admission::Operation::remove;
    requests[2].old_object = std::exchange(requests[2].object, Json());
  }
  return requests;
}

bool guards(const admission::Webhook& webhook, const std::vector<admission::Attributes>& requests) {
  return std::ranges::any_of(requests, [&](const admission::Attributes& request) {
    return admission::match(webhook, request).outcome != admission::Match::Outcome::no;
  });
}

// Why a webhook whose rules match a request is not called; empty if it is called, or if its rules match none.
std::string why_skipped(const admission::Webhook& webhook, const std::vector<admission::Attributes>& requests) {
  auto found = std::ranges::find_if(requests, [&](const admission::Attributes& request) {
    return admission::may_guard(webhook.rules, webhook.match_policy, request);
  });
  if (found == requests.end() || guards(webhook, requests)) return {};
  const admission::Attributes& request = *found;
  auto in_namespace = admission::match_namespace(webhook.namespace_selector, request);
  if (in_namespace && !*in_namespace)
    return fmt::format("its namespaceSelector does not match namespace {}", request.ns);
  auto by_labels = admission::match_object(webhook.object_selector, request);
  if (by_labels && !*by_labels) return "its objectSelector does not match the labels of the object";
  std::string condition = admission::match(webhook, request).condition;
  return condition.empty() ? "" : fmt::format("its matchCondition {} is false", condition);
}

void add_skipped(const Snapshot& snapshot, const Json& object, Findings& findings) {
  std::vector<admission::Attributes> requests = requests_for(snapshot, object, true);
  for (const admission::Webhook& webhook : webhooks_of(snapshot)) {
    std::string why = why_skipped(webhook, requests);
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

bool is_custom(const Snapshot& snapshot, const object::Key& key) {
  return std::ranges::any_of(snapshot.all("CustomResourceDefinition"), [&](const Json& definition) {
    const Json& spec = definition["spec"];
    return spec["group"].string_or("") == key.group && spec["names"]["kind"].string_or("") == key.kind;
  });
}

// A custom resource that no webhook checks: those of its operator may be disabled.
void add_unguarded(const Snapshot& snapshot, const Json& object, Findings& findings) {
  object::Key key = key_of(object);
  bool sees_webhooks =
      snapshot.sees_all("ValidatingWebhookConfiguration") && snapshot.sees_all("MutatingWebhookConfiguration");
  std::vector<admission::Attributes> requests = requests_for(snapshot, object, true);
  if (!sees_webhooks || requests.empty() || !is_custom(snapshot, key)) return;
  for (const admission::Webhook& webhook : webhooks_of(snapshot))
    for (const admission::Attributes& request : requests)
      if (admission::may_guard(webhook.rules, webhook.match_policy, request)) return;
  findings.push_back(
      {.code = "webhook-none",
       .severity = Severity::info,
       .object = key,
       .what = fmt::format("no webhook checks {}", key.text()),
       .causes = {fmt::format("no webhook has rules for {}.{}", requests.front().resource.resource, key.group),
                  "if its operator has webhooks, they are disabled or not installed"},
       .next = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"});
}

// The objects that webhooks of a configuration guard.
std::vector<std::string> guarded_by(const Snapshot& snapshot, const object::Key& configuration,
                                    const std::vector<Json>& objects, bool are_stored) {
  std::vector<std::string> guarded;
  std::vector<admission::Webhook> webhooks = webhooks_of(snapshot);
  std::erase_if(webhooks, [&](const admission::Webhook& one) { return key_of(one) != configuration; });
  for (const Json& object : objects) {
    std::vector<admission::Attributes> requests = requests_for(snapshot, object, are_stored);
    if (std::ranges::any_of(webhooks, [&](const admission::Webhook& one) { return guards(one, requests); }))
      guarded.push_back(key_of(object).text());
  }
  return guarded;
}

}  // namespace

Result<Findings> about_webhook(const Snapshot& snapshot, Findings findings, const std::string& name) {
  std::set<object::Key> wanted;
  for (const admission::Webhook& webhook : webhooks_of(snapshot))
    if (webhook.name == name || webhook.configuration == name) wanted.insert(key_of(webhook));
  std::vector<std::string_view> unread;
  for (std::string_view kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"})
    if (!snapshot.sees_all(kind)) unread.push_back(kind);
  if (wanted.empty() && !unread.empty())
    return fail(
        Error(ErrorKind::denied, fmt::format("webhook {} was not found, and not all webhooks could be read", name))
            .because(fmt::format("{}s could not be read, or not all of them", fmt::join(unread, "s and ")))
            .next("kubectl auth can-i list validatingwebhookconfigurations,mutatingwebhookconfigurations"));
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

Findings about_objects(const Snapshot& snapshot, Findings findings, const std::vector<Json>& objects, bool are_stored) {
  Findings kept;
  for (Finding& finding : findings) {
    bool is_direct = std::ranges::any_of(objects, [&](const Json& one) { return concerns(finding, key_of(one)); });
    if (is_direct) kept.push_back(std::move(finding));
    else if (is_configuration(finding.object) && finding.severity != Severity::info) {
      std::vector<std::string> guarded = guarded_by(snapshot, finding.object, objects, are_stored);
      if (guarded.empty()) continue;
      if (!finding.blocks.empty()) finding.blocks = listed(guarded);
      kept.push_back(std::move(finding));
    }
  }
  if (objects.size() == 1) {
    add_skipped(snapshot, objects.front(), kept);
    add_unguarded(snapshot, objects.front(), kept);
  }
  if (are_stored)
    for (const Json& object : objects) check_subject(snapshot, object, kept);
  return kept;
}

}  // namespace fairlead::doctor
