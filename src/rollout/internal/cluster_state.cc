#include "rollout/internal/cluster_state.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "async/scope.h"
#include "rollout/core/retry.h"

namespace fairlead::rollout {
namespace {

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kConfigurations = "webhook configurations";
constexpr std::string_view kPolicies = "admission policies";
constexpr std::string_view kDefinitions = "CRDs";

struct Listing {
  kube::Client& client;
  // The kinds that could not be listed, in words.
  std::set<std::string_view> unread;
  uint64_t& version;
  std::optional<Error> error;
};

Task<void> read(Listing& listing, const object::Resource& resource, std::string_view words, std::vector<Json>& into,
                bool* known) {
  kube::Outcome<kube::List> list =
      co_await retry_while_passing(listing.client.loop(), [&] { return listing.client.list(resource, {}); });
  if (list) {
    uint64_t version = 0;
    std::from_chars(list->resource_version.data(), list->resource_version.data() + list->resource_version.size(),
                    version);
    listing.version = std::max(listing.version, version);
    for (Json& item : list->items) into.push_back(std::move(item));
    if (known) *known = true;
  } else if (list.error().is(kube::FaultKind::forbidden)) {
    listing.unread.insert(words);
  } else if (list.error().is(kube::FaultKind::not_served)) {
    // The kind was removed since discovery, and all of its objects with it.
    if (known) *known = true;
  } else {
    listing.error = list.error().error();
  }
}

}  // namespace

Task<Result<graph::ClusterState>> read_cluster(kube::Client& client, const kube::Discovered& discovered,
                                               std::vector<std::string>& notes, uint64_t& version) {
  graph::ClusterState state;
  Listing listing{client, {}, version, {}};
  // Some of these lists go to the same place. Each is read separately, since the answers arrive in any order.
  struct Wanted {
    std::string_view group;
    std::string_view kind;
    std::string_view words;
    std::vector<Json>* into;
    bool* known = nullptr;
    std::vector<Json> read = {};
  };
  std::vector<Wanted> wanted{
      {kAdmission, "ValidatingWebhookConfiguration", kConfigurations, &state.webhook_configurations},
      {kAdmission, "MutatingWebhookConfiguration", kConfigurations, &state.webhook_configurations},
      {kAdmission, "ValidatingAdmissionPolicy", kPolicies, &state.policies, &state.policies_known},
      {kAdmission, "MutatingAdmissionPolicy", kPolicies, &state.policies},
      {kAdmission, "ValidatingAdmissionPolicyBinding", kPolicies, &state.bindings},
      {kAdmission, "MutatingAdmissionPolicyBinding", kPolicies, &state.bindings},
      {"apiextensions.k8s.io", "CustomResourceDefinition", kDefinitions, &state.definitions},
      {"apiregistration.k8s.io", "APIService", "APIServices", &state.api_services},
      {"", "Namespace", "namespaces", &state.namespaces, &state.namespaces_known},
      {"", "Service", "Services", &state.services, &state.services_known},
  };
  Scope scope(client.loop(), co_await current_cancel());
  for (Wanted& one : wanted)
    if (const object::Resource* resource = discovered.find(one.group, one.kind))
      scope.spawn(read(listing, *resource, one.words, one.read, one.known));
  co_await scope.join();
  if (listing.error) co_return fail(*listing.error);
  state.guards_known = std::ranges::none_of(listing.unread, [](std::string_view words) {
    return words == kConfigurations || words == kPolicies || words == kDefinitions;
  });
  if (!listing.unread.empty())
    notes.push_back(
        fmt::format("this user may not list {}: what they block is known only when the API server refuses it",
                    fmt::join(listing.unread, ", ")));
  for (Wanted& one : wanted)
    for (Json& item : one.read) one.into->push_back(std::move(item));
  co_return state;
}

}  // namespace fairlead::rollout
