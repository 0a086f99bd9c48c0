// How the API servers of a sandbox reach webhooks: over HTTPS, or in process under simulation.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "async/loop.h"
#include "http/message.h"

namespace fairlead::sandbox {

// Where a request goes, after the Service has been looked up.
struct WebhookEndpoint {
  std::string service;      // "namespace/name"; empty where the configuration has a url
  std::string url;          // without the query: "https://svc.ns.svc:443/validate"
  std::string server_name;  // that the certificate has to be for
  std::string ca_bundle;    // PEM; empty: the roots of the system
  // What is dialled: the pod or backend that was chosen, "10.244.0.4:8443".
  std::string address;
  // Where the url has the address of a pod: the Service that the pod is behind.
  std::string pod_of = {};
  // A pod of the sandbox that listens: it runs no process, and nothing can be dialled there.
  bool simulated = false;
};

class WebhookCaller {
 public:
  virtual ~WebhookCaller() = default;
  // Posts `request` (its target has the query). The text of an error is what a Go client says: `EOF`,
  // `dial tcp 10.0.0.1:443: connect: connection refused`, `tls: failed to verify certificate: x509: ...`.
  // The caller sees to the time-out, and cancels.
  virtual Task<Result<http::Response>> post(const WebhookEndpoint& endpoint, http::Request request) = 0;
};

// Webhooks that are functions of this process.
class LocalWebhooks final : public WebhookCaller {
 public:
  using Handler = std::function<Task<Result<http::Response>>(http::Request)>;

  // For a Service ("namespace/name") or a url. With a `ca_bundle`, only configurations that have it trust this server.
  void serve(std::string service_or_url, Handler handler, std::string ca_bundle = {});
  void stop(const std::string& service_or_url) { servers_.erase(service_or_url); }

  Task<Result<http::Response>> post(const WebhookEndpoint& endpoint, http::Request request) override;

 private:
  struct Server {
    Handler handler;
    std::string ca_bundle;
  };
  std::map<std::string, Server> servers_;
};

}  // namespace fairlead::sandbox
