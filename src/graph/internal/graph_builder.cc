#include "graph/internal/graph_builder.h"

#include "graph/hooks.h"
#include "object/placement.h"

namespace fairlead::graph {

size_t KeyView::Hash::operator()(const KeyView& key) const noexcept {
  size_t seed = 0;
  for (std::string_view part : {key.name, key.ns, key.kind, key.group})
    seed = seed * 0x9e3779b97f4a7c15u + std::hash<std::string_view>()(part);
  return seed;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trim(std::string_view text) {
  size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r\n") - start + 1);
}

uint32_t MatchSets::add(const std::vector<GuardMatch>& matches) {
  if (matches.empty()) return 0;
  std::string id;
  for (const GuardMatch& match : matches) {
    for (uint32_t shift = 0; shift < 32; shift += 8) id += static_cast<char>(match.guard.index() >> shift & 0xff);
    id += static_cast<char>(static_cast<int>(match.certainty) * 2 + (match.by_pods ? 1 : 0));
  }
  auto [entry, is_new] = numbers_.try_emplace(std::move(id), static_cast<uint32_t>(contents_.match_starts.size() - 1));
  if (is_new) {
    contents_.matches.insert(contents_.matches.end(), matches.begin(), matches.end());
    contents_.match_starts.push_back(static_cast<uint32_t>(contents_.matches.size()));
  }
  return entry->second;
}

GraphBuilder::GraphBuilder(const manifest::Bundle& from, const ClusterState& state, const Options& chosen)
    : bundle(from), cluster(state), options(chosen), kinds(from, state) {
  read_objects();
  index_objects();
  for (const Json& ns : cluster.namespaces) live_namespaces_.emplace(ns["metadata"]["name"].string_or(""), &ns);
}

void GraphBuilder::read_objects() {
  contents->object_count = bundle.objects.size();
  contents->keys.reserve(bundle.objects.size());
  contents->nodes.reserve(bundle.objects.size() + 64);
  contents->left_out.resize(bundle.objects.size());
  contents->match_sets.resize(bundle.objects.size());
  kind_of.reserve(bundle.objects.size());
  labels_.reserve(bundle.objects.size());
  annotations_.reserve(bundle.objects.size());
  edges.reserve(bundle.objects.size() * 3);
  for (NodeId i : objects()) {
    const object::Object& object = bundle.objects[i.index()];
    kind_of.add(kinds.number_of(object.group(), object.version(), object.kind()));
    object::Key key = object.key();
    const Kind& kind = kinds[kind_of.back()];
    // If the kind is not known, the object's own namespace is used as it is.
    bool is_known =
        kind.served == Kind::Served::yes || kind.definition != nullptr || find_built_in(key.group, key.kind) != nullptr;
    if (is_known) (void)object::place(key, kind.namespaced, {.name = options.default_namespace});
    contents->keys.push_back(std::move(key));
    add_node(Node::Kind::object, i.index());
    const Json& metadata = object.metadata();
    labels_.add(&metadata["labels"]);
    annotations_.add(&metadata["annotations"]);
    std::optional<Hook> hook = read_hook(annotations(i), options.was_there);
    contents->left_out[i] = hook && hook->is_left_out();
  }
}

void GraphBuilder::index_objects() {
  by_key_.reserve(bundle.objects.size());
  for (NodeId i : objects()) {
    if (contents->left_out[i]) continue;
    auto [first, is_new] = by_key_.emplace(view(key(i)), i);
    if (!is_new) {
      contents->add_problem(Severity::error,
                            Error(ErrorKind::invalid, fmt::format("{} is in the bundle twice", key(i).text()))
                                .because(fmt::format("it is first defined at {}", position(first->second)))
                                .at(position(i))
                                .next("remove one of the two from the bundle"),
                            i);
      continue;
    }
    index_made_secret(i);
  }
}

void GraphBuilder::index_made_secret(NodeId object) {
  std::string_view name;
  switch (family(object)) {
    case Family::certificate: name = value(object)["spec"]["secretName"].string_or(""); break;
    case Family::external_secret: name = value(object)["spec"]["target"]["name"].string_or(key(object).name); break;
    case Family::sealed_secret: name = key(object).name; break;
    default: return;
  }
  if (name.empty()) return;
  secret_makers_.emplace(KeyView{.group = "", .kind = "Secret", .ns = key(object).ns, .name = name}, object);
}

NodeId GraphBuilder::find(const KeyView& key) const {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? kNoNode : found->second;
}

NodeId GraphBuilder::find_secret(std::string_view ns, std::string_view name) const {
  KeyView key{.group = "", .kind = "Secret", .ns = ns, .name = name};
  if (NodeId secret = find(key); secret != kNoNode) return secret;
  auto generator = secret_makers_.find(key);
  return generator == secret_makers_.end() ? kNoNode : generator->second;
}

std::optional<Json> GraphBuilder::namespace_labels(std::string_view ns) const {
  NodeId object = find({.group = "", .kind = "Namespace", .ns = {}, .name = ns});
  auto live = live_namespaces_.find(ns);
  if (object == kNoNode && live == live_namespaces_.end()) return std::nullopt;
  Json merged = Json::Object();
  auto add = [&](const Json& more) {
    for (const Json::Member& label : more.members()) merged.make(label.key) = label.value;
  };
  if (live != live_namespaces_.end()) add((*live->second)["metadata"]["labels"]);
  if (object != kNoNode) add(labels(object));
  merged.make(kNamespaceNameLabel) = ns;
  return merged;
}

void GraphBuilder::need(NodeId from, NodeId to, Level level, bool hard, std::string_view reason) {
  if (to == kNoNode || to == from) return;
  // Consecutive needs often have the same reason.
  if (last_reason_ == nullptr || *last_reason_ != reason) last_reason_ = &*contents->reasons.emplace(reason).first;
  edges.add({.from = from, .to = to, .reason = last_reason_, .level = level, .hard = hard});
}

NodeId GraphBuilder::add_node(Node::Kind kind, uint32_t index) {
  return contents->nodes.add({.kind = kind, .index = index});
}

NodeId GraphBuilder::add_named(Node::Kind kind, std::string name) {
  contents->names.push_back(std::move(name));
  return add_node(kind, static_cast<uint32_t>(contents->names.size() - 1));
}

NodeId GraphBuilder::outside(object::Key key) {
  auto [entry, is_new] = outsides_.try_emplace(key, kNoNode);
  if (is_new) {
    contents->outsides.push_back(std::move(key));
    entry->second = add_node(Node::Kind::outside, static_cast<uint32_t>(contents->outsides.size() - 1));
  }
  return entry->second;
}

std::string GraphBuilder::text_of(const std::vector<NodeId>& objects) const {
  std::string text = key(objects[0]).text();
  if (objects.size() == 2) text += " and one other";
  if (objects.size() > 2) text += fmt::format(" and {} others", objects.size() - 1);
  return text;
}

}  // namespace fairlead::graph
