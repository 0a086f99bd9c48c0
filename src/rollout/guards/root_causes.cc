#include "rollout/guards/root_causes.h"

#include <algorithm>
#include <set>

#include "rollout/guards/causes.h"
#include "rollout/guards/guards.h"
#include "rollout/guards/retry_gates.h"

namespace fairlead::rollout {
namespace {

using removal::Chain;

struct Group {
  // The object of the bundle that does not work, if the cause is an object.
  std::optional<NodeId> root;
  // The nodes with an error, including the root.
  std::vector<NodeId> members;
  std::set<GuardId> guards;
};

// True if the guard itself does not work, whatever object is sent.
bool is_guard_down(const kube::Fault& fault) {
  switch (fault.kind) {
    case kube::FaultKind::webhook_untrusted:
    case kube::FaultKind::webhook_wrong_certificate:
    case kube::FaultKind::webhook_not_https:
    case kube::FaultKind::webhook_path_missing:
    case kube::FaultKind::webhook_unreachable: return true;
    default: return is_out_of_reach(fault.kind);
  }
}

bool is_object(const Run& run, NodeId node) { return run.is_object(node); }

std::string key_of_node(NodeId node) { return fmt::format("node {}", node.index()); }

// Returns `node` if it has an error, or the failed node that blocks it.
std::optional<NodeId> culprit(const Run& run, NodeId node) {
  if (run.errors().contains(node)) return node;
  if (run.plan().state(node) == Plan::State::blocked) return run.plan().root_cause(node);
  return std::nullopt;
}

// Returns a failed object that backs the guard. Such an object is the cause of everything that the guard blocks.
std::optional<NodeId> broken_below(const Run& run, const graph::Guard& guard) {
  for (NodeId node : guard.backed_by)
    if (auto found = culprit(run, node); found && is_object(run, *found) && !is_blocked(run, *found)) return found;
  return std::nullopt;
}

std::string key_of_guard(const Run& run, GuardId guard) {
  const graph::Guard& it = run.graph().guards()[guard];
  if (std::optional<NodeId> node = broken_below(run, it)) return key_of_node(*node);
  return it.service ? gate_of_service(it.service->ns, it.service->name) : it.text();
}

// Returns the guard that blocks an object, or the guard that the node itself is.
std::optional<GuardId> guard_at(const Run& run, NodeId node) {
  if (!is_object(run, node))
    return run.graph().nodes()[node].kind == graph::Node::Kind::guard ? std::optional(run.graph().nodes()[node].guard())
                                                                      : std::nullopt;
  const ObjectState& state = run.state(node);
  bool waits = state.fault && state.fault->webhook && is_guard_down(*state.fault) && is_blocked(run, node);
  return waits ? find_guard(run, *state.fault->webhook) : std::nullopt;
}

std::string key_of(const Run& run, NodeId node, const Error& error) {
  if (std::optional<GuardId> guard = guard_at(run, node)) return key_of_guard(run, *guard);
  if (!is_object(run, node) || !is_blocked(run, node)) return key_of_node(node);
  const ObjectState& state = run.state(node);
  // The answer of a webhook may be about this object only.
  if (state.fault && state.fault->webhook) return state.fault->explanation;
  if (state.fault && state.fault->wait.what != kube::Awaited::nothing) return gate_for(*state.fault);
  return error.cause() ? error.cause()->message() : key_of_node(node);
}

// A webhook configuration that is not ready is not reported as a separate cause if the workload behind its webhooks is
// reported already.
std::optional<std::string> key_of_configuration(const Run& run, const std::map<std::string, Group>& groups,
                                                NodeId node) {
  for (GuardId i : run.graph().guards().ids()) {
    if (run.graph().guards()[i].object != node) continue;
    std::string key = key_of_guard(run, i);
    auto found = groups.find(key);
    if (found != groups.end() && found->second.guards.contains(i)) return key;
  }
  return std::nullopt;
}

std::map<std::string, Group> grouped(const Run& run) {
  std::map<std::string, Group> groups;
  for (const auto& [node, error] : run.errors()) {
    std::string key = key_of(run, node, error);
    Group& group = groups[key];
    group.members.push_back(node);
    if (key == key_of_node(node)) group.root = node;
    if (std::optional<GuardId> guard = guard_at(run, node)) group.guards.insert(*guard);
  }
  for (const auto& [node, error] : run.errors()) {
    auto own = groups.find(key_of_node(node));
    if (own == groups.end() || own->second.members.size() != 1) continue;
    std::optional<std::string> key = key_of_configuration(run, groups, node);
    if (!key || *key == own->first) continue;
    groups[*key].members.push_back(node);
    groups.erase(own);
  }
  return groups;
}

std::vector<NodeId> blocked_by(const Run& run, const Group& group) {
  std::set<NodeId> blocked;
  for (NodeId node : group.members) {
    if (group.members.size() > 1 && is_object(run, node) && is_blocked(run, node)) blocked.insert(node);
    for (NodeId held : run.plan().blocked_by(node)) blocked.insert(held);
  }
  return {blocked.begin(), blocked.end()};
}

std::vector<NodeId> not_ready_in(const Run& run, const Group& group) {
  std::vector<NodeId> nodes;
  for (NodeId node : group.members)
    if (is_object(run, node) && run.state(node).stored != ObjectState::Stored::no) nodes.push_back(node);
  return nodes;
}

// Returns the error without its first layer: why the object is not accepted.
Error below(const Error& error) {
  if (!error.cause()) return error;
  Error inner(error.kind(), error.cause()->what());
  if (error.cause()->cause()) inner = std::move(inner).because(*error.cause()->cause());
  if (!error.where().empty()) inner = std::move(inner).at(error.where());
  return error.next().empty() ? inner : std::move(inner).next(error.next());
}

// Returns the first error of a group of several: that of a guard, or else what the first blocked object waits for.
Error head_of(const Run& run, const Group& group) {
  for (NodeId node : group.members)
    if (!is_object(run, node)) return run.errors().at(node);
  for (NodeId node : group.members)
    if (is_blocked(run, node)) return below(run.errors().at(node));
  return run.errors().at(group.members.front());
}

std::string others_text(const Run& run, const Group& group) {
  if (group.guards.size() < 2) return "";
  if (group.guards.size() == 2) return fmt::format(", nor is {}", run.graph().guards()[*group.guards.rbegin()].text());
  return fmt::format(", nor are {} other webhooks", group.guards.size() - 1);
}

// Returns "Deployment operator/operator is not ready: 0 of 1 replica is ready".
std::string failing_text(const Run& run, NodeId node) {
  const Error& error = run.errors().at(node);
  return error.cause() ? fmt::format("{}: {}", error.what(), error.cause()->what()) : error.what();
}

std::string source_of(const Run& run, const Group& group, const Error& head) {
  if (group.root) return run.object(*group.root).source().text();
  for (GuardId guard : group.guards)
    if (auto object = run.graph().guards()[guard].object) return run.object(*object).source().text();
  return head.where();
}

// Builds one error for the whole group: the guard, its Service, the object that does not work, and why.
Error error_of(const Run& run, const Group& group) {
  if (group.members.size() == 1) return run.errors().at(group.members.front());
  Error head = head_of(run, group);
  Chain chain{.next = head.next()};
  for (const Error* cause = head.cause(); cause; cause = cause->cause()) chain.causes.push_back(cause->what());
  if (group.root) {
    const Error& own = run.errors().at(*group.root);
    chain.causes.insert(chain.causes.begin() + (chain.causes.empty() ? 0 : 1), failing_text(run, *group.root));
    // If nothing is known below the Service, add what is known about the object itself.
    if (const Error* reason = own.cause(); reason && chain.causes.size() <= 2)
      for (const Error* cause = reason->cause(); cause; cause = cause->cause()) chain.causes.push_back(cause->what());
    if (!own.next().empty()) chain.next = own.next();
  }
  for (NodeId node : group.members)
    if (is_object(run, node) && node != group.root && !is_blocked(run, node))
      chain.causes.push_back(failing_text(run, node));
  return std::move(chain).under(head.kind(), head.what() + others_text(run, group), source_of(run, group, head));
}

}  // namespace

bool is_blocked(const Run& run, NodeId node) {
  const ObjectState& state = run.state(node);
  if (state.stored != ObjectState::Stored::no || run.plan().state(node) != Plan::State::failed || state.conflict)
    return false;
  if (!state.fault) return state.timed_out;
  switch (state.fault->kind) {
    case kube::FaultKind::webhook_denied:
    case kube::FaultKind::webhook_no_dry_run:
    case kube::FaultKind::object_terminating: return false;
    default: return is_guard_down(*state.fault) || state.fault->wait.what != kube::Awaited::nothing || state.timed_out;
  }
}

std::optional<GuardId> find_guard(const Run& run, const kube::FaultWebhook& webhook) {
  const plan::IdVector<GuardId, graph::Guard>& guards = run.graph().guards();
  auto has_its_service = [&](const graph::Guard& guard) {
    return guard.service && guard.service->name == webhook.service && guard.service->ns == webhook.ns;
  };
  bool is_conversion = webhook.role == kube::FaultWebhook::Role::conversion;
  std::optional<GuardId> named;
  for (GuardId i : guards.ids()) {
    bool is_candidate = is_conversion ? guards[i].kind == graph::Guard::Kind::conversion
                                      : is_webhook(guards[i]) && guards[i].name == webhook.name;
    if (is_candidate && has_its_service(guards[i])) return i;
    if (is_candidate && !is_conversion && !named) named = i;
  }
  return named;
}

std::vector<RootCause> root_causes(const Run& run) {
  std::map<std::string, Group> groups = grouped(run);
  std::vector<const Group*> in_order;
  for (const auto& [key, group] : groups) in_order.push_back(&group);
  std::ranges::sort(in_order, {}, [](const Group* group) { return std::ranges::min(group->members); });
  std::vector<RootCause> causes;
  for (const Group* group : in_order)
    causes.push_back(
        {.error = error_of(run, *group), .blocks = blocked_by(run, *group), .not_ready = not_ready_in(run, *group)});
  return causes;
}

}  // namespace fairlead::rollout
