#include "logs/logs.h"

#include <re2/re2.h>

#include <algorithm>

#include "kube/pod_log.h"
#include "object/selector.h"
#include "readiness/why.h"

namespace fairlead::logs {
namespace {

constexpr size_t kMostPods = 500;
constexpr std::string_view kLists[] = {"initContainerStatuses", "containerStatuses"};

bool has_started(const Json& status) {
  const Json& state = status["state"];
  return state["running"].is_object() || state["terminated"].is_object() ||
         status["lastState"]["terminated"].is_object();
}

Source source_of(const Json& pod, const Json& status) {
  const Json& metadata = pod["metadata"];
  return {.ns = std::string(metadata["namespace"].string_or("")),
          .pod = std::string(metadata["name"].string_or("")),
          .container = std::string(status["name"].string_or("")),
          .instance = fmt::format("{} {}", metadata["uid"].string_or(""), status["restartCount"].int_or(0))};
}

bool is_ready(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].string_or("") == "Ready") return condition["status"].string_or("") == "True";
  return false;
}

Result<object::Selector> selector_of(const Json& workload) {
  const Json& selector = workload["spec"]["selector"];
  bool is_plain = workload["kind"].string_or("") == "ReplicationController";
  return is_plain ? object::Selector::from_service(selector) : object::Selector::from_json(selector);
}

}  // namespace

Result<Filter> Filter::parse(const std::string& text) {
  Filter filter;
  if (text.empty()) return filter;
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto expression = std::make_shared<const re2::RE2>(text, options);
  if (!expression->ok())
    return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" is no regular expression", text.substr(0, 200)))
                    .because(expression->error()));
  filter.expression_ = std::move(expression);
  return filter;
}

bool Filter::matches(std::string_view line) const {
  return !expression_ || re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *expression_);
}

bool has_pods(const object::Key& key) {
  if (key.group.empty()) return key.kind == "Pod" || key.kind == "ReplicationController";
  if (key.group == "batch") return key.kind == "Job";
  return key.group == "apps" &&
         (key.kind == "Deployment" || key.kind == "StatefulSet" || key.kind == "DaemonSet" || key.kind == "ReplicaSet");
}

std::vector<Source> sources_of(const Json& pod) {
  std::vector<Source> sources;
  for (std::string_view list : kLists)
    for (const Json& status : pod["status"][list].items())
      if (has_started(status)) sources.push_back(source_of(pod, status));
  return sources;
}

std::optional<Source> unready_source_of(const Json& pod) {
  if (is_ready(pod) || pod["status"]["phase"].string_or("") == "Succeeded") return std::nullopt;
  for (std::string_view list : kLists)
    for (const Json& status : pod["status"][list].items()) {
      bool has_succeeded =
          status["state"]["terminated"].is_object() && status["state"]["terminated"]["exitCode"].int_or(0) == 0;
      if (has_started(status) && !has_succeeded && !status["ready"].bool_or(false)) return source_of(pod, status);
    }
  return std::nullopt;
}

std::string line_text(std::string_view pod, std::string_view container, std::string_view text) {
  return fmt::format("{} {} | {}", pod, container, text);
}

Task<kube::Outcome<std::vector<Json>>> pods_of(kube::Client& client, const Json& workload) {
  const object::Resource pods{
      .group = "", .version = "v1", .kind = "Pod", .plural = "pods", .singular = "pod", .namespaced = true};
  if (workload["kind"].string_or("") == "Pod") co_return std::vector<Json>{workload};
  Result<object::Selector> selector = selector_of(workload);
  if (!selector || selector->text().empty()) co_return std::vector<Json>();
  std::string ns(workload["metadata"]["namespace"].string_or(""));
  kube::Outcome<kube::List> list =
      co_await client.list(pods, {.ns = ns, .label_selector = selector->text(), .page = kMostPods});
  if (!list) co_return std::unexpected(list.error());
  std::erase_if(list->items, [&](const Json& pod) { return !readiness::belongs(pod, workload); });
  co_return std::move(list->items);
}

Task<kube::Outcome<void>> read_lines(kube::Client& client, Source source, bool follow, std::optional<int64_t> tail,
                                     Sink sink) {
  kube::LogOptions options{.container = source.container, .tail_lines = tail};
  kube::LogLines lines;
  auto pass_on = [&](std::string_view line) { sink(source, line); };
  if (!follow) {
    CO_TRY_ASSIGN(std::string log, co_await kube::read_log(client, source.ns, source.pod, options));
    lines.feed(log, pass_on);
    lines.finish(pass_on);
    co_return kube::Outcome<void>();
  }
  CO_TRY_ASSIGN(http::Answer answer, co_await kube::follow_log(client, source.ns, source.pod, options));
  while (answer.body) {
    Result<std::optional<std::string>> piece = co_await answer.body->read();
    if (!piece) co_return std::unexpected(kube::Failure(piece.error()));
    if (!*piece) break;
    lines.feed(**piece, pass_on);
  }
  lines.finish(pass_on);
  co_return kube::Outcome<void>();
}

}  // namespace fairlead::logs
