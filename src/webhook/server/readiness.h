// Whether the server can be called: what it serves verifies, for the name of its Service, against the caBundle of every
// webhook configuration of its own. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "certs/source.h"
#include "x509/x509.h"

namespace fairlead::webhook {

// How an API server that reads one configuration would call this server.
struct Caller {
  // "ValidatingWebhookConfiguration widgets, webhook v.example.com"
  std::string configuration;
  // One of ours has to work. Another one that points to our Service is only warned about.
  bool is_own = true;
  // As it is stored: base64.
  std::string ca_bundle;
};

// The callers in a cluster.
struct Callers {
  std::vector<Caller> found;
  // A sentence for each configuration of ours that does not call this server, because it does not exist or calls
  // another Service.
  std::vector<std::string> missing;
};

struct Assessment {
  // Why the server is not ready; empty if it is.
  std::string not_ready;
  // Whether every configuration of ours is known to call this server. If it is false, nobody may rely on the server to
  // see all reviews.
  bool is_registered = true;
  // Whether a handshake with the server worked.
  bool is_reachable = true;
  std::vector<std::string> warnings;

  bool ready() const { return not_ready.empty(); }
};

struct Evidence {
  // What the server showed in a handshake with itself.
  Result<std::vector<x509::Certificate>> served;
  // What it should show: what is stored, or the last good pair before it.
  std::shared_ptr<const certs::ServingPair> stored;
  // "<service>.<namespace>.svc"; empty if it is not known, so any name will do.
  std::string host;
  // Those in the cluster; nothing where no cluster is asked.
  std::optional<Result<Callers>> callers;
};

// Whether so many handshakes of the server with itself, which failed one after the other, say nothing yet. A server
// that was not ready before is told at once what is wrong.
bool is_doubtful(int failed_handshakes, bool was_ready);

// Why no API server would accept the pair, as far as the pair itself tells; empty if it would: valid now, for servers,
// for the host if there is one, and signed by its own CA if it has one.
std::string flaw_of_pair(const certs::ServingPair& pair, const std::string& host, WallTime now);

// Whether every configuration of ours is known to call this server. True where no cluster is asked.
bool is_registered(const std::optional<Result<Callers>>& callers);

Assessment assess(const Evidence& evidence, WallTime now);

}  // namespace fairlead::webhook
