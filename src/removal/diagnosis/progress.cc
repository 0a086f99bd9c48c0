#include "removal/diagnosis/progress.h"

#include <charconv>

#include "object/condition.h"

namespace fairlead::removal {
namespace {

constexpr std::string_view kHas = " has ";
constexpr std::string_view kInstances = " resource instances";

}  // namespace

// The message is: "Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 3
// resource instances"
std::vector<RemainingKind> remaining_in(const Json& ns) {
  std::vector<RemainingKind> kinds;
  const Json& condition = object::condition(ns, "NamespaceContentRemaining");
  if (!object::has_status(condition, "True")) return kinds;
  std::string_view text = condition["message"].string_or("");
  if (size_t colon = text.find(": "); colon != std::string_view::npos) text.remove_prefix(colon + 2);
  while (!text.empty() && kinds.size() < 1000) {
    size_t comma = text.find(", ");
    std::string_view one = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
    size_t has = one.find(kHas);
    if (has == std::string_view::npos || !one.ends_with(kInstances)) continue;
    std::string_view name = one.substr(0, has);
    std::string_view number = one.substr(has + kHas.size());
    RemainingKind kind;
    size_t dot = name.find('.');
    kind.resource = name.substr(0, dot);
    if (dot != std::string_view::npos) kind.group = name.substr(dot + 1);
    std::from_chars(number.data(), number.data() + number.size(), kind.count);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

Progress progress_of(const Json& object) {
  const Json& metadata = object["metadata"];
  Progress progress;
  progress.terminating = metadata.contains("deletionTimestamp");
  progress.finalizers = metadata["finalizers"].items().size() + object["spec"]["finalizers"].items().size();
  bool is_namespace = object["kind"].string_or("") == "Namespace";
  if (is_namespace && progress.terminating) {
    uint64_t all = 0;
    for (const RemainingKind& kind : remaining_in(object)) all += kind.count;
    if (!object::condition(object, "NamespaceContentRemaining").is_null()) progress.remaining = all;
  }
  for (const Json& condition : object["status"]["conditions"].items())
    progress.conditions += fmt::format("{}={} ({}) ", condition["type"].string_or(""),
                                       condition["status"].string_or(""), condition["reason"].string_or(""));
  return progress;
}

bool Progress::is_beyond(const Progress& before) const {
  if (terminating && !before.terminating) return true;
  if (finalizers < before.finalizers) return true;
  if (remaining && (!before.remaining || *remaining < *before.remaining)) return true;
  return conditions != before.conditions;
}

}  // namespace fairlead::removal
