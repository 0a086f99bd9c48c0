#include "graph/internal/annotations.h"

namespace fairlead::graph {
namespace {

constexpr std::string_view kDependsOn = "config.kubernetes.io/depends-on";
constexpr std::string_view kNeeds = "fairlead.dev/needs";

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    size_t end = text.find(at, start);
    parts.push_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

class Annotated {
 public:
  explicit Annotated(GraphBuilder& builder) : builder_(builder) {}

  void run() {
    for (NodeId i : builder_.objects()) {
      if (builder_.contents->left_out[i]) continue;
      const Json& annotations = builder_.annotations(i);
      if (!annotations.is_object()) continue;
      each(annotations[kDependsOn].string_or(""), [&](std::string_view one) { add_depends_on(i, one); });
      each(annotations[kNeeds].string_or(""), [&](std::string_view one) { add_needs(i, one); });
    }
  }

 private:
  template <class Take>
  static void each(std::string_view list, Take take) {
    if (trim(list).empty()) return;
    for (std::string_view one : split(list, ',')) take(trim(one));
  }

  // Reads GROUP/namespaces/NAMESPACE/KIND/NAME or GROUP/KIND/NAME, the format of cli-utils. The core group is empty.
  void add_depends_on(NodeId object, std::string_view text) {
    std::vector<std::string_view> parts = split(text, '/');
    object::Key key;
    if (parts.size() == 5 && parts[1] == "namespaces" && !parts[2].empty()) {
      key = {std::string(parts[0]), std::string(parts[3]), std::string(parts[2]), std::string(parts[4])};
    } else if (parts.size() == 3) {
      key = {std::string(parts[0]), std::string(parts[1]), {}, std::string(parts[2])};
    }
    if (key.kind.empty() || key.name.empty())
      return refuse(object, kDependsOn,
                    fmt::format("\"{}\" is neither GROUP/KIND/NAME nor GROUP/namespaces/NAMESPACE/KIND/NAME", text));
    NodeId target = builder_.find(view(key));
    add(object, target == kNoNode ? builder_.outside(std::move(key)) : target, kDependsOn);
  }

  void add_needs(NodeId object, std::string_view text) {
    std::vector<std::string_view> parts = split(text, '/');
    bool has_all = (parts.size() == 2 || parts.size() == 3) && std::ranges::none_of(parts, &std::string_view::empty);
    if (!has_all)
      return refuse(object, kNeeds,
                    fmt::format("\"{}\" is neither KIND[.GROUP]/NAME nor KIND[.GROUP]/NAMESPACE/NAME", text));
    size_t dot = parts[0].find('.');
    std::string_view kind = parts[0].substr(0, dot);
    std::optional<std::string_view> group;
    if (dot != std::string_view::npos) group = parts[0].substr(dot + 1);
    std::string_view own = builder_.key(object).ns;
    std::string_view ns = parts.size() == 3 ? parts[1] : own.empty() ? builder_.options.default_namespace : own;
    NodeId target = find(kind, group, parts.size() == 3, ns, parts.back());
    if (target != kNoNode) return add(object, target, kNeeds);

    const BuiltIn* built_in = group ? find_built_in(*group, kind) : find_built_in(kind);
    if (!group && built_in == nullptr)
      return refuse(object, kNeeds,
                    fmt::format("\"{}\" is not in the bundle, and without its group it cannot be looked for in the "
                                "cluster: write KIND.GROUP",
                                text));
    object::Key key{.group = std::string(built_in != nullptr ? built_in->group : *group),
                    .kind = std::string(kind),
                    .ns = {},
                    .name = std::string(parts.back())};
    bool has_namespace = built_in != nullptr ? built_in->namespaced : parts.size() == 3;
    if (has_namespace) key.ns = ns;
    add(object, builder_.outside(std::move(key)), kNeeds);
  }

  // Returns the first object of the bundle that matches. A cluster-scoped object matches only if the annotation has no
  // namespace.
  NodeId find(std::string_view kind, std::optional<std::string_view> group, bool asks_namespace, std::string_view ns,
              std::string_view name) {
    index();
    std::string kind_key = lower(kind);
    auto found = by_name_.find({.group = {}, .kind = kind_key, .ns = {}, .name = name});
    if (found == by_name_.end()) return kNoNode;
    for (NodeId candidate : found->second) {
      const object::Key& key = builder_.key(candidate);
      bool group_fits = !group || *group == key.group;
      if (group_fits && (key.ns == ns || (key.ns.empty() && !asks_namespace))) return candidate;
    }
    return kNoNode;
  }

  void index() {
    if (!by_name_.empty()) return;
    lower_kinds_.reserve(builder_.kinds.size());
    for (uint32_t k = 0; k < builder_.kinds.size(); ++k) lower_kinds_.push_back(lower(builder_.kinds[k].kind.kind));
    for (NodeId i : builder_.objects()) {
      if (builder_.contents->left_out[i]) continue;
      by_name_[{.group = {}, .kind = lower_kinds_[builder_.kind_of[i]], .ns = {}, .name = builder_.key(i).name}]
          .push_back(i);
    }
  }

  void add(NodeId object, NodeId target, std::string_view annotation) {
    if (target != object) return builder_.need(object, target, Level::ready, true, annotation);
    refuse(object, annotation, "it names the object itself");
  }

  void refuse(NodeId object, std::string_view annotation, std::string why) {
    builder_.contents->add_problem(
        Severity::error,
        Error(ErrorKind::invalid, fmt::format("{} cannot be used on {}", annotation, builder_.key(object).text()))
            .because(std::move(why))
            .at(builder_.position(object)),
        object);
  }

  GraphBuilder& builder_;
  std::vector<std::string> lower_kinds_;
  std::unordered_map<KeyView, std::vector<NodeId>, KeyView::Hash> by_name_;
};

}  // namespace

void add_annotated(GraphBuilder& builder) { Annotated(builder).run(); }

}  // namespace fairlead::graph
