#include "doctor/reading.h"

#include <algorithm>
#include <array>

#include "async/scope.h"
#include "doctor/internal/serving_secrets.h"
#include "kube/helm_release.h"

namespace fairlead::doctor {
namespace {

// One page holds what most clusters have of a kind.
constexpr size_t kPage = 5000;
constexpr size_t kMostSecrets = 8;

struct Wanted {
  std::string_view group;
  std::string_view kind;
  bool metadata_only = false;
  // The kind comes with an add-on or with newer versions of Kubernetes. It is not reported if it is not served.
  bool optional = false;
  std::string_view labels = {};
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
    {"apps", "StatefulSet"},
    {"apps", "DaemonSet"},
    {"batch", "Job"},
    {"networking.k8s.io", "NetworkPolicy"},
    {"policy", "PodDisruptionBudget"},
    {.group = "", .kind = "PersistentVolumeClaim", .metadata_only = true},
    {.group = "", .kind = "Secret", .metadata_only = true, .labels = kube::kPendingHelmReleases},
    {.group = "cert-manager.io", .kind = "Certificate", .optional = true},
});

class Reader {
 public:
  Reader(kube::Client& client, std::string ns) : client_(client), ns_(std::move(ns)), before_(sent()) {}

  Snapshot snapshot;

  Task<void> list(object::Resource resource, Wanted wanted) {
    kube::Outcome<kube::List> found = co_await list_in(resource, wanted, "");
    if (found) {
      take(std::move(found->items));
      if (wanted.labels.empty()) snapshot.saw_all(resource.kind);
      co_return;
    }
    bool may_be_narrower = resource.namespaced && !ns_.empty() && found.error().is(kube::FaultKind::forbidden);
    if (!may_be_narrower || left() == 0) co_return miss(resource.name_with_group(), found.error());
    found = co_await list_in(resource, wanted, ns_);
    if (!found) co_return miss(resource.name_with_group(), found.error());
    take(std::move(found->items));
    snapshot.unseen.push_back(
        {.what = resource.name_with_group(), .why = fmt::format("this user may list them only in namespace {}", ns_)});
  }

  Task<void> get_secret(object::Resource resource, object::Key key) {
    kube::Outcome<kube::Reply> reply = co_await client_.get(resource, key.ns, key.name);
    if (reply) co_return snapshot.add(std::move(reply->value));
    if (reply.error().is(kube::FaultKind::not_found)) co_return;
    miss(fmt::format("Secret {}/{}", key.ns, key.name), reply.error());
  }

  // What the API server counts. Not every server has that.
  Task<void> read_metrics() {
    kube::Outcome<http::Response> answer =
        co_await client_.exchange({.verb = "get", .target = "/metrics", .accept = "text/plain"});
    if (answer) snapshot.metrics = Metrics::parse(answer->body);
    else if (answer.error().is(kube::FaultKind::forbidden)) miss("the metrics of the API server", answer.error());
  }

  // Returns how many more requests may be sent.
  uint64_t left() const {
    uint64_t used = sent() - before_;
    return used >= kMostRequests ? 0 : kMostRequests - used;
  }

 private:
  Task<kube::Outcome<kube::List>> list_in(object::Resource resource, Wanted wanted, std::string ns) {
    kube::ListOptions options;
    options.ns = std::move(ns);
    options.label_selector = wanted.labels;
    options.page = kPage;
    options.metadata_only = wanted.metadata_only;
    co_return co_await client_.list(resource, std::move(options));
  }

  uint64_t sent() const {
    uint64_t all = 0;
    for (const auto& [verb, count] : client_.counts()) all += count;
    return all;
  }

  void take(std::vector<Json> items) {
    for (Json& item : items) snapshot.add(std::move(item));
  }

  void miss(std::string what, const kube::Failure& failure) {
    std::string why =
        failure.is(kube::FaultKind::forbidden) ? "this user may not read them" : failure.error().message();
    snapshot.unseen.push_back({.what = std::move(what), .why = std::move(why)});
  }

  kube::Client& client_;
  std::string ns_;
  uint64_t before_;
};

// The Secrets that pods behind webhooks serve with.
Task<void> read_secrets(Reader& reader, Loop& loop, const kube::Discovered& known) {
  const object::Resource* secrets = known.find("", "Secret");
  std::vector<object::Key> keys = serving_secrets(reader.snapshot);
  size_t most = std::min<size_t>(kMostSecrets, reader.left());
  if (keys.size() > most) {
    reader.snapshot.unseen.push_back(
        {.what = "the certificates of some webhooks", .why = "they are in more Secrets than doctor reads"});
    keys.resize(most);
  }
  if (!secrets) co_return;
  Scope scope(loop, co_await current_cancel());
  for (object::Key& key : keys) scope.spawn(reader.get_secret(*secrets, std::move(key)));
  co_await scope.join();
}

}  // namespace

Task<Result<Snapshot>> read_snapshot(kube::Client& client, kube::Discovery& discovery, std::string ns) {
  Reader reader(client, std::move(ns));
  auto known = co_await discovery.all();
  if (!known) co_return fail(known.error().error());
  reader.snapshot.resources = (*known)->resources();
  Scope scope(client.loop(), co_await current_cancel());
  for (const Wanted& wanted : kWanted) {
    if (const object::Resource* resource = (*known)->find(wanted.group, wanted.kind))
      scope.spawn(reader.list(*resource, wanted));
    else if (wanted.optional) reader.snapshot.saw_all(wanted.kind);
    else
      reader.snapshot.unseen.push_back(
          {.what = std::string(wanted.kind), .why = "the API server does not serve this kind"});
  }
  scope.spawn(reader.read_metrics());
  co_await scope.join();
  co_await read_secrets(reader, client.loop(), **known);
  CO_TRY(co_await go_on());
  reader.snapshot.now = client.server_now();
  std::ranges::sort(reader.snapshot.unseen, {}, &Unseen::text);
  co_return std::move(reader.snapshot);
}

}  // namespace fairlead::doctor
