// Where a cluster is, whom to trust there and who to be: everything that kubeconfig files, flags and environment come
// down to. Holds secrets: never printed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "http/net/tls.h"
#include "http/url.h"

namespace fairlead::kube {

struct Impersonation {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

// A program that hands out credentials (client.authentication.k8s.io).
struct ExecPlugin {
  enum class Interactive { never, if_available, always };

  std::string api_version;
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  Interactive interactive = Interactive::if_available;
  // What it is told about the cluster; null unless it asks for it (provideClusterInfo).
  Json cluster;
};

// At most one of token, token file, username and password, plugin.
struct CredentialSpec {
  // Whom errors speak of: `user "alice"`.
  std::string owner;
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::optional<ExecPlugin> exec;
  Impersonation impersonate;
};

struct ClusterConfig {
  // As the kubeconfig names them; empty where there is none.
  std::string context;
  std::string cluster;
  std::string user;
  http::Url server;
  http::TlsOptions tls;
  std::optional<http::Url> proxy;
  bool compression = true;
  // The namespace for what names none, and whether anybody chose it.
  std::string ns = "default";
  bool ns_is_chosen = false;
  // How long a single request may take; nothing for no limit.
  std::optional<Duration> request_timeout;
  CredentialSpec credentials;
};

}  // namespace fairlead::kube
