#include "logs/run_logs.h"

#include <algorithm>

namespace fairlead::logs {
namespace {

using journal::Event;
using journal::EventKind;

// Bounds for a run in which everything goes wrong.
constexpr size_t kMostWorkloads = 20;
constexpr size_t kMostLines = 200;
constexpr Duration kLookAgain = std::chrono::seconds(1);

}  // namespace

void RunLogs::read(const Event& event) {
  if (event.kind == EventKind::ready || event.kind == EventKind::failed) {
    if (auto found = followed_.find(event.key); found != followed_.end()) found->second->cancel.cancel();
    return;
  }
  bool is_awaited = event.kind == EventKind::progress && has_pods(event.key);
  if (!is_awaited || followed_.contains(event.key) || followed_.size() >= kMostWorkloads) return;
  auto followed = std::make_shared<Followed>();
  followed_.emplace(event.key, followed);
  work_.spawn(follow(event.key, followed));
}

Task<void> RunLogs::close() {
  work_.cancel();
  for (auto& [key, followed] : followed_) followed->cancel.cancel();
  co_await work_.join();
}

Task<std::optional<Source>> RunLogs::next_source(const object::Resource& resource, const object::Key& key) {
  kube::Outcome<kube::Reply> workload = co_await client_.get(resource, key.ns, key.name);
  if (!workload) co_return std::nullopt;
  kube::Outcome<std::vector<Json>> pods = co_await pods_of(client_, workload->value);
  if (!pods) co_return std::nullopt;
  for (const Json& pod : *pods)
    if (std::optional<Source> source = unready_source_of(pod)) co_return source;
  co_return std::nullopt;
}

Task<void> RunLogs::follow(object::Key key, std::shared_ptr<Followed> followed) {
  kube::Outcome<std::optional<object::Resource>> resource = co_await discovery_.find(key.group, "v1", key.kind);
  if (!resource || !*resource) co_return;
  std::optional<Source> last;
  while (!followed->cancel.cancelled() && followed->lines <= kMostLines) {
    std::optional<Source> source = co_await next_source(**resource, key).governed_by(&followed->cancel);
    // Each instance of a container is read once.
    if (source && source != last) {
      last = source;
      auto sink = [&](const Source& from, std::string_view line) { take(key, *followed, from, line); };
      (void)co_await read_lines(client_, *source, true, std::nullopt, sink).governed_by(&followed->cancel);
    }
    if (!co_await sleep_for(client_.loop(), kLookAgain).governed_by(&followed->cancel)) co_return;
  }
}

void RunLogs::take(const object::Key& key, Followed& followed, const Source& source, std::string_view line) {
  if (followed.cancel.cancelled() || followed.lines > kMostLines || !filter_.matches(line)) return;
  if (followed.lines++ < kMostLines) {
    tell(key, source, std::string(line));
    return;
  }
  tell(key, source,
       fmt::format("… and more lines: kubectl -n {} logs {} -c {}", source.ns, source.pod, source.container));
  followed.cancel.cancel();
}

void RunLogs::tell(const object::Key& key, const Source& source, std::string text) {
  journal_.add({.kind = EventKind::log,
                .key = key,
                .text = std::move(text),
                .details = Json(Json::Object{{"pod", source.pod}, {"container", source.container}})});
}

}  // namespace fairlead::logs
