#include "rollout/internal/closer_look.h"

#include <algorithm>

#include "base/timestamp.h"
#include "kube/pod_log.h"
#include "object/selector.h"
#include "readiness/failed_container.h"
#include "rollout/guards/missing.h"
#include "rollout/guards/root_causes.h"

namespace fairlead::rollout {
namespace {

using journal::Finding;

// So many causes are looked at, of each so many objects, and all within this time.
constexpr size_t kLookedAt = 5;
constexpr size_t kObjectsPerCause = 2;
constexpr Duration kTime = std::chrono::seconds(5);
constexpr int64_t kLines = 10;
constexpr int64_t kLogBytes = 64 << 10;
constexpr size_t kLineBytes = 500;
constexpr size_t kWarnings = 3;
constexpr size_t kMostPods = 200;
// Events have times in whole seconds, and other clocks.
constexpr Duration kEventSlack = std::chrono::seconds(5);

object::Resource core_resource(std::string kind, std::string plural) {
  return {.group = "",
          .version = "v1",
          .kind = std::move(kind),
          .plural = std::move(plural),
          .singular = "",
          .namespaced = true};
}

std::optional<WallTime> time_of(const Json& event) {
  for (const Json* time : {&event["series"]["lastObservedTime"], &event["lastTimestamp"], &event["eventTime"],
                           &event["metadata"]["creationTimestamp"]})
    if (std::optional<WallTime> parsed = parse_timestamp(time->string_or(""))) return parsed;
  return std::nullopt;
}

std::string text_of(const Json& event) {
  std::string text =
      fmt::format("{}: {}", event["reason"].string_or("Warning"), event["message"].string_or("")).substr(0, kLineBytes);
  std::ranges::replace(text, '\n', ' ');
  int64_t times = std::max(event["count"].int_or(1), event["series"]["count"].int_or(1));
  return times > 1 ? fmt::format("{} ({} times)", text, times) : text;
}

// Looks at one object that is stored and not ready.
class Look {
 public:
  Look(kube::Client& client, const Run& run, NodeId node)
      : client_(client), run_(run), object_(run.object(node)), workload_(as_stored(run, node)) {}

  Task<std::vector<Finding>> all() {
    std::vector<Finding> findings;
    std::optional<readiness::FailedContainer> failed = co_await container();
    if (failed) co_await add_log(*failed, findings);
    std::vector<std::string> warnings = co_await warnings_of(workload_["metadata"]["uid"].string_or(""));
    if (failed)
      for (std::string& warning : co_await warnings_of(failed->uid)) warnings.push_back(std::move(warning));
    std::vector<std::string> once;
    for (std::string& warning : warnings)
      if (std::ranges::find(once, warning) == once.end() && once.size() < kWarnings) once.push_back(std::move(warning));
    if (!once.empty()) findings.push_back({.kind = "events", .about = object_.key().text(), .lines = std::move(once)});
    co_return findings;
  }

 private:
  Task<std::optional<readiness::FailedContainer>> container() {
    const Json& selector = workload_["spec"]["selector"];
    bool is_pod = object_.kind() == "Pod";
    Result<object::Selector> labels = object_.kind() == "ReplicationController"
                                          ? object::Selector::from_service(selector)
                                          : object::Selector::from_json(selector);
    if (!is_pod && (!labels || labels->text().empty())) co_return std::nullopt;
    kube::ListOptions options{.ns = object_.ns(), .label_selector = is_pod ? "" : labels->text(), .page = kMostPods};
    if (is_pod) options.field_selector = "metadata.name=" + object_.name();
    kube::Outcome<kube::List> pods = co_await client_.list(core_resource("Pod", "pods"), std::move(options));
    if (!pods) co_return std::nullopt;
    readiness::Objects all;
    for (const Json& pod : pods->items) all.push_back(&pod);
    co_return readiness::failed_container(workload_, all);
  }

  Task<void> add_log(const readiness::FailedContainer& failed, std::vector<Finding>& findings) {
    kube::LogOptions options{
        .container = failed.container, .previous = failed.previous, .tail_lines = kLines, .limit_bytes = kLogBytes};
    kube::Outcome<std::string> log = co_await kube::read_log(client_, failed.ns, failed.pod, options);
    if (!log || log->empty()) co_return;
    std::string ended = failed.exit_code ? fmt::format(" (exit code {})", *failed.exit_code) : "";
    findings.push_back(
        {.kind = "log",
         .about = fmt::format("container {} of pod {}/{}{}", failed.container, failed.ns, failed.pod, ended),
         .lines = last_lines(*log)});
  }

  Task<std::vector<std::string>> warnings_of(std::string_view uid) {
    if (uid.empty() || object_.ns().empty()) co_return std::vector<std::string>();
    kube::Outcome<kube::List> events = co_await client_.list(
        core_resource("Event", "events"),
        {.ns = object_.ns(), .field_selector = fmt::format("involvedObject.uid={},type=Warning", uid)});
    co_return events ? warnings_in(events->items, run_.begun_at_server()) : std::vector<std::string>();
  }

  kube::Client& client_;
  const Run& run_;
  const object::Object& object_;
  Json workload_;
};

Task<Result<void>> look_at_all(kube::Client& client, const Run& run, Ending& ending) {
  std::vector<RootCause> roots = root_causes(run);
  size_t looked_at = 0;
  for (size_t i = 0; i < std::min(roots.size(), ending.causes.size()); ++i) {
    if (roots[i].not_ready.empty() || looked_at++ >= kLookedAt) continue;
    for (size_t n = 0; n < std::min(roots[i].not_ready.size(), kObjectsPerCause); ++n) {
      std::vector<Finding> found = co_await Look(client, run, roots[i].not_ready[n]).all();
      for (Finding& finding : found) ending.causes[i].findings.push_back(std::move(finding));
    }
  }
  co_return Result<void>();
}

}  // namespace

std::vector<std::string> last_lines(std::string_view log) {
  std::vector<std::string> lines;
  kube::LogLines reader(kLineBytes);
  auto sink = [&](std::string_view line) { lines.emplace_back(line); };
  reader.feed(log, sink);
  reader.finish(sink);
  if (lines.size() > size_t(kLines)) lines.erase(lines.begin(), lines.end() - kLines);
  return lines;
}

std::vector<std::string> warnings_in(const std::vector<Json>& events, WallTime begun) {
  std::vector<std::pair<WallTime, const Json*>> recent;
  for (const Json& event : events) {
    std::optional<WallTime> time = time_of(event);
    bool is_recent = time && *time + kEventSlack >= begun;
    if (is_recent && event["type"].string_or("") == "Warning") recent.emplace_back(*time, &event);
  }
  std::ranges::sort(recent, std::greater(), [](const auto& one) { return one.first; });
  std::vector<std::string> texts;
  for (const auto& [time, event] : recent) {
    std::string text = text_of(*event);
    if (texts.size() < kWarnings && std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

Task<void> look_closer(kube::Client& client, const Run& run, Ending& ending) {
  if (run.errors().empty() || run.halt().interrupted() || run.options().dry_run) co_return;
  (void)co_await with_deadline(run.loop(), run.loop().now() + kTime, "the closer look took too long",
                               look_at_all(client, run, ending));
}

}  // namespace fairlead::rollout
