// Makes the API server prove that a guard is in effect and answers, with shadows: webhook configurations (and policies)
// of our own that match nothing but our own dry-run probes. docs/proving.md tells users about it.
//
// A proof holds for a connection, since a connection stays with one API server: pass the connection that will write. 0
// is any; the Proof then says which one it was. Nothing here ends a rollout: where the cluster does not let us prove
// (no permission, too old), the Proof says so. A Failure means that there was no answer: cancelled, or the connection
// is gone.
//
// Calls may run side by side. On the loop's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client.h"
#include "object/key.h"
#include "readiness/proof.h"

namespace fairlead::readiness {

// An address behind a Service.
struct Endpoint {
  std::string address;
  int port = 443;

  auto operator<=>(const Endpoint&) const = default;
};

class Prover {
 public:
  struct Options {
    // Never used before in this cluster: small letters, digits and dashes; 30 of them count.
    std::string run;
    // True if the run of that name is known to have ended: its shadows are removed before they expire.
    std::function<bool(std::string_view run)> known_dead = {};
    // Others may remove this run's shadows after this long; it makes new ones if it still needs them.
    Duration life = std::chrono::hours(1);
    // How long one marker is looked for before the next one is tried, and how many are.
    Duration marker_timeout = std::chrono::seconds(3);
    int markers = 3;
    // Namespaces for probes that need one, best first: users who may not create RuntimeClasses send a ConfigMap to one
    // of these. A namespace that does not exist yet is tried again.
    std::vector<std::string> namespaces = {};
    // For all removals of clean_up together; what is left then goes when a later run sweeps.
    Duration clean_up_time = std::chrono::seconds(15);
  };
  // The client must outlive it.
  Prover(kube::Client& client, Options options);
  ~Prover();
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;

  // Everything of that kind that was created before this call, under names that were not used before, is in effect.
  Task<kube::Outcome<Proof>> created_in_effect(GuardKind kind, uint64_t connection);
  // One webhook configuration that was updated before this call, or created again under its name, is in effect in that
  // form: the marker is a hook inside it, for a moment.
  Task<kube::Outcome<Proof>> updated_in_effect(object::Key configuration, uint64_t connection);

  // One try: does it answer, as the API server calls it? The first try makes the shadow, the others only probe. It is
  // given one second; after a time-out, as long as the guard itself has.
  Task<kube::Outcome<Proof>> mirror(Target target, uint64_t connection);
  // One try: does each of these addresses listen? Rung::reachable if they all do; a certificate for another name is a
  // yes.
  Task<kube::Outcome<Proof>> mirror_endpoints(Target target, std::vector<Endpoint> endpoints, uint64_t connection);

  // Removes all that this run has put into the cluster, even if the task that awaits it was cancelled. Always: when
  // nothing else of it runs any more, and before it is destroyed.
  Task<void> clean_up();
  // Removes what other runs have left behind, once its time is over or its run is known to have ended. How many objects
  // and hooks that was.
  Task<kube::Outcome<size_t>> sweep();
  // The same among objects that somebody has listed already: without a request where there is nothing to remove.
  Task<size_t> sweep(std::span<const Json> listed);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead::readiness
