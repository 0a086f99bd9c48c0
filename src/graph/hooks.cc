#include "graph/hooks.h"

#include <algorithm>

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {
namespace {

constexpr std::string_view kDeletePolicy = "helm.sh/hook-delete-policy";

bool has_word(std::string_view list, std::initializer_list<std::string_view> wanted) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    if (std::ranges::find(wanted, trim(list.substr(0, comma))) != wanted.end()) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

std::optional<Hook> read_hook(const Json& annotations, std::optional<bool> was_there) {
  std::string_view events = annotations[kHookAnnotation].string_or("");
  // Objects with other words in this annotation are treated as ordinary objects.
  bool is_hook =
      has_word(events, {"pre-install", "post-install", "pre-upgrade", "post-upgrade", "pre-delete", "post-delete",
                        "pre-rollback", "post-rollback", "test", "test-success", "test-failure"});
  if (!is_hook) return std::nullopt;
  bool installs = !was_there.value_or(false);
  bool upgrades = was_there.value_or(true);
  auto runs = [&](std::string_view install, std::string_view upgrade) {
    return (installs && has_word(events, {install})) || (upgrades && has_word(events, {upgrade}));
  };
  std::string_view policy = annotations[kDeletePolicy].string_or("");
  bool is_said = has_word(policy, {"before-hook-creation"});
  return Hook{.before = runs("pre-install", "pre-upgrade"),
              .after = runs("post-install", "post-upgrade"),
              .delete_before = trim(policy).empty() || is_said,
              .delete_before_is_said = is_said,
              .delete_succeeded = has_word(policy, {"hook-succeeded"}),
              .delete_failed = has_word(policy, {"hook-failed"})};
}

bool is_hook_for(const Json& annotations, std::string_view event) {
  return has_word(annotations[kHookAnnotation].string_or(""), {event});
}

bool is_delete_hook(const Json& annotations) {
  return is_hook_for(annotations, "pre-delete") || is_hook_for(annotations, "post-delete");
}

}  // namespace fairlead::graph
