// What the values mean: checked, and with every default filled in.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/clock.h"
#include "webhook/install/internal/values.h"

namespace fairlead::webhook::install {

enum class Certificates { automatic, cert_manager, external };

struct Image {
  std::string name;  // with its tag
  std::string pull_policy;
};

struct Settings {
  Release release;
  // The admission server; otherwise the controller.
  bool has_webhook = true;
  Certificates certificates = Certificates::automatic;
  std::string secret;
  std::string ca_bundle;
  int64_t validity_days = 0;
  // The issuer of the certificate; an empty name for one of our own.
  std::string issuer_group;
  std::string issuer_kind;
  std::string issuer;
  std::string duration;
  std::string renew_before;
  std::string root_duration;
  std::string root_renew_before;
  bool has_hooks = false;
  Image hook_image;

  std::string failure_policy;
  int64_t timeout_seconds = 0;
  // Null for all namespaces.
  Json namespace_selector;
  // Empty if the whole cluster is served.
  std::string only_namespace;
  std::string lock_name;
  std::string lock_duration;
  std::string lock_renew;
  std::string leader_lease;
  std::string leader_namespace;
  std::string cluster_domain;

  // The ConfigMap with the CA of the API servers' client certificates; empty for any client.
  std::string client_ca;
  std::string client_ca_key;
  std::string drain;
  std::string drain_limit;
  int64_t grace_seconds = 0;
  int64_t max_in_flight = 0;
  std::string log_reviews;
  std::vector<std::string> extra_arguments;

  std::string operator_account;
  std::string planner_account;
  Image image;
  int64_t replicas = 0;
  bool has_budget = true;
  bool has_network_policy = true;
  // As the values have them.
  Json pull_secrets;
  Json resources;
  Json node_selector;
  Json tolerations;
  Json affinity;
  Json spread;
  std::string priority_class;
  Json pod_labels;
  Json pod_annotations;
  Json account_annotations;

  std::vector<std::string> warnings;

  // The names of the objects.
  std::string name() const { return release.name + "-webhook"; }
  std::string configuration() const;
  std::string ca_secret() const { return secret + "-ca"; }
};

// Returns everything that the values contradict themselves in.
std::expected<Settings, std::vector<Error>> settings_of(const Release& release, const Values& values);

}  // namespace fairlead::webhook::install
