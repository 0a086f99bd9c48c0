// kubectl's global flags, with kubectl's meaning.
#pragma once

#include <string>
#include <vector>

#include "cli/core/flags.h"

namespace fairlead::cli {

struct Globals {
  std::string kubeconfig;
  std::string context;
  std::string cluster;
  std::string user;
  std::string namespace_name;
  std::string as;
  std::vector<std::string> as_groups;
  std::string as_uid;
  std::string server;
  std::string token;
  std::string request_timeout;
  std::string certificate_authority;
  std::string client_certificate;
  std::string client_key;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  int verbosity = 0;

  // From fairlead.yaml: the contexts that may be used, all if empty, and the line that says so.
  std::vector<std::string> allowed_contexts;
  std::string allowed_at;
};

void add_globals(Command app, Globals& globals);

}  // namespace fairlead::cli
