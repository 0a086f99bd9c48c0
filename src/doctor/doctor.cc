#include "doctor/doctor.h"

#include <algorithm>

#include "async/scope.h"
#include "doctor/reading.h"

namespace fairlead::doctor {
namespace {

Task<Result<Json>> read_object(kube::Client& client, kube::Discovery& discovery, std::string what, std::string ns) {
  size_t slash = what.find('/');
  CancelSource cancel(co_await current_cancel());
  CancelAt timer(client.loop(), client.loop().now() + kReadingTakes, cancel);
  auto resource = co_await discovery.find_by_name(what.substr(0, slash)).governed_by(&cancel);
  if (!resource && timer.fired()) co_return fail(silent_error());
  if (!resource) co_return fail(resource.error().error());
  if (!*resource)
    co_return fail(Error(ErrorKind::not_found, fmt::format("the cluster serves no kind {}", what.substr(0, slash)))
                       .next("kubectl api-resources"));
  if (!(*resource)->namespaced) ns.clear();
  auto reply = co_await client.get(**resource, ns, what.substr(slash + 1)).governed_by(&cancel);
  if (!reply && timer.fired()) co_return fail(silent_error());
  if (!reply) {
    Error error = reply.error().error();
    std::string in_namespace = ns.empty() ? "" : "-n " + ns + " ";
    if (reply.error().is(kube::FaultKind::not_found))
      error = std::move(error).next(fmt::format("kubectl {}get {}", in_namespace, (*resource)->name_with_group()));
    co_return fail(std::move(error));
  }
  co_return std::move(reply->value);
}

uint64_t sent(const kube::Client& client) {
  uint64_t all = 0;
  for (const auto& [verb, count] : client.counts()) all += count;
  return all;
}

// Puts objects that name no namespace where they would be applied.
void place(std::vector<Json>& objects, const Snapshot& snapshot, const std::string& ns) {
  for (Json& object : objects) {
    if (!namespace_of(object).empty()) continue;
    bool is_namespaced = std::ranges::any_of(snapshot.resources, [&](const object::Resource& one) {
      return one.namespaced && one.kind == object["kind"].string_or("") &&
             one.api_version() == object["apiVersion"].string_or("");
    });
    if (is_namespaced) object.make("metadata").make("namespace") = ns;
  }
}

// Whether nothing of what most findings are about could be read.
bool is_blind(const Snapshot& snapshot) {
  return std::ranges::none_of(
      std::to_array<std::string_view>({"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Deployment",
                                       "StatefulSet", "DaemonSet", "Pod"}),
      [&](std::string_view kind) { return snapshot.sees_some(kind); });
}

// Where a user who may not read the whole cluster looks.
std::string narrow_namespace(const Subject& subject) { return subject.ns.empty() ? subject.default_ns : subject.ns; }

}  // namespace

bool Report::has(Severity severity) const {
  return std::ranges::any_of(findings, [&](const Finding& finding) { return finding.severity >= severity; });
}

Task<Result<Report>> examine(kube::Client& client, kube::Discovery& discovery, Subject subject) {
  uint64_t before = sent(client);
  std::vector<Json> objects;
  std::vector<std::string> sources;
  for (object::Object& object : subject.bundle) {
    sources.push_back(object.source().text());
    objects.push_back(std::move(object).take_value());
  }
  bool is_about_objects = !objects.empty() || !subject.object.empty();
  if (!subject.object.empty()) {
    CO_TRY_ASSIGN(Json object, co_await read_object(client, discovery, subject.object, subject.default_ns));
    objects.push_back(std::move(object));
  }
  ReadingLimits limits{.requests = kMostRequests - std::min(kMostRequests, sent(client) - before)};
  CO_TRY_ASSIGN(Snapshot snapshot, co_await read_snapshot(client, discovery, narrow_namespace(subject), limits));
  if (!subject.ns.empty() && snapshot.sees_all("Namespace") && !snapshot.find("Namespace", "", subject.ns))
    co_return fail(Error(ErrorKind::not_found, fmt::format("there is no namespace {}", subject.ns))
                       .next("kubectl get namespaces"));
  Findings findings = check_all(snapshot);
  if (!subject.webhook.empty()) {
    CO_TRY_ASSIGN(findings, about_webhook(snapshot, std::move(findings), subject.webhook));
  } else if (!subject.ns.empty()) findings = about_namespace(snapshot, std::move(findings), subject.ns);
  else if (is_about_objects) {
    place(objects, snapshot, subject.default_ns);
    findings = about_objects(snapshot, std::move(findings), objects, !subject.object.empty());
    if (subject.object.empty()) check_versions(snapshot, objects, sources, findings);
    sort(findings);
  }
  bool is_nothing_seen = is_blind(snapshot);
  co_return Report{.findings = std::move(findings),
                   .unseen = std::move(snapshot.unseen),
                   .requests = sent(client) - before,
                   .is_blind = is_nothing_seen};
}

}  // namespace fairlead::doctor
