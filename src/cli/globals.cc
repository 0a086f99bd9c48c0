#include "cli/globals.h"

#include <CLI/CLI.hpp>

namespace fairlead::cli {

void add_globals(CLI::App& app, Globals& globals) {
  constexpr const char* kGroup = "Global flags";
  auto text = [&](const char* name, std::string& target, const char* what, const char* value) {
    app.add_option(name, target, what)->group(kGroup)->type_name(value);
  };
  text("--kubeconfig", globals.kubeconfig, "Kubeconfig to use instead of $KUBECONFIG and ~/.kube/config", "FILE");
  text("--context", globals.context, "Context of the kubeconfig to use", "NAME");
  text("--cluster", globals.cluster, "Cluster of the kubeconfig to use", "NAME");
  text("--user", globals.user, "User of the kubeconfig to use", "NAME");
  text("-n,--namespace", globals.namespace_name, "Namespace for what names none itself", "NAME");
  text("--as", globals.as, "User to impersonate", "USER");
  app.add_option("--as-group", globals.as_groups, "Group to impersonate; may be repeated")
      ->group(kGroup)
      ->type_name("GROUP")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  text("--as-uid", globals.as_uid, "UID to impersonate", "UID");
  text("-s,--server", globals.server, "Address of the API server", "URL");
  text("--token", globals.token, "Bearer token for the API server", "TOKEN");
  text("--request-timeout", globals.request_timeout,
       "How long one request may take, such as 30s or 2m; 0 means for ever", "DURATION");
  text("--certificate-authority", globals.certificate_authority, "Certificates that the server is checked against",
       "FILE");
  text("--client-certificate", globals.client_certificate, "Client certificate", "FILE");
  text("--client-key", globals.client_key, "Key of the client certificate", "FILE");
  text("--tls-server-name", globals.tls_server_name, "Name that the server's certificate must be valid for", "NAME");
  app.add_flag("--insecure-skip-tls-verify", globals.insecure_skip_tls_verify, "Do not check the server's certificate")
      ->group(kGroup);
  app.add_option("-v,--v", globals.verbosity, "How much to log to standard error; 6 shows every request")
      ->group(kGroup)
      ->type_name("N");
}

}  // namespace fairlead::cli
