// Finds out how the cluster serves the kinds of targets, and waits for kinds that do not exist yet.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kube/watched.h"
#include "wait/internal/run.h"

namespace fairlead::wait {

class Kinds {
 public:
  // The watch of CRDs runs in the scope.
  Kinds(Run& run, Scope& scope) : run_(run), scope_(scope), changed_(run.loop) {}

  // Returns the resource once the cluster serves it. Returns nothing if it does not by `due`, or at once if `wait` is
  // false. `name` is one of the target's kinds; it does not matter for an object of a manifest. Fails if cancelled, or
  // if the API server refuses to tell.
  Task<Result<std::optional<object::Resource>>> find(const Target& target, std::string name, bool wait, TimePoint due);

  // Says why the kind is not served.
  Error missing(const Target& target, const std::string& name) const;

 private:
  Task<kube::Outcome<std::optional<object::Resource>>> look(const Target& target, const std::string& name);
  void watch_definitions();

  Run& run_;
  Scope& scope_;
  Signal changed_;
  uint64_t changes_ = 0;
  std::unique_ptr<kube::Watched> definitions_;
};

}  // namespace fairlead::wait
