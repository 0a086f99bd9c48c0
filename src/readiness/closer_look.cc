#include "readiness/closer_look.h"

#include <algorithm>

#include "base/timestamp.h"
#include "kube/pod_log.h"
#include "object/selector.h"
#include "readiness/failed_container.h"

namespace fairlead::readiness {
namespace {

using journal::Finding;

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

std::string text_of(const Json& event) {
  std::string text =
      fmt::format("{}: {}", event["reason"].string_or("Warning"), event["message"].string_or("")).substr(0, kLineBytes);
  std::ranges::replace(text, '\n', ' ');
  int64_t times = std::max(event["count"].int_or(1), event["series"]["count"].int_or(1));
  return times > 1 ? fmt::format("{} ({} times)", text, times) : text;
}

// Looks at one object.
class Look {
 public:
  Look(kube::Client& client, LookedAt what) : client_(client), what_(std::move(what)) {}

  Task<std::vector<Finding>> all() {
    std::vector<Finding> findings;
    std::optional<FailedContainer> failed = co_await container();
    if (failed) co_await add_log(*failed, findings);
    std::vector<std::string> warnings = co_await warnings_of(what_.object["metadata"]["uid"].string_or(""));
    if (failed)
      for (std::string& warning : co_await warnings_of(failed->uid)) warnings.push_back(std::move(warning));
    std::vector<std::string> once;
    for (std::string& warning : warnings)
      if (std::ranges::find(once, warning) == once.end() && once.size() < kWarnings) once.push_back(std::move(warning));
    if (!once.empty()) findings.push_back({.kind = "events", .about = what_.key.text(), .lines = std::move(once)});
    co_return findings;
  }

 private:
  Task<std::optional<FailedContainer>> container() {
    const Json& selector = what_.object["spec"]["selector"];
    bool is_pod = what_.key.kind == "Pod";
    bool is_map = what_.key.kind == "ReplicationController" || what_.key.kind == "Service";
    Result<object::Selector> labels =
        is_map ? object::Selector::from_service(selector) : object::Selector::from_json(selector);
    if (!is_pod && (!labels || labels->text().empty())) co_return std::nullopt;
    kube::ListOptions options{.ns = what_.key.ns, .label_selector = is_pod ? "" : labels->text(), .page = kMostPods};
    if (is_pod) options.field_selector = "metadata.name=" + what_.key.name;
    kube::Outcome<kube::List> pods = co_await client_.list(core_resource("Pod", "pods"), std::move(options));
    if (!pods) co_return std::nullopt;
    Objects all;
    for (const Json& pod : pods->items) all.push_back(&pod);
    co_return failed_container(what_.object, all);
  }

  Task<void> add_log(const FailedContainer& failed, std::vector<Finding>& findings) {
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
    if (uid.empty()) co_return std::vector<std::string>();
    // The Events of an object without a namespace are in this one.
    std::string ns = what_.key.ns.empty() ? "default" : what_.key.ns;
    kube::Outcome<kube::List> events = co_await client_.list(
        core_resource("Event", "events"),
        {.ns = std::move(ns), .field_selector = fmt::format("involvedObject.uid={},type=Warning", uid)});
    co_return events ? warnings_in(events->items, what_.since) : std::vector<std::string>();
  }

  kube::Client& client_;
  LookedAt what_;
};

}  // namespace

std::optional<WallTime> event_time(const Json& event) {
  for (const Json* time : {&event["series"]["lastObservedTime"], &event["lastTimestamp"], &event["eventTime"],
                           &event["metadata"]["creationTimestamp"]})
    if (std::optional<WallTime> parsed = parse_timestamp(time->string_or(""))) return parsed;
  return std::nullopt;
}

std::vector<std::string> last_lines(std::string_view log) {
  std::vector<std::string> lines;
  kube::LogLines reader(kLineBytes);
  auto sink = [&](std::string_view line) { lines.emplace_back(line); };
  reader.feed(log, sink);
  reader.finish(sink);
  if (lines.size() > size_t(kLines)) lines.erase(lines.begin(), lines.end() - kLines);
  return lines;
}

std::vector<std::string> warnings_in(const std::vector<Json>& events, WallTime since) {
  std::vector<std::pair<WallTime, const Json*>> recent;
  for (const Json& event : events) {
    std::optional<WallTime> time = event_time(event);
    bool is_recent = time && *time + kEventSlack >= since;
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

Task<std::vector<Finding>> look_closer(kube::Client& client, LookedAt what) {
  Look look(client, std::move(what));
  co_return co_await look.all();
}

}  // namespace fairlead::readiness
