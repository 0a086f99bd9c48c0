#include "draw/picture.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace fairlead::draw {
namespace {

using Type = graph::Node::Kind;

std::string_view words_of(graph::Guard::Kind kind) {
  switch (kind) {
    case graph::Guard::Kind::validating_webhook:
    case graph::Guard::Kind::mutating_webhook: return "webhook";
    case graph::Guard::Kind::validating_policy:
    case graph::Guard::Kind::mutating_policy: return "policy";
    case graph::Guard::Kind::conversion: return "conversion";
    case graph::Guard::Kind::api_service: return "APIService";
  }
  return "guard";
}

std::string name_of(const object::Key& key) { return key.ns.empty() ? key.name : key.ns + "/" + key.name; }

Box box_of(const graph::Graph& graph, const manifest::Bundle& bundle, graph::NodeId node) {
  const graph::Node& it = graph.nodes()[node];
  Box box{.type = it.kind, .text = graph.text(node), .key = graph.key(node)};
  box.kind = box.key.kind;
  box.name = name_of(box.key);
  if (it.kind == Type::object) {
    box.source = bundle.objects[it.index].source().text();
    box.left_out = graph.is_left_out(node);
  } else if (it.kind == Type::guard) {
    const graph::Guard& guard = graph.guards()[it.guard()];
    box.kind = words_of(guard.kind);
    box.name = guard.name;
    box.in_cluster = guard.in_cluster;
    box.fails_open = guard.ignore;
  } else if (it.kind != Type::outside) {
    box.name = box.text;
  }
  return box;
}

// True for each node that is drawn: all objects, and whatever else something needs or exempts.
plan::IdVector<graph::NodeId, bool> drawn(const graph::Graph& graph) {
  plan::IdVector<graph::NodeId, bool> drawn(graph.nodes().size());
  for (graph::NodeId node : graph.nodes().ids()) {
    if (graph.nodes()[node].kind == Type::object || !graph.needs_of(node).empty()) drawn[node] = true;
    for (const graph::Need& need : graph.needs_of(node)) drawn[need.target] = true;
  }
  for (const graph::Exemption& one : graph.exemptions()) drawn[graph.node_of_guard(one.guard)] = true;
  return drawn;
}

constexpr uint32_t kNone = UINT32_MAX;

// Returns the boxes that `keep` marks, with what is between them. `first` comes first.
Picture part_of(const Picture& picture, const std::vector<bool>& keep, uint32_t first) {
  Picture part;
  std::vector<uint32_t> number(picture.boxes.size(), kNone);
  auto add = [&](uint32_t box) {
    if (!keep[box] || number[box] != kNone) return;
    number[box] = static_cast<uint32_t>(part.boxes.size());
    part.boxes.push_back(picture.boxes[box]);
  };
  add(first);
  for (uint32_t box = 0; box < picture.boxes.size(); ++box) add(box);
  for (const Arrow& arrow : picture.arrows)
    if (keep[arrow.from] && keep[arrow.to]) {
      part.arrows.push_back(arrow);
      part.arrows.back().from = number[arrow.from];
      part.arrows.back().to = number[arrow.to];
    }
  sort_arrows(part.arrows);
  for (const Exempt& one : picture.exempt)
    if (keep[one.object] && keep[one.guard])
      part.exempt.push_back({.object = number[one.object], .guard = number[one.guard], .reason = one.reason});
  return part;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

constexpr auto kShortNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"cm", "configmap"},
    {"crd", "customresourcedefinition"},
    {"cj", "cronjob"},
    {"deploy", "deployment"},
    {"ds", "daemonset"},
    {"ep", "endpoints"},
    {"hpa", "horizontalpodautoscaler"},
    {"ing", "ingress"},
    {"netpol", "networkpolicy"},
    {"ns", "namespace"},
    {"pc", "priorityclass"},
    {"pdb", "poddisruptionbudget"},
    {"po", "pod"},
    {"pv", "persistentvolume"},
    {"pvc", "persistentvolumeclaim"},
    {"quota", "resourcequota"},
    {"rc", "replicationcontroller"},
    {"rs", "replicaset"},
    {"sa", "serviceaccount"},
    {"sc", "storageclass"},
    {"sts", "statefulset"},
    {"svc", "service"},
});

// True if `asked`, which is in lower case, is a name of the kind.
bool is_kind(std::string_view asked, std::string_view kind) {
  std::string name = lower(kind);
  if (asked == name || asked == name + "s" || asked == name + "es") return true;
  if (name.ends_with("y") && asked == name.substr(0, name.size() - 1) + "ies") return true;
  auto found = std::ranges::find(kShortNames, asked, [](const auto& one) { return one.first; });
  return found != kShortNames.end() && found->second == name;
}

struct Asked {
  std::string kind;
  std::string group;
  bool has_group = false;
  std::string_view ns;
  std::string_view name;

  bool means(const object::Key& key) const {
    return is_kind(kind, key.kind) && (!has_group || lower(key.group) == group) && name == key.name &&
           (ns.empty() || ns == key.ns);
  }
};

Result<Asked> read(std::string_view what) {
  size_t first = what.find('/');
  size_t last = what.rfind('/');
  bool is_whole = first != std::string_view::npos && first > 0 && last + 1 < what.size() && last - first != 1;
  if (!is_whole || what.find('/', first + 1) != (first == last ? std::string_view::npos : last))
    return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" names no object", what))
                    .next("write it as KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web"));
  Asked asked;
  std::string_view kind = what.substr(0, first);
  size_t dot = kind.find('.');
  asked.kind = lower(kind.substr(0, dot));
  asked.has_group = dot != std::string_view::npos;
  if (asked.has_group) asked.group = lower(kind.substr(dot + 1));
  if (first != last) asked.ns = what.substr(first + 1, last - first - 1);
  asked.name = what.substr(last + 1);
  return asked;
}

Error not_found(const Picture& picture, const Asked& asked, std::string_view what) {
  std::string near;
  for (const Box& box : picture.boxes)
    if (box.type == Type::object && (box.key.name == asked.name || is_kind(asked.kind, box.key.kind)) &&
        near.size() < 200)
      near += (near.empty() ? "" : ", ") + box.text;
  Error error(ErrorKind::not_found, fmt::format("the manifests have no {}", what));
  return near.empty() ? error : std::move(error).because(fmt::format("they have {}", near));
}

}  // namespace

void sort_arrows(std::vector<Arrow>& arrows) {
  std::vector<uint32_t> order(arrows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](uint32_t arrow) { return std::pair(arrows[arrow].from, arrow); });
  std::vector<Arrow> sorted;
  sorted.reserve(arrows.size());
  for (uint32_t arrow : order) sorted.push_back(std::move(arrows[arrow]));
  arrows = std::move(sorted);
}

Picture picture_of(const graph::Graph& graph, const manifest::Bundle& bundle) {
  Picture picture;
  plan::IdVector<graph::NodeId, bool> is_drawn = drawn(graph);
  plan::IdVector<graph::NodeId, uint32_t> number(is_drawn.size(), kNone);
  for (graph::NodeId node : is_drawn.ids()) {
    if (!is_drawn[node]) continue;
    number[node] = static_cast<uint32_t>(picture.boxes.size());
    picture.boxes.push_back(box_of(graph, bundle, node));
  }
  for (graph::NodeId node : is_drawn.ids())
    for (const graph::Need& need : graph.needs_of(node))
      picture.arrows.push_back({.from = number[node],
                                .to = number[need.target],
                                .level = need.level,
                                .hard = need.hard,
                                .reason = std::string(need.reason)});
  for (const graph::Exemption& one : graph.exemptions())
    picture.exempt.push_back(
        {.object = number[one.object],
         .guard = number[graph.node_of_guard(one.guard)],
         .reason = one.precedes ? "it comes before the guard, in an earlier step" : "the guard depends on it"});
  return picture;
}

Picture part_behind(const Picture& picture, uint32_t box) {
  std::vector<std::vector<uint32_t>> needs(picture.boxes.size());
  for (const Arrow& arrow : picture.arrows) needs[arrow.from].push_back(arrow.to);
  std::vector<bool> keep(picture.boxes.size());
  std::vector<uint32_t> open = {box};
  keep[box] = true;
  while (!open.empty()) {
    uint32_t at = open.back();
    open.pop_back();
    for (uint32_t to : needs[at]) {
      if (!keep[to]) open.push_back(to);
      keep[to] = true;
    }
  }
  return part_of(picture, keep, box);
}

Result<uint32_t> find_box(const Picture& picture, std::string_view what) {
  TRY_ASSIGN(Asked asked, read(what));
  std::vector<uint32_t> found;
  for (uint32_t box = 0; box < picture.boxes.size(); ++box)
    if (picture.boxes[box].type == Type::object && asked.means(picture.boxes[box].key)) found.push_back(box);
  if (found.empty()) return fail(not_found(picture, asked, what));
  if (found.size() == 1) return found.front();
  std::string all;
  for (uint32_t box : found)
    if (all.size() < 200) all += (all.empty() ? "" : ", ") + picture.boxes[box].key.text_with_group();
  return fail(Error(ErrorKind::invalid, fmt::format("{} can mean several objects: {}", what, all))
                  .next("write it as KIND.GROUP/NAMESPACE/NAME"));
}

std::vector<uint32_t> ranks_of(const Picture& picture) {
  size_t count = picture.boxes.size();
  std::vector<uint32_t> ranks(count), open(count), free;
  std::vector<std::vector<uint32_t>> needed_by(count);
  for (const Arrow& arrow : picture.arrows) {
    ++open[arrow.from];
    needed_by[arrow.to].push_back(arrow.from);
  }
  for (uint32_t box = 0; box < count; ++box)
    if (open[box] == 0) free.push_back(box);
  uint32_t highest = 0;
  for (size_t i = 0; i < free.size(); ++i)
    for (uint32_t needer : needed_by[free[i]]) {
      ranks[needer] = std::max(ranks[needer], ranks[free[i]] + 1);
      highest = std::max(highest, ranks[needer]);
      if (--open[needer] == 0) free.push_back(needer);
    }
  for (uint32_t box = 0; box < count; ++box)
    if (open[box] > 0) ranks[box] = highest + 1;
  return ranks;
}

std::vector<uint32_t> in_order(const Picture& picture) {
  std::vector<uint32_t> order(picture.boxes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<uint32_t> ranks = ranks_of(picture);
  std::ranges::sort(order, {}, [&](uint32_t box) { return std::pair(ranks[box], box); });
  return order;
}

}  // namespace fairlead::draw
