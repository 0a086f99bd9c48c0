#include "fields/field_set.h"

#include <algorithm>
#include <optional>

namespace fairlead::fields {
namespace {

const FieldSet kEmpty;

struct Parsed {
  FieldSet below;
  bool member = false;
};

Result<Parsed> parse_level(const Json& json) {
  if (json.is_null()) return Parsed{{}, true};
  if (!json.is_object()) return fail(ErrorKind::invalid, "a level of fieldsV1 is {}, not object", json.type_name());
  Parsed parsed;
  std::vector<FieldSet::Node> nodes;
  for (const Json::Member& member : *json.if_object()) {
    if (member.key == ".") {
      parsed.member = true;
      continue;
    }
    Result<PathElement> element = PathElement::parse(member.key);
    if (!element && element.error().kind() == ErrorKind::not_found) continue;
    TRY(element);
    Result<Parsed> level = parse_level(member.value);
    if (!level) return fail(std::move(level).error().in("below " + element->text()));
    nodes.push_back({*std::move(element), level->member, std::move(level->below)});
  }
  parsed.below = FieldSet(std::move(nodes));
  if (parsed.below.empty()) parsed.member = true;
  return parsed;
}

auto before = [](const FieldSet::Node& node, const PathElement& element) { return node.element < element; };

// Visits two sorted levels in parallel. A node is null if its side does not have the element.
template <class Visit>
void zip(std::span<const FieldSet::Node> left, std::span<const FieldSet::Node> right, Visit visit) {
  auto l = left.begin(), r = right.begin();
  while (l != left.end() || r != right.end()) {
    std::strong_ordering order = l == left.end()    ? std::strong_ordering::greater
                                 : r == right.end() ? std::strong_ordering::less
                                                    : l->element <=> r->element;
    visit(order <= 0 ? &*l : nullptr, order >= 0 ? &*r : nullptr);
    if (order <= 0) ++l;
    if (order >= 0) ++r;
  }
}

}  // namespace

FieldSet::FieldSet(std::vector<Node> nodes) {
  auto by_element = [](const Node& a, const Node& b) { return a.element < b.element; };
  // Usually the nodes are sorted already.
  if (!std::is_sorted(nodes.begin(), nodes.end(), by_element)) std::sort(nodes.begin(), nodes.end(), by_element);
  for (Node& node : nodes) {
    if (nodes_.empty() || nodes_.back().element != node.element) {
      nodes_.push_back(std::move(node));
    } else {
      nodes_.back().member |= node.member;
      nodes_.back().below = nodes_.back().below.united(node.below);
    }
  }
}

Result<FieldSet> FieldSet::parse(const Json& fields_v1) {
  Result<Parsed> parsed = parse_level(fields_v1);
  if (!parsed) return fail(std::move(parsed).error().in("fieldsV1 cannot be read"));
  return std::move(parsed->below);
}

Json FieldSet::dump() const {
  Json::Object out;
  for (const Node& node : nodes_) {
    Json below = node.below.dump();
    if (node.member && !node.below.empty()) {
      Json::Object with_self;
      with_self.append(".", Json::Object());
      for (Json::Member& member : *below.if_object()) with_self.append(std::move(member.key), std::move(member.value));
      below = std::move(with_self);
    }
    out.append(node.element.dump(), std::move(below));
  }
  return out;
}

void FieldSet::insert(std::span<const PathElement> path) {
  FieldSet* set = this;
  for (size_t i = 0; i < path.size(); ++i) {
    Node& node = set->at(path[i]);
    if (i + 1 == path.size()) node.member = true;
    set = &node.below;
  }
}

bool FieldSet::has(std::span<const PathElement> path) const {
  const FieldSet* set = this;
  for (size_t i = 0; i + 1 < path.size(); ++i) set = &set->below(path[i]);
  return !path.empty() && set->has(path.back());
}

bool FieldSet::has(const PathElement& element) const {
  const Node* node = find(element);
  return node && node->member;
}

size_t FieldSet::size() const {
  size_t count = 0;
  for (const Node& node : nodes_) count += size_t(node.member) + node.below.size();
  return count;
}

const FieldSet::Node* FieldSet::find(const PathElement& element) const {
  auto place = std::lower_bound(nodes_.begin(), nodes_.end(), element, before);
  return place != nodes_.end() && place->element == element ? &*place : nullptr;
}

const FieldSet& FieldSet::below(const PathElement& element) const {
  const Node* node = find(element);
  return node ? node->below : kEmpty;
}

FieldSet::Node& FieldSet::at(const PathElement& element) {
  auto place = std::lower_bound(nodes_.begin(), nodes_.end(), element, before);
  if (place == nodes_.end() || place->element != element) place = nodes_.insert(place, Node{element, false, {}});
  return *place;
}

void FieldSet::append(Node node) { nodes_.push_back(std::move(node)); }

FieldSet FieldSet::united(const FieldSet& other) const {
  FieldSet out;
  zip(nodes_, other.nodes_, [&](const Node* left, const Node* right) {
    if (!left || !right) out.append(left ? *left : *right);
    else out.append({left->element, left->member || right->member, left->below.united(right->below)});
  });
  return out;
}

FieldSet FieldSet::intersected(const FieldSet& other) const {
  FieldSet out;
  zip(nodes_, other.nodes_, [&](const Node* left, const Node* right) {
    if (!left || !right) return;
    Node node{left->element, left->member && right->member, left->below.intersected(right->below)};
    if (node.member || !node.below.empty()) out.append(std::move(node));
  });
  return out;
}

FieldSet FieldSet::without(const FieldSet& other) const {
  FieldSet out;
  zip(nodes_, other.nodes_, [&](const Node* left, const Node* right) {
    if (!left) return;
    if (!right) return out.append(*left);
    Node node{left->element, left->member && !right->member, left->below.without(right->below)};
    if (node.member || !node.below.empty()) out.append(std::move(node));
  });
  return out;
}

FieldSet FieldSet::without_trees(const FieldSet& other) const {
  FieldSet out;
  zip(nodes_, other.nodes_, [&](const Node* left, const Node* right) {
    if (!left || (right && right->member)) return;
    if (!right) return out.append(*left);
    Node node{left->element, left->member, left->below.without_trees(right->below)};
    if (node.member || !node.below.empty()) out.append(std::move(node));
  });
  return out;
}

void FieldSet::for_each(const std::function<void(const Path&)>& visit) const {
  Path path;
  for_each(path, visit);
}

void FieldSet::for_each(Path& path, const std::function<void(const Path&)>& visit) const {
  for (const Node& node : nodes_) {
    if (!node.member) continue;
    path.push_back(node.element);
    visit(path);
    path.pop_back();
  }
  for (const Node& node : nodes_) {
    if (node.below.empty()) continue;
    path.push_back(node.element);
    node.below.for_each(path, visit);
    path.pop_back();
  }
}

bool FieldSet::operator==(const FieldSet& other) const { return nodes_ == other.nodes_; }

}  // namespace fairlead::fields
