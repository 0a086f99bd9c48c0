// Proves that webhooks work: registered, in effect, reachable at every ready endpoint, trusted and answering.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/watched.h"
#include "readiness/shadow.h"
#include "rollout/guards/evidence.h"
#include "wait/internal/run.h"

namespace fairlead::wait {

class Webhooks {
 public:
  // The watches of Services run in the scope.
  Webhooks(Run& run, readiness::Prover& prover, rollout::Evidence& evidence, Scope& scope)
      : run_(run), prover_(prover), evidence_(evidence), scope_(scope), changed_(run.loop) {}

  // What a subject consists of at the moment.
  struct Looked {
    std::vector<Callee> callees = {};
    // False while the watches have not shown everything yet.
    bool known = true;
    // Why there is no callee.
    std::string absence = {};
    // The object exists, even if it has no callee.
    bool is_there = false;
    // Nothing can be seen, or it can never have a callee.
    std::optional<Error> trouble = {};
  };
  using Look = std::function<Looked()>;

  // Tries again and again until all callees of the subject are proved, or until the subject is settled otherwise. Fails
  // only if cancelled.
  Task<Result<void>> follow(Subject& subject, Look look);
  // Call when something has changed that `look`, or a proof, depends on.
  void notify() {
    ++changes_;
    changed_.notify_all();
  }

 private:
  struct Attempt {
    Findings findings;
    std::vector<Layer> layers;
    // The cluster showed that a call must fail, and none was made.
    bool is_blocked = false;
  };

  enum class Outcome { functional, open, blocked };
  Task<Result<Outcome>> try_all(Subject& subject, const std::vector<Callee>& callees);
  Task<void> call(const Callee& callee, Attempt& attempt);
  Task<void> call_each(const Callee& callee, Findings& findings);
  Task<void> prove_effect(const Callee& callee, Findings& findings);
  // Returns nothing if they are not known: the namespace does not exist yet, or may not be read.
  Task<std::optional<Json>> labels_of_namespace(std::string name);
  Task<Result<void>> review(const std::vector<Callee>& callees, std::vector<Attempt>& attempts);
  Task<Result<void>> await_evidence(const admission::ServiceReference& service);
  void look_at_backend(const Callee& callee, Findings& findings) const;
  const kube::Watched* watch_services(const std::string& ns);
  std::string port_name(const admission::ServiceReference& service) const;
  void record(Subject& subject, const std::vector<Callee>& callees, const std::vector<Attempt>& attempts);
  void tell(Subject& subject, const std::vector<Callee>& callees, const std::vector<Attempt>& attempts);
  void tell_rung(const Callee& callee, const Findings& findings);

  Run& run_;
  readiness::Prover& prover_;
  rollout::Evidence& evidence_;
  Scope& scope_;
  // By namespace.
  std::map<std::string, std::unique_ptr<kube::Watched>> services_;
  Signal changed_;
  uint64_t changes_ = 0;
  // By the version of the configuration.
  std::map<std::string, readiness::Proof> effects_;
  // By the callee's text: rounds in a row that proved nothing about single endpoints, and the rung that was told last.
  std::map<std::string, int> silent_;
  std::map<std::string, readiness::Rung> told_;
};

}  // namespace fairlead::wait
