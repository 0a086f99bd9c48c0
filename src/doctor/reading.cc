#include "doctor/reading.h"

#include <algorithm>
#include <array>

#include "async/scope.h"
#include "doctor/internal/bundles.h"
#include "doctor/internal/parameters.h"
#include "doctor/internal/serving_secrets.h"
#include "kube/helm_release.h"
#include "kube/query.h"

namespace fairlead::doctor {
namespace {

constexpr size_t kMostSecrets = 8;
constexpr size_t kMostParameters = 3;
constexpr size_t kMostRevisions = 3;
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
    {.group = "cert-manager.io", .kind = "Certificate", .optional = true},
});

class Reader {
 public:
  Reader(kube::Client& client, std::string ns, ReadingLimits limits)
      : client_(client), ns_(std::move(ns)), limits_(limits), before_(sent()) {}

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
    kube::Outcome<kube::Reply> reply = co_await client_.get(resource, key.ns, key.name);
    if (reply) co_return snapshot.add(std::move(reply->value));
    if (reply.error().is(kube::FaultKind::not_found)) co_return;
    miss(key.text(), reply.error());
  }

  // Finds out whether an object exists.
  Task<void> look_for(object::Resource resource, object::Key key) {
    if (!take()) co_return;
    kube::Outcome<kube::Reply> reply = co_await client_.get(resource, key.ns, key.name);
    if (!reply && reply.error().is(kube::FaultKind::not_found)) snapshot.absent.insert(std::move(key));
    else if (!reply) miss(key.text(), reply.error());
  }

  // What the API server counts. Not every server has that.
  Task<void> read_metrics() {
    if (!take()) co_return;
    kube::Outcome<http::Response> answer =
        co_await client_.exchange({.verb = "get", .target = "/metrics", .accept = "text/plain"});
    if (answer) snapshot.metrics = Metrics::parse(answer->body);
    else if (answer.error().is(kube::FaultKind::forbidden)) miss("the metrics of the API server", answer.error());
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

  Task<void> read_page(Reading& reading) {
    Result<std::string> path = reading.resource.list_path(reading.ns);
    if (!path || !take()) co_return;
    kube::Query query;
    query.add("labelSelector", reading.wanted.labels).add("fieldSelector", reading.wanted.fields);
    query.add("limit", std::to_string(limits_.page)).add("continue", reading.token);
    kube::Outcome<kube::Reply> page = co_await client_.request(
        {.verb = "list",
         .target = query.behind(*path),
         .accept = std::string(reading.wanted.metadata_only ? kMetadataOnly : "application/json")});
    if (!page) {
      reading.failure = page.error();
      co_return;
    }
    ++reading.pages;
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
    if (reading.is_whole()) {
      if (reading.ns.empty()) saw(reading);
      if (!reading.ns.empty()) why = fmt::format("this user may list them only in namespace {}", reading.ns);
    } else if (reading.pages > 0) {
      why = fmt::format("only the first {} were read", reading.objects);
    } else if (reading.failure) {
      return miss(std::move(what), *reading.failure);
    } else {
      why = kNoneLeft;
    }
    if (!why.empty()) snapshot.unseen.push_back({.what = std::move(what), .why = std::move(why)});
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

Task<Result<Snapshot>> read_snapshot(kube::Client& client, kube::Discovery& discovery, std::string ns,
                                     ReadingLimits limits) {
  Reader reader(client, std::move(ns), limits);
  auto known = co_await discovery.all();
  if (!known) co_return fail(known.error().error());
  reader.count_sent();
  reader.snapshot.resources = (*known)->resources();
  co_await read_kinds(reader, client.loop(), **known, true);
  reader.settle_scope();
  co_await read_kinds(reader, client.loop(), **known, false);
  co_await read_secrets(reader, client.loop(), **known);
  co_await read_parameters(reader, client.loop(), **known);
  co_await read_bundles(reader, client.loop(), **known);
  co_await reader.read_further_pages();
  CO_TRY(co_await go_on());
  reader.snapshot.now = client.server_now();
  std::ranges::sort(reader.snapshot.unseen, {}, &Unseen::text);
  co_return std::move(reader.snapshot);
}

}  // namespace fairlead::doctor
