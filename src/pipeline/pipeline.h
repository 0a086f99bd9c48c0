// Runs ordered phases of charts, manifests, commands and waits, with state: `fairlead run`.
//
// This is the room's first header. It has the pipeline as its file describes it (docs/run.md). read.h makes it from the
// text, values.h puts values of configuration files into it, state.h knows how far each phase has come, and runner.h
// runs what is left to do. The room does not know how a step does its work: whoever uses the runner does that.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace fairlead::pipeline {

// Objects that are rolled out as `fairlead apply` does.
struct Apply {
  std::vector<std::string> files;
  std::vector<std::string> kustomizations;
  // Empty if there is no chart.
  std::string chart;
  std::string release;
  std::vector<std::string> helm_flags;
  bool recursive = false;
  // The name of the bundle; empty if it has none.
  std::string name;
  bool prune = false;
  std::optional<Duration> timeout;
  std::map<std::string, Duration, std::less<>> timeout_for;
};

struct Command {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;
  std::optional<Duration> timeout;
};

// What `fairlead wait` waits for.
struct Wait {
  std::vector<std::string> objects;
  std::string form = "ready";
  std::string selector;
  bool all = false;
  bool any = false;
  std::optional<Duration> timeout;
  std::optional<Duration> existence_timeout;
};

// What happened to a phase, or to one of its steps.
enum class Action { started, resumed, completed, failed, timed_out, skipped, retry, interrupted, reset };
// Returns the name that the keys of `events` and JSON output use, such as "timedOut".
std::string_view name_of(Action action);

// The names that the pipeline has for its events. Other events have the name of what happened.
using EventNames = std::map<Action, std::string>;

struct Step {
  // For people: "chart ./charts/mothership". It has no values that could be secret.
  std::string text;
  std::variant<Apply, Command, Wait> work;
  // How often a step that fails is tried again, and the pause before that.
  int64_t retries = 0;
  Duration retry_delay = std::chrono::seconds(30);
  EventNames events;
  // file:line:column
  std::string at;
  // Differs if the step would do something else, or the same elsewhere.
  std::string hash;
};

struct Phase {
  std::string name;
  // The context of the kubeconfig, and the namespace; empty for those of the command line.
  std::string context;
  std::string ns;
  bool create_namespace = false;
  // False: it is skipped.
  bool is_wanted = true;
  // Indices of the phases that have to be completed or skipped before.
  std::vector<size_t> needs;
  std::vector<Step> steps;
  EventNames events;
  std::string at;
  std::string hash;
  // The cluster and the namespace that it is for, which may come from the command line; empty if that is not known.
  std::string place;
};

struct Pipeline {
  std::string file;
  std::string name;
  std::vector<Phase> phases;
  // Events are also written to the clusters.
  bool kubernetes_events = true;

  // Returns nothing if there is no such phase.
  std::optional<size_t> find(std::string_view phase) const;
  // Returns the phase and those that need it, directly or not, in the order of the file.
  std::vector<size_t> with_dependents(size_t phase) const;
};

}  // namespace fairlead::pipeline
