// Kubeconfig files, read and merged as kubectl does.
//
//   TRY_ASSIGN(Kubeconfig files, Kubeconfig::load(flags, Surroundings::real()));
//   TRY_ASSIGN(ClusterConfig config, files.resolve(flags));
//
// --kubeconfig names one file, which must be there. Otherwise the files of KUBECONFIG, or ~/.kube/config; those that
// are not there are passed over. Of an entry that comes in several files the first one counts, as a whole. Paths inside
// a file are relative to it. With no file at all, and in a pod, its service account is used. What is wrong is an error
// that names file, context, cluster and user, and never shows a value that can be a secret.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "kube/config/cluster_config.h"
#include "kube/config/surroundings.h"

namespace fairlead::kube {

// What kubectl's flags of the same names say; empty for those that were not given.
struct KubeFlags {
  std::string kubeconfig;
  std::string context;
  std::string cluster;
  std::string user;
  std::string ns;  // --namespace
  std::string server;
  std::string token;
  std::string username;
  std::string password;
  std::string as;
  std::vector<std::string> as_groups;
  std::string as_uid;
  std::string request_timeout;  // "30s", or a number of seconds; "0" for none
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  std::string client_certificate;
  std::string client_key;
};

class Kubeconfig {
 public:
  static Result<Kubeconfig> load(const KubeFlags& flags, Surroundings surroundings);
  // One that is in memory. Paths inside are relative to the folder of `name`.
  static Result<Kubeconfig> parse(std::string_view text, const std::string& name, Surroundings surroundings);

  // In the order of the files.
  std::vector<std::string> contexts() const;

  // Reads certificates, verifies that they can be used now, and puts everything together.
  Result<ClusterConfig> resolve(const KubeFlags& flags) const;

  // One `name` with what belongs to it, and the file it came from.
  struct Entry {
    std::string name;
    Json value;
    std::string file;
  };

 private:
  explicit Kubeconfig(Surroundings surroundings) : surroundings_(std::move(surroundings)) {}
  Result<void> add_file(const std::string& file, std::string_view text);
  Result<ClusterConfig> resolve_in_cluster(const KubeFlags& flags) const;
  Error no_cluster() const;

  Surroundings surroundings_;
  // Those that were there, and those that were looked for.
  std::vector<std::string> files_;
  std::vector<std::string> missing_;
  std::string current_context_;
  std::string current_context_file_;
  std::vector<Entry> clusters_;
  std::vector<Entry> users_;
  std::vector<Entry> contexts_;
};

}  // namespace fairlead::kube
