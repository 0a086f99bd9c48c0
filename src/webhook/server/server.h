// The admission server: policies over HTTPS, with probes and metrics on a port of their own.
//
// This is the room's first header. The room serves what the other rooms of webhook decide:
//   routes.h             which path is for which policy
//   reviewer.h           a request: deadline, decision, log, metrics
//   review_queue.h       decisions that may take their time: threads, limits
//   certificate_files.h  certificates from a folder (certs has those from a Secret)
//   callers.h            what the cluster's webhook configurations know about this server
//   readiness.h          whether API servers can call it
//   coordination.h       which namespaces it decides for, where others serve some of them
//   answerer.h           what answers reviews in place of policies (the gate)
// Nothing that a client sends, no policy and no certificate ever ends the server. It stops when it is asked to, and
// then loses no request.
//
// Everything lives on the server's own loop, but for the connections: where there are several processors, further loops
// on threads of their own serve some of them, up to and with the decision on reviews that are quick.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "async/background_loop.h"
#include "async/scope.h"
#include "certs/source.h"
#include "http/server/server.h"
#include "webhook/server/answerer.h"
#include "webhook/server/callers.h"
#include "webhook/server/log.h"
#include "webhook/server/metrics.h"
#include "webhook/server/reviewer.h"
#include "webhook/server/routes.h"

namespace fairlead::webhook {

struct ServeSpec {
  // Of both ports; an IP address.
  std::string address = "0.0.0.0";
  // 0: any that is free.
  uint16_t port = 9443;
  uint16_t probe_port = 8080;
  // "<service>.<namespace>.svc", as API servers call it; empty if it is not known.
  std::string host;
  // If API servers have to show a certificate.
  std::optional<http::ClientTrust> clients;
  ReviewLimits reviews;
  // Loops that serve connections, the server's own included. An answerer has that one alone.
  size_t serving_threads = 1;
  size_t body_bytes = size_t{8} << 20;
  // How long requests are still accepted after the server was asked to stop, at least; and at most, where the cluster
  // still sends some.
  Duration drain = std::chrono::seconds(10);
  Duration drain_limit = std::chrono::seconds(30);
  // For requests that are in flight after that.
  Duration last_requests = std::chrono::seconds(30);
  // Between two looks at the own readiness: while it is ready, and while it is not.
  Duration check = std::chrono::seconds(10);
  Duration check_unready = std::chrono::seconds(1);
};

class AdmissionServer {
 public:
  // All must outlive it. Without `surroundings` no cluster is asked.
  AdmissionServer(RealLoop& loop, ServeSpec spec, const Routes& routes, certs::CertificateSource& certificates,
                  Surroundings* surroundings, Log& log);
  ~AdmissionServer();
  AdmissionServer(const AdmissionServer&) = delete;
  AdmissionServer& operator=(const AdmissionServer&) = delete;

  // Call before run(): reviews that the territory does not take are let through. It must outlive the server.
  void limit_to(const Territory& territory) {
    territory_ = &territory;
    reviews_.territory = &territory;
  }

  // Call before run(): the answerer is asked in place of the routes. It must outlive the server.
  void answer_with(Answerer& answerer) { answerer_ = &answerer; }

  // Call before run(): what else goes wrong beside the server, for the log and /readyz (empty while all is well), and
  // what else /metrics tells. What they use must outlive the server.
  void tell_also(std::function<std::string()> trouble, std::function<std::string()> metrics) {
    trouble_source_ = std::move(trouble);
    more_metrics_ = std::move(metrics);
  }

  // Serves until `stop` is cancelled, then drains, and returns when everything has ended. Fails only if it cannot
  // listen. Before there is a certificate it answers probes alone.
  Task<Result<void>> run(CancelSource& stop);

  // While it runs; 0 as long as it does not listen there.
  uint16_t port() const { return https_ ? https_->port() : 0; }
  uint16_t probe_port() const { return probes_ ? probes_->port() : 0; }
  const Metrics& metrics() const { return metrics_; }
  // Empty if it is ready.
  const std::string& not_ready() const { return not_ready_; }
  // Whether every webhook configuration of its own is known to call it, also while it drains.
  bool is_registered() const { return is_registered_; }
  // Notified when one of the two changes.
  Signal& readiness_changed() { return readiness_changed_; }

 private:
  Task<Result<void>> serve(CancelSource& stop, Scope& scope);
  Task<void> follow_certificates();
  // Takes up the certificate that is stored, if it is a new one that can be used. Fails if the server cannot listen.
  Result<void> look_at_certificate();
  // Why the pair must not replace what is served; empty if it may.
  std::string flaw_of_new(const certs::ServingPair& pair) const;
  Result<void> take_up(const std::shared_ptr<const certs::ServingPair>& pair);
  Result<void> listen(http::Identity identity);
  std::vector<http::Server::Helper> start_helpers();
  Task<void> follow_readiness();
  void note_refused(int status, const std::string& peer);
  Task<Assessment> look();
  void look_at_troubles();
  // Whether a failed handshake with itself is not yet a reason to be not ready.
  bool may_pass(const Assessment& assessment);
  void set_readiness(Assessment assessment);
  http::Answer probe(const http::Request& request) const;
  Task<void> drain();

  RealLoop& loop_;
  ServeSpec spec_;
  const Routes& routes_;
  certs::CertificateSource& certificates_;
  Surroundings* surroundings_;
  Log& log_;
  const Territory* territory_ = nullptr;
  Answerer* answerer_ = nullptr;
  Metrics metrics_;
  ReviewSetting reviews_;
  Reviewer reviewer_;
  // The further loops that serve connections, each with a reviewer of its own.
  struct Helper {
    std::unique_ptr<BackgroundLoop> thread;
    Reviewer reviewer;
  };
  std::vector<std::unique_ptr<Helper>> helpers_;
  std::unique_ptr<http::Server> probes_;
  std::unique_ptr<http::Server> https_;
  std::shared_ptr<const certs::ServingPair> serving_;
  // Why there is no certificate, or why an earlier one is served than the one that is stored.
  std::string certificate_trouble_;
  // Why it cannot listen for reviews: ends run().
  std::optional<Error> cannot_listen_;
  Signal listening_failed_;
  // What decides on readiness has changed.
  Signal look_again_;
  Signal readiness_changed_;
  std::string not_ready_ = "the server is starting";
  std::vector<std::string> warned_;
  bool is_registered_ = false;
  int failed_handshakes_ = 0;
  // Connections are being closed, for good.
  bool is_closing_ = false;
  std::map<int, TimePoint> next_refusal_line_;
  // Troubles that do not keep API servers from calling the server.
  std::string trouble_;
  std::function<std::string()> trouble_source_;
  std::function<std::string()> more_metrics_;
  std::optional<Result<Callers>> callers_;
};

}  // namespace fairlead::webhook
