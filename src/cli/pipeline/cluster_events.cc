#include "cli/pipeline/cluster_events.h"

#include <unistd.h>

#include <algorithm>

#include "async/scope.h"
#include "inventory/holder.h"

namespace fairlead::cli {
namespace {

constexpr Duration kTime = std::chrono::seconds(5);
constexpr size_t kMostWaiting = 100;
// The limits of the API server.
constexpr size_t kLongestReason = 128;
constexpr size_t kLongestMessage = 1024;

const object::Resource& events() {
  static const object::Resource kEvents{
      .group = "", .version = "v1", .kind = "Event", .plural = "events", .namespaced = true};
  return kEvents;
}

std::string cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  // Not within a character.
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// A name of an object has small letters, digits, dashes and dots.
std::string as_object_name(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    if (c >= 'A' && c <= 'Z') return char(c - 'A' + 'a');
    return c == '_' || c == '.' ? '-' : c;
  });
  while (name.ends_with('-')) name.pop_back();
  return name;
}

}  // namespace

Json event_object(const pipeline::Event& event, const std::string& pipeline, const std::string& ns,
                  const std::string& name) {
  // The message of a step that has started is the step.
  bool names_step = !event.step.empty() && event.message != event.step;
  std::string message = fmt::format("phase {}: {}{}", event.phase, names_step ? event.step + ": " : "", event.message);
  return Json::Object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", Json::Object{{"name", name}, {"namespace", ns}}},
      // No such object exists: events are found by its kind and name.
      {"involvedObject",
       Json::Object{{"apiVersion", "fairlead.dev/v1"}, {"kind", "Pipeline"}, {"name", pipeline}, {"namespace", ns}}},
      {"reason", cut(event.name, kLongestReason)},
      {"message", cut(std::move(message), kLongestMessage)},
      {"type", event.is_problem() ? "Warning" : "Normal"},
      {"source", Json::Object{{"component", "fairlead"}}},
      {"firstTimestamp", event.time},
      {"lastTimestamp", event.time},
      {"count", 1}};
}

ClusterEvents::ClusterEvents(RealLoop& loop, std::string pipeline, Globals globals)
    : loop_(loop),
      pipeline_(std::move(pipeline)),
      globals_(std::move(globals)),
      run_(inventory::run_of(::getpid())),
      journal_(loop.clock()) {}

ClusterEvents::~ClusterEvents() = default;

Task<Result<void>> ClusterEvents::write(pipeline::Event event) {
  if (has_failed_) co_return Result<void>();
  waiting_.push_back(std::move(event));
  if (waiting_.size() > kMostWaiting) waiting_.pop_front();
  Result<void> written =
      co_await with_deadline(loop_, loop_.now() + kTime, "the API server did not answer in time", write_waiting());
  has_failed_ = !written;
  co_return written;
}

Task<Result<void>> ClusterEvents::write_waiting() {
  if (!cluster_) {
    CO_TRY_ASSIGN(cluster_, Cluster::connect(loop_, globals_, journal_));
  }
  std::string ns = cluster_->default_namespace();
  while (!waiting_.empty()) {
    std::string name =
        fmt::format("{}-{}.{}-{}", as_object_name(pipeline_), as_object_name(waiting_.front().phase), run_, ++written_);
    Json object = event_object(waiting_.front(), pipeline_, ns, name);
    auto created = co_await cluster_->client().create(events(), ns, object);
    bool has_no_namespace = !created && created.error().is(kube::FaultKind::namespace_missing);
    if (has_no_namespace) co_return Result<void>();
    if (!created) co_return fail(created.error().error());
    waiting_.pop_front();
  }
  co_return Result<void>();
}

Task<void> ClusterEvents::close() {
  if (cluster_) co_await cluster_->close();
}

}  // namespace fairlead::cli
