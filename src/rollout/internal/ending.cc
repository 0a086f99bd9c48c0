#include "rollout/internal/ending.h"

#include <algorithm>

#include "rollout/guards/root_causes.h"

namespace fairlead::rollout {
namespace {

using State = ObjectEnding::State;

constexpr size_t kNamedLeft = 3;

State state_of(const Run& run, NodeId node) {
  const ObjectState& state = run.state(node);
  if (run.plan().state(node) == Plan::State::blocked) return State::blocked;
  if (run.graph().is_left_out(node)) return State::left_out;
  if (is_blocked(run, node)) return State::blocked;
  if (run.plan().state(node) == Plan::State::failed)
    return state.stored == ObjectState::Stored::no ? State::refused : State::not_ready;
  if (state.unchecked) return State::unchecked;
  switch (state.stored) {
    case ObjectState::Stored::no: return State::not_sent;
    case ObjectState::Stored::created: return State::created;
    case ObjectState::Stored::changed: return State::changed;
    case ObjectState::Stored::unchanged: return State::unchanged;
  }
  return State::not_sent;
}

ObjectEnding object_ending(const Run& run, NodeId node) {
  const ObjectState& state = run.state(node);
  auto error = run.errors().find(node);
  return {.key = run.object(node).key(),
          .source = run.object(node).source().text(),
          .state = state_of(run, node),
          .ready = run.plan().state(node) == Plan::State::done,
          .error = error == run.errors().end() ? std::nullopt : std::optional(error->second),
          .warnings = state.warnings,
          .forecast = state.forecast};
}

Ending::How how(const Run& run) {
  if (run.halt().interrupted()) return Ending::How::interrupted;
  if (run.errors().empty()) return run.halt().out_of_time() ? Ending::How::timed_out : Ending::How::done;
  auto is_conflict = [&](const auto& error) { return run.is_object(error.first) && run.state(error.first).conflict; };
  if (std::ranges::all_of(run.errors(), is_conflict)) return Ending::How::conflicts;
  auto is_timeout = [](const auto& error) { return error.second.kind() == ErrorKind::timeout; };
  return std::ranges::all_of(run.errors(), is_timeout) ? Ending::How::timed_out : Ending::How::failed;
}

// When a need was met.
TimePoint met_at(const Run& run, NodeId node, const graph::Need& need) {
  bool when_stored = level_of(run.graph().nodes()[node], need) != plan::Level::done;
  return when_stored && run.is_object(need.target) ? run.state(need.target).stored_at : run.settled_at(need.target);
}

// Returns the need that was met last, through groups and waves.
std::optional<graph::Need> last_need(const Run& run, NodeId node) {
  std::optional<graph::Need> last;
  TimePoint latest{};
  for (const graph::Need& need : run.graph().needs_of(node)) {
    graph::Need met = need;
    graph::Node::Kind kind = run.graph().nodes()[need.target].kind;
    if (kind == graph::Node::Kind::all_of || kind == graph::Node::Kind::wave) {
      std::optional<graph::Need> inner = last_need(run, need.target);
      if (!inner) continue;
      met.target = inner->target;
    }
    TimePoint at = met_at(run, node, met);
    if (at >= latest) {
      latest = at;
      last = met;
    }
  }
  return last;
}

std::vector<PathStep> critical_path(const Run& run) {
  std::optional<NodeId> at;
  for (NodeId node : run.objects())
    if (run.plan().state(node) == Plan::State::done && (!at || run.settled_at(node) > run.settled_at(*at))) at = node;
  std::vector<PathStep> path;
  while (at && path.size() < 100) {
    std::optional<graph::Need> need = last_need(run, *at);
    PathStep step{.text = run.graph().text(*at), .to = run.settled_at(*at) - run.begun()};
    if (need) {
      step.reason = need->reason;
      step.from = met_at(run, *at, *need) - run.begun();
    }
    // The object spent this time waiting, so the time belongs to what it waited for.
    if (run.is_object(*at) && !run.state(*at).waited_for.empty()) {
      TimePoint let_in = run.state(*at).stored_at;
      path.push_back(step);
      path.back().from = let_in - run.begun();
      path.back().reason = "held it";
      step = {.text = run.state(*at).waited_for, .reason = step.reason, .from = step.from, .to = let_in - run.begun()};
    }
    path.push_back(std::move(step));
    at = need ? std::optional(need->target) : std::nullopt;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::not_sent: return "not sent";
    case State::blocked: return "blocked";
    case State::refused: return "refused";
    case State::not_ready: return "not ready";
    case State::created: return "created";
    case State::changed: return "changed";
    case State::unchanged: return "unchanged";
    case State::removed: return "removed";
    case State::unchecked: return "not checked";
    case State::left_out: return "left out";
  }
  return "";
}

std::string left_text(const std::vector<object::Key>& left) {
  std::string named;
  for (size_t i = 0; i < std::min(left.size(), kNamedLeft); ++i) named += (i == 0 ? "" : ", ") + left[i].text();
  if (left.size() > kNamedLeft) named += fmt::format(" and {} more", left.size() - kNamedLeft);
  bool is_one = left.size() == 1;
  return fmt::format("{} object{} of the bundle {} no longer in the manifests: {}; --prune deletes {}", left.size(),
                     is_one ? "" : "s", is_one ? "is" : "are", named, is_one ? "it" : "them");
}

std::vector<ObjectEnding> none_sent(const manifest::Bundle& bundle) {
  std::vector<ObjectEnding> objects;
  for (const object::Object& object : bundle.objects)
    objects.push_back({.key = object.key(), .source = object.source().text(), .error = {}, .warnings = {}});
  return objects;
}

Ending ending_of(const Run& run) {
  Ending ending;
  ending.how = how(run);
  for (NodeId node : run.objects()) ending.objects.push_back(object_ending(run, node));
  for (RootCause& root : root_causes(run)) {
    Cause cause{.error = std::move(root.error), .blocks = {}};
    for (NodeId blocked : root.blocks) cause.blocks.push_back(run.object(blocked).key());
    ending.causes.push_back(std::move(cause));
  }
  ending.critical_path = critical_path(run);
  ending.concerns = run.concerns();
  return ending;
}

}  // namespace fairlead::rollout
