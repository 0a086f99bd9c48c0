#include "cli/core/globals.h"

namespace fairlead::cli {

void add_globals(Command app, Globals& globals) {
  constexpr const char* kGroup = "Global flags";
  auto text = [&](const char* name, std::string& target, const char* what, const char* value) {
    app.option(name, target, what).group(kGroup).value(value);
  };
  text("--kubeconfig", globals.kubeconfig, "Path of the kubeconfig; default $KUBECONFIG or ~/.kube/config", "FILE");
  text("--context", globals.context, "Kubeconfig context to use", "NAME");
  text("--cluster", globals.cluster, "Kubeconfig cluster to use", "NAME");
  text("--user", globals.user, "Kubeconfig user to use", "NAME");
  text("-n,--namespace", globals.namespace_name, "Namespace for objects that do not specify one", "NAME");
  text("--as", globals.as, "User to impersonate", "USER");
  app.option("--as-group", globals.as_groups, "Group to impersonate; may be repeated")
      .group(kGroup)
      .value("GROUP")
      .repeatable();
  text("--as-uid", globals.as_uid, "UID to impersonate", "UID");
  text("-s,--server", globals.server, "Address of the API server", "URL");
  text("--token", globals.token, "Bearer token for the API server", "TOKEN");
  text("--request-timeout", globals.request_timeout, "Time limit for each request, such as 30s or 2m; 0 for no limit",
       "DURATION");
  text("--certificate-authority", globals.certificate_authority, "File with the CA certificates of the API server",
       "FILE");
  text("--client-certificate", globals.client_certificate, "Client certificate", "FILE");
  text("--client-key", globals.client_key, "Key of the client certificate", "FILE");
  text("--tls-server-name", globals.tls_server_name, "Server name to expect in the API server's certificate", "NAME");
  app.flag("--insecure-skip-tls-verify", globals.insecure_skip_tls_verify, "Do not verify the API server's certificate")
      .group(kGroup);
  app.option("-v,--v", globals.verbosity, "Log verbosity; 6 logs every request to standard error")
      .group(kGroup)
      .value("N");
}

}  // namespace fairlead::cli
