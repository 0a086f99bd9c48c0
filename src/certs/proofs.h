// What has to be known before a rotation may go on: which CAs the API servers use, and what the endpoints serve.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook.h"
#include "certs/spec.h"
#include "kube/client.h"
#include "object/key.h"
#include "x509/x509.h"

namespace fairlead::certs {

struct Evidence {
  enum class Verdict {
    proved,
    refuted,  // it was seen that it is not so
    unknown,  // it cannot be found out: no permission, or no way to get there
  };
  Verdict verdict = Verdict::unknown;
  // What was seen, or why nothing was, as a sentence without a full stop.
  std::string how;
  // It holds only because there is nothing that it could fail for.
  bool is_vacuous = false;
};

class Proofs {
 public:
  virtual ~Proofs() = default;
  // Whether the API servers use these objects as they are stored now.
  virtual Task<Result<Evidence>> in_use(std::vector<object::Key> objects) = 0;
  // Whether every ready endpoint of the Service serves a certificate that the roots verify. Looks again until it is so,
  // or until `patience` is over; with none, it looks once.
  virtual Task<Result<Evidence>> served(std::vector<x509::Certificate> roots, admission::ServiceReference service,
                                        Duration patience) = 0;
};

// Makes a TLS connection and returns what the other side presents, the leaf first. Verifies nothing. Fails with
// `unavailable` or `timeout` if there is no way to get there.
using Handshake =
    std::function<Task<Result<std::vector<x509::Certificate>>>(std::string address, int port, std::string server_name)>;

// Asks the cluster: markers and mirrors (readiness/shadow.h) make the API server prove what it does, and handshakes
// show what each endpoint serves. Where those endpoints cannot be reached, as from outside the cluster, a mirror that
// trusts nothing but the roots proves the one endpoint that it is answered by.
class ClusterProofs final : public Proofs {
 public:
  struct Options {
    // The name of this run in the cluster, new for each, and whether another run is known to have ended: for shadows.
    std::string run;
    std::function<bool(std::string_view run)> run_known_dead = {};
    // May be empty.
    Handshake handshake = {};
    // A proof is about one API server. This is how long others may be behind it.
    Duration propagation = std::chrono::seconds(5);
    // Between two looks.
    Duration pause = std::chrono::seconds(1);
  };
  // The client must outlive it.
  ClusterProofs(kube::Client& client, Spec spec, Options options)
      : client_(client), spec_(std::move(spec)), options_(std::move(options)) {}

  Task<Result<Evidence>> in_use(std::vector<object::Key> objects) override;
  Task<Result<Evidence>> served(std::vector<x509::Certificate> roots, admission::ServiceReference service,
                                Duration patience) override;

 private:
  struct Endpoint {
    std::string address;
    int port = 0;
    std::string text() const;
  };
  // Nothing if endpoints may not be read.
  Task<Result<std::optional<std::vector<Endpoint>>>> ready_endpoints(admission::ServiceReference service);
  Task<Result<Evidence>> look(const std::vector<x509::Certificate>& roots, const admission::ServiceReference& service);
  Task<Result<Evidence>> shake_hands(std::vector<Endpoint> endpoints, const std::vector<x509::Certificate>& roots);
  Task<Result<Evidence>> ask_api_server(const std::vector<x509::Certificate>& roots,
                                        const admission::ServiceReference& service, std::optional<size_t> endpoints);
  std::string next_run();

  kube::Client& client_;
  Spec spec_;
  Options options_;
  int runs_ = 0;
};

}  // namespace fairlead::certs
