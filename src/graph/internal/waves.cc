#include "graph/internal/waves.h"

#include <charconv>
#include <map>

#include "graph/hooks.h"
#include "plan/adjacency.h"

namespace fairlead::graph {
namespace {

constexpr std::string_view kHookWeight = "helm.sh/hook-weight";
constexpr std::string_view kWave = "argocd.argoproj.io/sync-wave";
constexpr std::string_view kArgoHook = "argocd.argoproj.io/hook";

// One number per node, or per object.
using Numbers = plan::IdVector<NodeId, uint32_t>;

enum class Phase : uint8_t { before, main, after };

struct WavePlace {
  Phase phase = Phase::main;
  int number = 0;
  auto operator<=>(const WavePlace&) const = default;

  std::string text() const {
    switch (phase) {
      case Phase::before: return fmt::format("the pre-install hooks of weight {}", number);
      case Phase::main: return fmt::format("wave {}", number);
      case Phase::after: return fmt::format("the post-install hooks of weight {}", number);
    }
    return {};
  }
};

class Steps {
 public:
  explicit Steps(GraphBuilder& builder) : builder_(builder) {}

  void run() {
    std::map<WavePlace, std::vector<NodeId>> places;
    for (NodeId i : builder_.objects()) {
      note_hooks(i);
      if (builder_.contents->left_out[i]) continue;
      if (std::optional<WavePlace> place = place_of(i)) places[*place].push_back(i);
    }
    builder_.step_of = Numbers(builder_.object_count(), kNone);
    if (places.size() < 2) return;
    for (const auto& [place, objects] : places) {
      for (NodeId object : objects) builder_.step_of[object] = static_cast<uint32_t>(builder_.steps.size());
      bool is_one = place.phase == Phase::main;
      builder_.steps.push_back(
          {.text = place.text(), .reason = fmt::format("{} {} first", place.text(), is_one ? "comes" : "come")});
    }
  }

 private:
  std::optional<WavePlace> place_of(NodeId object) {
    const Json& annotations = builder_.annotations(object);
    std::optional<Hook> hook = read_hook(annotations, builder_.options.was_there);
    WavePlace place;
    if (hook && hook->before) place.phase = Phase::before;
    else if (hook && hook->after) place.phase = Phase::after;
    const Json& wave = annotations[kWave];
    if (wave.is_string()) place.number = number(object, kWave, wave.string_or(""));
    else if (place.phase != Phase::main)
      place.number = number(object, kHookWeight, annotations[kHookWeight].string_or(""));
    else if (is_free(builder_.family(object))) return std::nullopt;
    return place;
  }

  static bool is_free(Family family) { return family == Family::name_space || family == Family::definition; }

  int number(NodeId object, std::string_view annotation, std::string_view text) {
    text = trim(text);
    if (text.empty()) return 0;
    int value = 0;
    std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size()) return value;
    builder_.contents->add_problem(
        Severity::error,
        Error(ErrorKind::invalid, fmt::format("{} has an invalid {}", builder_.key(object).text(), annotation))
            .because(fmt::format("\"{}\" is not a whole number between -2147483648 and 2147483647", text))
            .at(builder_.position(object)),
        object);
    return 0;
  }

  void note_hooks(NodeId object) {
    const Json& annotations = builder_.annotations(object);
    std::string_view argo_hook = annotations[kArgoHook].string_or("");
    std::string what;
    if (builder_.contents->left_out[object]) {
      what = fmt::format("{} is skipped: it is a Helm hook for {}{}", builder_.key(object).text(),
                         annotations[kHookAnnotation].string_or(""), which_run(annotations));
    } else if (!argo_hook.empty()) {
      what = fmt::format("{} is applied with the others, although it is an Argo CD hook for {}",
                         builder_.key(object).text(), argo_hook);
    } else {
      return;
    }
    builder_.contents->add_problem(Severity::note,
                                   Error(ErrorKind::invalid, std::move(what)).at(builder_.position(object)), object);
  }

  // Explains why a hook is left out, if it would run in the other kind of run (installation or upgrade).
  std::string_view which_run(const Json& annotations) const {
    if (!builder_.options.was_there) return "";
    std::optional<Hook> hook = read_hook(annotations, !*builder_.options.was_there);
    if (!hook || hook->is_left_out()) return "";
    return *builder_.options.was_there ? ", and the bundle is already installed"
                                       : ", and this is the first installation of the bundle";
  }

  GraphBuilder& builder_;
};

class Waves {
 public:
  explicit Waves(GraphBuilder& builder) : builder_(builder), needers_(builder.contents->nodes.size()) {
    for (const Edge& edge : builder_.edges)
      if (edge.hard) needers_.count(edge.to);
    needers_.lay_out();
    for (const Edge& edge : builder_.edges)
      if (edge.hard) needers_.add(edge.to, edge.from);
  }

  void run() {
    Numbers behind = behind_guards();
    std::vector<std::vector<NodeId>> parts(builder_.steps.size());
    for (NodeId i : builder_.objects())
      if (builder_.step_of[i] != kNone) parts[std::max(builder_.step_of[i] + 1, behind[i]) - 1].push_back(i);
    std::vector<NodeId> nodes;
    for (uint32_t step = 0; step + 1 < builder_.steps.size(); ++step) {
      nodes.push_back(builder_.add_named(Node::Kind::wave, builder_.steps[step].text));
      for (NodeId object : parts[step]) builder_.need(nodes[step], object, Level::ready, true, "a part of it");
    }
    for (NodeId i : builder_.objects()) {
      uint32_t step = builder_.step_of[i];
      if (step != kNone && step > 0)
        builder_.need(i, nodes[step - 1], Level::ready, true, builder_.steps[step - 1].reason);
    }
    // If all objects of a step moved to later steps, the step still needs the step before it.
    for (uint32_t step = 1; step < nodes.size(); ++step)
      if (parts[step].empty())
        builder_.need(nodes[step], nodes[step - 1], Level::ready, true, builder_.steps[step - 1].reason);
  }

 private:
  // Raises the number of every node to the largest one among the nodes that it needs, directly or not. There are few
  // distinct numbers, so this ends soon.
  void spread(Numbers& numbers) const {
    std::vector<NodeId> open;
    for (NodeId node : numbers.ids())
      if (numbers[node] != 0) open.push_back(node);
    while (!open.empty()) {
      NodeId node = open.back();
      open.pop_back();
      for (NodeId needer : needers_.from(node)) {
        if (numbers[needer] >= numbers[node]) continue;
        numbers[needer] = numbers[node];
        open.push_back(needer);
      }
    }
  }

  // Returns for every node the last step, counted from 1, of the objects behind the guards that it waits for. The
  // result is 0 if there are none.
  Numbers behind_guards() const {
    Numbers steps(builder_.contents->nodes.size());
    for (NodeId i : builder_.objects())
      if (builder_.step_of[i] != kNone) steps[i] = builder_.step_of[i] + 1;
    spread(steps);
    Numbers behind(steps.size());
    const plan::IdVector<GuardId, Guard>& guards = builder_.contents->guards;
    for (GuardId g : guards.ids()) {
      uint32_t last = steps[builder_.guard_node(g)];
      behind[builder_.guard_node(g)] = last;
      // The configuration is ready only once it has its certificate.
      if (guards[g].object) behind[*guards[g].object] = std::max(behind[*guards[g].object], last);
    }
    spread(behind);
    return behind;
  }

  GraphBuilder& builder_;
  plan::Adjacency<NodeId> needers_;  // from each node to those that need it, by hard needs
};

}  // namespace

void find_steps(GraphBuilder& builder) { Steps(builder).run(); }

void add_waves(GraphBuilder& builder) {
  if (!builder.steps.empty()) Waves(builder).run();
}

}  // namespace fairlead::graph
