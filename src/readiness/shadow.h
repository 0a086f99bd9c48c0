// Makes the API server prove that a guard is in effect and answers. It uses shadows: webhook configurations and
// policies of Fairlead's own that match nothing but its own dry-run probes. docs/proving.md explains them to users.
//
// A proof is valid for one connection, because a connection stays with one API server. Pass the connection that will
// write the guarded objects, or 0 for any; the Proof names the connection that was used. Nothing here ends a rollout:
// if the cluster does not allow a proof (no permission, server too old), the Proof says so. A Failure means that there
// was no answer: the task was cancelled, or the connection was lost.
//
// Calls may run concurrently, on the thread of the loop only.
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

// An address of an endpoint of a Service.
struct Endpoint {
  std::string address;
  int port = 443;

  auto operator<=>(const Endpoint&) const = default;
};

class Prover {
 public:
  struct Options {
    // The name of this run, which must be new in this cluster. It has lower-case letters, digits and dashes; only the
    // first 30 characters count.
    std::string run;
    // Returns true if the run of that name is known to have ended. Then its shadows are removed before they expire.
    std::function<bool(std::string_view run)> known_dead = {};
    // After this time, other runs may remove the shadows of this run. It creates new ones if it still needs them.
    Duration life = std::chrono::hours(1);
    // How long to look for one marker before trying the next one, and how many markers to try.
    Duration marker_timeout = std::chrono::seconds(3);
    int markers = 3;
    // Namespaces for probes that need one, in order of preference. A user who may not create RuntimeClasses sends a
    // ConfigMap to one of them. A namespace that does not exist yet is tried again later.
    std::vector<std::string> namespaces = {};
    // The time for all removals of clean_up() together. A sweep of a later run removes the rest.
    Duration clean_up_time = std::chrono::seconds(15);
  };
  // The client must outlive the prover.
  Prover(kube::Client& client, Options options);
  ~Prover();
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;

  // Proves that every guard of this kind is in effect that was created before this call under a new name.
  Task<kube::Outcome<Proof>> created_in_effect(GuardKind kind, uint64_t connection);
  // Proves that the current version of one webhook configuration is in effect. Use it if the configuration was updated,
  // or created again under its name. The marker is a hook that is added to the configuration for a moment.
  Task<kube::Outcome<Proof>> updated_in_effect(object::Key configuration, uint64_t connection);

  // Asks once whether the webhook answers when the API server calls it. The first call creates the shadow; later calls
  // only send a probe. The webhook has one second to answer. After a timeout, later calls give it the guard's own
  // timeout.
  Task<kube::Outcome<Proof>> mirror(Target target, uint64_t connection);
  // Asks once whether each of these addresses accepts connections. Returns Rung::reachable if all of them do. A
  // certificate for another name does not matter.
  Task<kube::Outcome<Proof>> mirror_endpoints(Target target, std::vector<Endpoint> endpoints, uint64_t connection);

  // Removes every shadow of this run, even if the awaiting task was cancelled. Must be called before the destructor,
  // when no other call is running.
  Task<void> clean_up();
  // Removes shadows of other runs that have expired or whose run is known to have ended. Returns the number of objects
  // and hooks that it removed.
  Task<kube::Outcome<size_t>> sweep();
  // Does the same for objects that the caller has already listed. Sends no request if there is nothing to remove.
  Task<size_t> sweep(std::span<const Json> listed);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead::readiness
