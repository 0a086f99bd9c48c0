// The servers that the API server calls: webhooks, conversion webhooks, and the servers of aggregated APIs. Whether one
// of them can be called is decided here, for all checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook.h"
#include "doctor/snapshot.h"

namespace fairlead::doctor {

// The kinds that run the pods behind a Service.
inline constexpr std::string_view kWorkloads[] = {"Deployment", "StatefulSet", "DaemonSet"};

struct Backend {
  enum class Role { webhook, conversion, api_service };
  Role role = Role::webhook;
  // The webhook configuration, CRD or APIService.
  const Json* owner = nullptr;
  // For example "webhook v.example.com (ValidatingWebhookConfiguration x)" or "the conversion webhook of
  // widgets.example.com".
  std::string text;
  // The endpoint: a Service or a URL.
  std::optional<admission::ServiceReference> service;
  std::string url;
  // As it is stored: base64.
  std::string ca_bundle;
  // The API server does not verify the certificate.
  bool insecure = false;
  // Requests are refused while the backend does not answer. False for a webhook with failurePolicy Ignore.
  bool is_required = true;

  // "web.team.svc": the name that its certificate must have. Empty without a Service.
  std::string host() const;
};

// Returns the webhooks of the cluster in the order that the API server calls them in, without the temporary ones that
// Fairlead makes to prove others.
std::vector<admission::Webhook> webhooks_of(const Snapshot& snapshot);
std::string text_of(const admission::Webhook& webhook);
object::Key key_of(const admission::Webhook& webhook);

std::vector<Backend> backends_of(const Snapshot& snapshot);

// Why a backend cannot be called.
struct Outage {
  enum class Kind { no_namespace, no_service, no_port, no_endpoints };
  Kind kind = Kind::no_service;
  std::vector<std::string> causes;
  std::string next;
  // The Service, and the workloads of the pods behind it.
  std::vector<object::Key> related;
  // Since when no endpoint has been ready; empty if that is not known.
  std::string since = {};
};
// Returns nothing if the Service has a ready endpoint, or if not enough could be read to tell.
std::optional<Outage> outage_of(const Snapshot& snapshot, const admission::ServiceReference& service);

// The pods that a Service selects.
std::vector<const Json*> pods_behind(const Snapshot& snapshot, const Json& service);
// The Deployments, StatefulSets and DaemonSets whose pods a Service selects, by their templates.
std::vector<const Json*> workloads_behind(const Snapshot& snapshot, const Json& service);

}  // namespace fairlead::doctor
