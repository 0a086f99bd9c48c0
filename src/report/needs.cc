#include "report/needs.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fairlead::report {
namespace {

// Groups and waves have members, which may be groups again.
constexpr int kDeepest = 5;

std::string text_at(const Json& list, size_t index) { return std::string(list.item(index).string_or("")); }

}  // namespace

void Needs::read_graph(const Json& details) {
  *this = Needs();
  for (const Json& object : details["objects"].items()) {
    object::Key key{
        .group = text_at(object, 0), .kind = text_at(object, 1), .ns = text_at(object, 2), .name = text_at(object, 3)};
    objects_.emplace(key, nodes_.add({.key = key, .text = key.text(), .type = "object"}));
  }
  for (const Json& other : details["others"].items()) {
    std::string text = text_at(other, 1);
    NodeId node = nodes_.add({.key = {}, .text = text, .type = text_at(other, 0)});
    if (nodes_[node].type == "guard") guards_.emplace(std::move(text), node);
  }
  for (const Json& reason : details["reasons"].items()) reasons_.emplace_back(reason.string_or(""));
  for (const Json& need : details["needs"].items()) {
    auto number = [&](size_t index) { return uint64_t(need.item(index).int_or(-1)); };
    bool is_valid = number(0) < nodes_.size() && number(1) < nodes_.size() && number(2) < reasons_.size();
    if (is_valid)
      nodes_[NodeId(number(0))].needs.push_back(
          {.target = NodeId(number(1)), .reason = number(2), .level = need.item(3).int_or(0)});
  }
}

Needs::Node* Needs::find(const object::Key& key) {
  auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &nodes_[found->second];
}

void Needs::sent(const object::Key& key) {
  if (Node* node = find(key)) node->is_sent = true;
}

void Needs::stored(const object::Key& key) {
  if (Node* node = find(key)) node->is_sent = node->is_stored = true;
}

void Needs::done(const object::Key& key) {
  if (Node* node = find(key)) node->is_sent = node->is_stored = node->is_done = true;
}

void Needs::guard(const std::string& name, const std::string& rung) {
  if (auto found = guards_.find(name); found != guards_.end()) nodes_[found->second].is_done = rung == "answering";
}

bool Needs::is_met(const Need& need) const {
  const Node& target = nodes_[need.target];
  return target.is_done || (need.level == 0 && target.is_stored);
}

// Returns a need that is not met: rather one for an object or a guard that is under way than one for what waits itself.
const Needs::Need* Needs::unmet(NodeId node, int depth) const {
  const Need* best = nullptr;
  for (const Need& need : nodes_[node].needs) {
    const Node& target = nodes_[need.target];
    bool has_members = target.type == "group" || target.type == "wave";
    const Need* found = &need;
    if (has_members) found = depth < kDeepest ? unmet(need.target, depth + 1) : nullptr;
    else if (is_met(need)) found = nullptr;
    if (!found) continue;
    bool is_under_way = nodes_[found->target].is_sent || nodes_[found->target].type == "guard";
    if (!best || is_under_way) best = found;
    if (is_under_way) break;
  }
  return best;
}

std::vector<Needs::Group> Needs::unsent() const {
  std::map<std::tuple<std::string, std::string, std::string, NodeId>, Group> found;
  for (NodeId i : nodes_.ids()) {
    const Node& node = nodes_[i];
    if (node.type != "object" || node.is_sent) continue;
    const Need* need = unmet(i, 0);
    NodeId target = need ? need->target : NodeId(nodes_.size());
    Group& group = found[{node.key.group, node.key.kind, node.key.ns, target}];
    if (group.count++ > 0) continue;
    group.first = node.key;
    if (need) {
      group.awaited = nodes_[need->target].text;
      group.reason = reasons_[need->reason];
    }
  }
  std::vector<Group> groups;
  for (auto& [key, group] : found) groups.push_back(std::move(group));
  std::ranges::sort(groups, std::greater(), &Group::count);
  return groups;
}

}  // namespace fairlead::report
