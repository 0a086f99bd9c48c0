#include "graph/waves.h"

#include <charconv>
#include <map>

namespace fairlead::graph {
namespace {

constexpr std::string_view kHook = "helm.sh/hook";
constexpr std::string_view kHookWeight = "helm.sh/hook-weight";
constexpr std::string_view kWave = "argocd.argoproj.io/sync-wave";
constexpr std::string_view kArgoHook = "argocd.argoproj.io/hook";

enum class Phase : uint8_t { before, main, after };

struct Step {
  Phase phase = Phase::main;
  int number = 0;
  auto operator<=>(const Step&) const = default;

  std::string text() const {
    switch (phase) {
      case Phase::before: return fmt::format("the pre-install hooks of weight {}", number);
      case Phase::main: return fmt::format("wave {}", number);
      case Phase::after: return fmt::format("the post-install hooks of weight {}", number);
    }
    return {};
  }
};

bool has_event(std::string_view hook, std::initializer_list<std::string_view> wanted) {
  while (!hook.empty()) {
    size_t comma = std::min(hook.find(','), hook.size());
    if (std::ranges::find(wanted, trim(hook.substr(0, comma))) != wanted.end()) return true;
    hook.remove_prefix(std::min(comma + 1, hook.size()));
  }
  return false;
}

bool runs_before(std::string_view hook) { return has_event(hook, {"pre-install", "pre-upgrade"}); }
bool runs_after(std::string_view hook) { return has_event(hook, {"post-install", "post-upgrade"}); }

class Waves {
 public:
  explicit Waves(Draft& draft) : draft_(draft) {}

  void run() {
    for (uint32_t i = 0; i < draft_.object_count(); ++i) {
      note_hooks(i);
      if (draft_.contents->left_out[i]) continue;
      if (std::optional<Step> step = step_of(i)) steps_[*step].push_back(i);
    }
    if (steps_.size() > 1) chain();
  }

 private:
  std::optional<Step> step_of(uint32_t object) {
    const Json& annotations = draft_.annotations(object);
    std::string_view hook = annotations[kHook].string_or("");
    Step step;
    if (runs_before(hook)) step.phase = Phase::before;
    else if (runs_after(hook)) step.phase = Phase::after;
    const Json& wave = annotations[kWave];
    if (wave.is_string()) step.number = number(object, kWave, wave.string_or(""));
    else if (step.phase != Phase::main)
      step.number = number(object, kHookWeight, annotations[kHookWeight].string_or(""));
    else if (is_free(draft_.family(object))) return std::nullopt;
    return step;
  }

  static bool is_free(Family family) { return family == Family::name_space || family == Family::definition; }

  int number(uint32_t object, std::string_view annotation, std::string_view text) {
    text = trim(text);
    if (text.empty()) return 0;
    int value = 0;
    std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size()) return value;
    draft_.contents->add_problem(
        Severity::error,
        Error(ErrorKind::invalid, fmt::format("{} has no number as {}", draft_.key(object).text(), annotation))
            .because(fmt::format("\"{}\" is not a whole number between -2147483648 and 2147483647", text))
            .at(draft_.position(object)),
        object);
    return 0;
  }

  void note_hooks(uint32_t object) {
    const Json& annotations = draft_.annotations(object);
    std::string_view argo_hook = annotations[kArgoHook].string_or("");
    std::string what;
    if (draft_.contents->left_out[object]) {
      what = fmt::format("{} is left out: it is a hook of Helm for {}", draft_.key(object).text(),
                         annotations[kHook].string_or(""));
    } else if (!argo_hook.empty()) {
      what = fmt::format("{} is applied with the others, though it is a hook of Argo CD for {}",
                         draft_.key(object).text(), argo_hook);
    } else {
      return;
    }
    draft_.contents->add_problem(Severity::note, Error(ErrorKind::invalid, std::move(what)).at(draft_.position(object)),
                                 object);
  }

  void chain() {
    uint32_t before = kNone;
    std::string reason;
    for (const auto& [step, objects] : steps_) {
      for (uint32_t object : objects) draft_.need(object, before, Level::ready, true, reason);
      if (step == steps_.rbegin()->first) break;
      before = draft_.add_named(Node::Kind::wave, step.text());
      for (uint32_t object : objects) draft_.need(before, object, Level::ready, true, "a part of it");
      reason = fmt::format("{} {} first", step.text(), step.phase == Phase::main ? "comes" : "come");
    }
  }

  Draft& draft_;
  std::map<Step, std::vector<uint32_t>> steps_;
};

}  // namespace

bool is_hook_without_install(const Json& annotations) {
  std::string_view hook = annotations[kHook].string_or("");
  if (hook.empty() || runs_before(hook) || runs_after(hook)) return false;
  return has_event(
      hook, {"test", "test-success", "test-failure", "pre-delete", "post-delete", "pre-rollback", "post-rollback"});
}

void add_waves(Draft& draft) { Waves(draft).run(); }

}  // namespace fairlead::graph
