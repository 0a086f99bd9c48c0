#include "doctor/reading.h"

#include <algorithm>
#include <array>

#include "async/scope.h"
#include "base/duration_text.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/bundles.h"
#include "doctor/internal/failing_containers.h"
#include "doctor/internal/helm.h"
#include "doctor/internal/policies.h"
#include "doctor/internal/serving_secrets.h"
#include "kube/pod_log.h"
#include "kube/query.h"
#include "lease/record.h"
#include "object/definition.h"

namespace fairlead::doctor {
namespace {

constexpr size_t kMostSecrets = 8;
constexpr size_t kMostParameters = 3;
constexpr size_t kMostRevisions = 3;
constexpr size_t kMostConversions = 3;
constexpr size_t kMostReleases = 3;
constexpr size_t kMostLogs = 3;
constexpr int64_t kLogLines = 100;
constexpr int64_t kLogBytes = 64 << 10;
// A conversion webhook that hangs is not waited for as long as the API server would.
constexpr Duration kConversionTakes = std::chrono::seconds(3);
// Serving Secrets leave these for what comes after them.
constexpr size_t kReserved = 3;
constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

struct Wanted {
  std::string_view group;
  std::string_view kind;
  bool metadata_only = false;
  // The kind comes with an add-on or with newer versions of Kubernetes. It is not reported if it is not served.
  bool optional = false;
  std::string_view labels = {};
  std::string_view fields = {};
  // Read before the kinds with namespaces. Whoever may not list any of these in the whole cluster is not asked for the
  // others there: that would only cost requests.
  bool tells_scope = false;
};

constexpr std::string_view kNamespaceLocks = "metadata.name=dynamo-operator-ns-lock";
static_assert(kNamespaceLocks.ends_with(lease::kNamespaceLock));

constexpr auto kWanted = std::to_array<Wanted>({
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {.group = "admissionregistration.k8s.io", .kind = "MutatingAdmissionPolicy", .optional = true},
    {.group = "admissionregistration.k8s.io", .kind = "MutatingAdmissionPolicyBinding", .optional = true},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "APIService"},
    {"", "Namespace"},
    {"", "Service"},
    {"discovery.k8s.io", "EndpointSlice"},
    {"", "Pod"},
    {"apps", "Deployment"},
    {.group = "apps", .kind = "StatefulSet", .tells_scope = true},
    {"apps", "DaemonSet"},
    {"batch", "Job"},
    {.group = "networking.k8s.io", .kind = "NetworkPolicy", .tells_scope = true},
    {.group = "policy", .kind = "PodDisruptionBudget", .tells_scope = true},
    {.group = "", .kind = "PersistentVolumeClaim", .metadata_only = true},
    {"rbac.authorization.k8s.io", "RoleBinding"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {.group = "rbac.authorization.k8s.io", .kind = "Role", .metadata_only = true},
    {.group = "rbac.authorization.k8s.io", .kind = "ClusterRole", .metadata_only = true},
    {.group = "", .kind = "ServiceAccount", .metadata_only = true},
    {.group = "", .kind = "Event", .fields = "type=Warning"},
    {.group = "", .kind = "Secret", .metadata_only = true, .labels = kube::kPendingHelmReleases},
    {.group = "", .kind = "ConfigMap", .metadata_only = true, .labels = inventory::kIdLabel},
    {.group = "coordination.k8s.io", .kind = "Lease", .fields = kNamespaceLocks},
    {.group = "cert-manager.io", .kind = "Certificate", .optional = true},
});

// Few people let Helm keep its releases in ConfigMaps, so these are read last.
constexpr Wanted kReleasesInConfigMaps{
    .group = "", .kind = "ConfigMap", .metadata_only = true, .labels = kube::kPendingHelmReleases};

class Reader {
 public:
  Reader(kube::Client& client, std::string ns, ReadingLimits limits)
      : client_(client),
        ns_(std::move(ns)),
        limits_(limits),
        before_(sent()),
        ends_(client.loop().now() + kReadingTakes) {}

  Snapshot snapshot;

  // Reads the first page of a kind.
  Task<void> list(object::Resource resource, Wanted wanted) {
    Reading reading{.resource = std::move(resource), .wanted = wanted};
    if (reading.resource.namespaced && is_narrow_) reading.ns = ns_;
    co_await read_page(reading);
    bool is_forbidden = reading.failure && reading.failure->is(kube::FaultKind::forbidden);
    if (wanted.tells_scope && !is_forbidden) sees_cluster_ = true;
    if (is_forbidden && reading.ns.empty() && reading.resource.namespaced && !ns_.empty()) {
      reading.failure.reset();
      reading.ns = ns_;
      co_await read_page(reading);
    }
    if (reading.token.empty()) end(reading);
    else unfinished_.push_back(std::move(reading));
  }

  // Reads the further pages of large kinds in turn, as long as there are requests left.
  Task<void> read_further_pages() {
    while (!unfinished_.empty()) {
      Reading reading = std::move(unfinished_.front());
      unfinished_.erase(unfinished_.begin());
      bool is_read = left() > 0;
      if (is_read) co_await read_page(reading);
      if (is_read && !reading.failure && !reading.token.empty()) unfinished_.push_back(std::move(reading));
      else end(reading);
    }
  }

  // Call it when the kinds that tell the scope are read.
  void settle_scope() { is_narrow_ = !sees_cluster_ && !ns_.empty(); }

  Task<void> get(object::Resource resource, object::Key key) {
    if (!take()) co_return snapshot.unseen.push_back({.what = key.text(), .why = std::string(kNoneLeft)});
    kube::Outcome<kube::Reply> reply = co_await in_time(client_.get(resource, key.ns, key.name));
    if (reply) co_return snapshot.add(std::move(reply->value));
    if (reply.error().is(kube::FaultKind::not_found)) co_return;
    miss(key.text(), reply.error());
  }

  // Finds out whether an object exists.
  Task<void> look_for(object::Resource resource, object::Key key) {
    if (!take()) co_return;
    kube::Outcome<kube::Reply> reply = co_await in_time(client_.get(resource, key.ns, key.name));
    if (!reply && reply.error().is(kube::FaultKind::not_found)) snapshot.absent.insert(std::move(key));
    else if (!reply) miss(key.text(), reply.error());
  }

  // Makes the API server convert an object, by asking for one in a version that it is not stored in.
  Task<void> convert(object::Resource stored, object::Resource other) {
    std::string definition = stored.name_with_group();
    std::string ns = stored.namespaced && is_narrow_ ? ns_ : "";
    Result<std::string> path = stored.list_path(ns);
    if (!path) co_return;
    if (left() < 2 || !take() || !take()) {
      snapshot.unseen.push_back({.what = fmt::format("whether {} can be converted", definition),
                                 .why = "doctor sends no more requests than it may"});
      co_return;
    }
    kube::Outcome<kube::Reply> page =
        co_await in_time(client_.request({.verb = "list",
                                          .target = kube::Query().add("limit", "1").behind(*path),
                                          .accept = std::string(kMetadataOnly)}));
    if (!page) co_return miss(fmt::format("whether {} can be converted", definition), page.error());
    const Json& one = page->value["items"].item(0);
    if (!one.is_object()) co_return;
    CancelSource cancel(co_await current_cancel());
    CancelAt timer(client_.loop(), client_.loop().now() + kConversionTakes, cancel);
    kube::Outcome<kube::Reply> read = co_await client_.get(other, namespace_of(one), name_of(one)).governed_by(&cancel);
    if (read) co_return;
    const kube::Fault* fault = read.error().fault();
    bool is_of_webhook = fault && fault->webhook && fault->webhook->role == kube::FaultWebhook::Role::conversion;
    if (timer.fired()) snapshot.failed_conversions[definition] = "it did not answer within 3 s";
    else if (is_of_webhook) snapshot.failed_conversions[definition] = read.error().error().message();
    else if (!read.error().is(kube::FaultKind::not_found))
      miss(fmt::format("whether {} can be converted", definition), read.error());
  }

  // Reads the revisions of a Helm release that are not pending. Without them, its pending one counts as the newest.
  Task<void> list_ended_revisions(object::Resource records, kube::HelmRelease release) {
    std::string labels = fmt::format("{},name={}", kube::kEndedHelmReleases, release.name);
    Reading reading{.resource = std::move(records),
                    .wanted = {.group = {}, .kind = {}, .metadata_only = true, .labels = labels},
                    .ns = std::move(release.ns)};
    co_await read_page(reading);
  }

  // Reads what a container wrote last. A log that is gone is no loss.
  Task<void> read_log(readiness::FailedContainer failed) {
    object::Key pod{.group = "", .kind = "Pod", .ns = std::move(failed.ns), .name = std::move(failed.pod)};
    if (!take()) co_return;
    kube::LogOptions options{
        .container = failed.container, .previous = failed.previous, .tail_lines = kLogLines, .limit_bytes = kLogBytes};
    kube::Outcome<std::string> log = co_await in_time(kube::read_log(client_, pod.ns, pod.name, options));
    if (log)
      co_return snapshot.logs.push_back(
          {.pod = std::move(pod), .container = std::move(failed.container), .text = *std::move(log)});
    bool is_told = log.error().is(kube::FaultKind::forbidden) || log.error().error().kind() == ErrorKind::timeout;
    if (is_told) miss("the logs of containers that fail", log.error());
  }

  // What the API server counts. Not every server has that.
  Task<void> read_metrics() {
    if (!take()) co_return;
    kube::Outcome<http::Response> answer =
        co_await in_time(client_.exchange({.verb = "get", .target = "/metrics", .accept = "text/plain"}));
    bool is_late = !answer && answer.error().error().kind() == ErrorKind::timeout;
    if (answer) snapshot.metrics = Metrics::parse(answer->body);
    else if (is_late || answer.error().is(kube::FaultKind::forbidden))
      miss("the metrics of the API server", answer.error());
  }

  // Returns how many more requests may be sent.
  uint64_t left() const {
    uint64_t used = std::max(sent() - before_, taken_);
    return used >= limits_.requests ? 0 : limits_.requests - used;
  }
  // Counts what was sent without take().
  void count_sent() { taken_ = std::max(sent() - before_, taken_); }

 private:
  static constexpr std::string_view kNoneLeft = "doctor has sent as many requests as it may";

  // How far the objects of a kind are read.
  struct Reading {
    object::Resource resource;
    Wanted wanted;
    // Empty: the whole cluster.
    std::string ns = {};
    size_t pages = 0;
    size_t objects = 0;
    // Where the next page begins; empty if there is none.
    std::string token = {};
    std::optional<kube::Failure> failure = {};

    bool is_whole() const { return pages > 0 && token.empty() && !failure; }
  };

  // Reserves one request. Returns false if none is left.
  bool take() {
    if (left() == 0) return false;
    ++taken_;
    return true;
  }

  // Gives a request kRequestTakes, as far as the time for all of them goes.
  template <class T>
  Task<kube::Outcome<T>> in_time(Task<kube::Outcome<T>> request) {
    CancelSource cancel(co_await current_cancel());
    TimePoint begun = client_.loop().now();
    CancelAt timer(client_.loop(), std::min(begun + kRequestTakes, ends_), cancel);
    kube::Outcome<T> outcome = co_await std::move(request).governed_by(&cancel);
    if (outcome || !timer.fired()) co_return outcome;
    std::string took = short_text(std::chrono::round<std::chrono::seconds>(client_.loop().now() - begun));
    co_return std::unexpected(
        kube::Failure(Error(ErrorKind::timeout, fmt::format("the API server did not answer within {}", took))));
  }

  Task<void> read_page(Reading& reading) {
    Result<std::string> path = reading.resource.list_path(reading.ns);
    if (!path || !take()) co_return;
    kube::Query query;
    query.add("labelSelector", reading.wanted.labels).add("fieldSelector", reading.wanted.fields);
    query.add("limit", std::to_string(limits_.page)).add("continue", reading.token);
    kube::Outcome<kube::Reply> page = co_await in_time(
        client_.request({.verb = "list",
                         .target = query.behind(*path),
                         .accept = std::string(reading.wanted.metadata_only ? kMetadataOnly : "application/json")}));
    if (!page) {
      reading.failure = page.error();
      co_return;
    }
    ++reading.pages;
    snapshot.saw_some(reading.resource.kind);
    reading.token = page->value["metadata"]["continue"].string_or("");
    reading.objects += add_all(page->value, reading.resource, reading.wanted.labels == inventory::kPartOfLabel);
  }

  size_t add_all(Json& page, const object::Resource& resource, bool is_of_members) {
    Json::Array* items = page.make("items").if_array();
    if (!items) return 0;
    for (Json& item : *items) {
      if (!item.is_object()) continue;
      item.make("kind") = resource.kind;
      item.make("apiVersion") = resource.api_version();
      if (is_of_members) snapshot.members.push_back(std::move(item));
      else snapshot.add(std::move(item));
    }
    return items->size();
  }

  void saw(const Reading& reading) {
    const object::Resource& resource = reading.resource;
    if (reading.wanted.labels.empty()) snapshot.saw_all(resource.kind);
    else if (reading.wanted.labels == inventory::kIdLabel) snapshot.saw_all("inventory");
    else if (reading.wanted.labels == inventory::kPartOfLabel) snapshot.saw_members(resource.group, resource.kind);
  }

  // Remembers what was read of a kind, and what was not.
  void end(const Reading& reading) {
    std::string what = reading.resource.name_with_group();
    std::string why;
    bool is_partial = false;
    if (reading.is_whole()) {
      if (reading.ns.empty()) saw(reading);
      is_partial = !reading.ns.empty();
      if (is_partial) why = fmt::format("this user may list them only in namespace {}", reading.ns);
    } else if (reading.pages > 0) {
      why = fmt::format("only the first {}", reading.objects);
      is_partial = true;
    } else if (reading.failure) {
      return miss(std::move(what), *reading.failure);
    } else {
      why = kNoneLeft;
    }
    if (!why.empty())
      snapshot.unseen.push_back({.what = std::move(what), .why = std::move(why), .is_partial = is_partial});
  }

  uint64_t sent() const {
    uint64_t all = 0;
    for (const auto& [verb, count] : client_.counts()) all += count;
    return all;
  }

  void miss(std::string what, const kube::Failure& failure) {
    std::string why =
        failure.is(kube::FaultKind::forbidden) ? "this user may not read them" : failure.error().message();
    snapshot.unseen.push_back({.what = std::move(what), .why = std::move(why)});
  }

  kube::Client& client_;
  std::string ns_;
  ReadingLimits limits_;
  uint64_t before_;
  // When all requests end.
  TimePoint ends_;
  uint64_t taken_ = 0;
  std::vector<Reading> unfinished_;
  // A kind that tells the scope could be listed in the whole cluster.
  bool sees_cluster_ = false;
  // Kinds with namespaces are read only in `ns_`.
  bool is_narrow_ = false;
};

// The Secrets that pods behind webhooks serve with.
Task<void> read_secrets(Reader& reader, Loop& loop, const kube::Discovered& known) {
  const object::Resource* secrets = known.find("", "Secret");
  std::vector<object::Key> keys = serving_secrets(reader.snapshot);
  uint64_t left = reader.left();
  size_t most = std::min<size_t>(kMostSecrets, left > kReserved ? left - kReserved : 0);
  if (keys.size() > most) {
    reader.snapshot.unseen.push_back(
        {.what = "the certificates of some webhooks", .why = "they are in more Secrets than doctor reads"});
    keys.resize(most);
  }
  if (!secrets) co_return;
  Scope scope(loop, co_await current_cancel());
  for (object::Key& key : keys) scope.spawn(reader.get(*secrets, std::move(key)));
  co_await scope.join();
}

// The logs of containers that fail, as far as there are requests left: they tell which rights are missing.
Task<void> read_logs(Reader& reader, Loop& loop) {
  std::vector<readiness::FailedContainer> failing = failing_containers(reader.snapshot);
  size_t most = std::min<size_t>(kMostLogs, reader.left());
  if (failing.size() > most) {
    reader.snapshot.unseen.push_back(
        {.what = "the logs of some containers that fail", .why = "there are more of them than doctor reads"});
    failing.resize(most);
  }
  Scope scope(loop, co_await current_cancel());
  for (readiness::FailedContainer& one : failing) scope.spawn(reader.read_log(std::move(one)));
  co_await scope.join();
}

// Tries the conversion webhooks that seem to be there, as far as there are requests left. That changes nothing.
Task<void> try_conversions(Reader& reader, Loop& loop) {
  Scope scope(loop, co_await current_cancel());
  size_t tried = 0;
  for (const Backend& backend : backends_of(reader.snapshot)) {
    bool is_conversion = backend.role == Backend::Role::conversion;
    if (!is_conversion || (backend.service && outage_of(reader.snapshot, *backend.service))) continue;
    object::Definition definition(*backend.owner);
    auto is_stored = [&](const object::Resource& one) {
      return definition.version(one.version)["storage"].bool_or(false);
    };
    std::vector<object::Resource> served = definition.resources();
    auto stored = std::ranges::find_if(served, is_stored), other = std::ranges::find_if_not(served, is_stored);
    if (stored == served.end() || other == served.end() || tried == kMostConversions) continue;
    ++tried;
    scope.spawn(reader.convert(*stored, *other));
  }
  co_await scope.join();
}

// The parameters of admission policies, as far as there are requests left.
Task<void> read_parameters(Reader& reader, Loop& loop, const kube::Discovered& known) {
  Scope scope(loop, co_await current_cancel());
  std::vector<object::Key> keys = policy_parameters(reader.snapshot);
  if (keys.size() > kMostParameters) {
    reader.snapshot.unseen.push_back(
        {.what = "the parameters of some policies", .why = "there are more of them than doctor reads"});
    keys.resize(kMostParameters);
  }
  for (object::Key& key : keys)
    if (const object::Resource* resource = known.find(key.group, key.kind))
      scope.spawn(reader.look_for(*resource, std::move(key)));
  co_await scope.join();
}

// How Helm releases that seem to be pending went on, as far as there are requests left.
Task<void> read_releases(Reader& reader, Loop& loop, const kube::Discovered& known) {
  std::vector<PendingRelease> pending = pending_releases(reader.snapshot);
  pending.resize(std::min(pending.size(), kMostReleases));
  Scope scope(loop, co_await current_cancel());
  for (const auto& [record, release] : pending)
    if (const object::Resource* records = known.find("", record.kind))
      scope.spawn(reader.list_ended_revisions(*records, release));
  co_await scope.join();
}

// What bundles should have, and the members of kinds that are not read otherwise, as far as there are requests left.
Task<void> read_bundles(Reader& reader, Loop& loop, const kube::Discovered& known) {
  Scope scope(loop, co_await current_cancel());
  std::vector<Record> records = records_of(reader.snapshot);
  std::set<inventory::GroupKind> kinds;
  size_t revisions = 0;
  const object::Resource* secrets = known.find("", "Secret");
  for (const Record& record : records) {
    kinds.insert(record.coverage.kinds.begin(), record.coverage.kinds.end());
    bool is_wanted =
        secrets && record.revision && !record.is_claimed && revisions < kMostRevisions && reader.left() > 0;
    if (!is_wanted) continue;
    ++revisions;
    scope.spawn(reader.get(*secrets, record.revision_secret()));
  }
  for (const inventory::GroupKind& kind : kinds) {
    if (sees_members(reader.snapshot, kind.group, kind.kind)) continue;
    if (const object::Resource* resource = known.find(kind.group, kind.kind); resource && reader.left() > 0)
      scope.spawn(
          reader.list(*resource, {.group = {}, .kind = {}, .metadata_only = true, .labels = inventory::kPartOfLabel}));
  }
  co_await scope.join();
}

// Reads the kinds that are for this wave: first those without namespaces and those that tell the scope.
Task<void> read_kinds(Reader& reader, Loop& loop, const kube::Discovered& known, bool is_first) {
  Scope scope(loop, co_await current_cancel());
  for (const Wanted& wanted : kWanted) {
    const object::Resource* resource = known.find(wanted.group, wanted.kind);
    if (resource && (wanted.tells_scope || !resource->namespaced) == is_first)
      scope.spawn(reader.list(*resource, wanted));
    if (resource || !is_first) continue;
    if (wanted.optional) reader.snapshot.saw_all(wanted.kind);
    else
      reader.snapshot.unseen.push_back(
          {.what = std::string(wanted.kind), .why = "the API server does not serve this kind"});
  }
  if (is_first) scope.spawn(reader.read_metrics());
  co_await scope.join();
}

}  // namespace

bool reads_all(std::string_view group, std::string_view kind) {
  return std::ranges::any_of(kWanted, [&](const Wanted& wanted) {
    return wanted.group == group && wanted.kind == kind && wanted.labels.empty();
  });
}

Error silent_error() {
  return Error(ErrorKind::timeout, fmt::format("the cluster could not be read within {}", short_text(kReadingTakes)))
      .because("the API server does not answer")
      .next("kubectl get --raw /readyz?verbose");
}

Task<Result<Snapshot>> read_snapshot(kube::Client& client, kube::Discovery& discovery, std::string ns,
                                     ReadingLimits limits) {
  Reader reader(client, std::move(ns), limits);
  CancelSource cancel(co_await current_cancel());
  CancelAt timer(client.loop(), client.loop().now() + kReadingTakes, cancel);
  auto known = co_await discovery.all().governed_by(&cancel);
  if (!known && timer.fired()) co_return fail(silent_error());
  if (!known) co_return fail(known.error().error());
  reader.count_sent();
  reader.snapshot.resources = (*known)->resources();
  co_await read_kinds(reader, client.loop(), **known, true);
  reader.settle_scope();
  co_await read_kinds(reader, client.loop(), **known, false);
  co_await read_secrets(reader, client.loop(), **known);
  co_await read_parameters(reader, client.loop(), **known);
  co_await try_conversions(reader, client.loop());
  if (const object::Resource* resource = (*known)->find("", "ConfigMap"); resource && reader.left() > 0)
    co_await reader.list(*resource, kReleasesInConfigMaps);
  co_await read_logs(reader, client.loop());
  reader.snapshot.now = client.server_now();
  co_await read_releases(reader, client.loop(), **known);
  co_await read_bundles(reader, client.loop(), **known);
  co_await reader.read_further_pages();
  CO_TRY(co_await go_on());
  // ConfigMaps are read twice, for inventories and for Helm.
  std::vector<Unseen>& unseen = reader.snapshot.unseen;
  std::ranges::sort(unseen, {}, &Unseen::text);
  unseen.erase(std::ranges::unique(unseen).begin(), unseen.end());
  co_return std::move(reader.snapshot);
}

}  // namespace fairlead::doctor
