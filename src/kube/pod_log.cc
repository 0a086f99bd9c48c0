#include "kube/pod_log.h"

#include <algorithm>

#include "kube/query.h"

namespace fairlead::kube {
namespace {

// The log itself is plain text, but the API server insists on a type that it can write objects in.
constexpr std::string_view kLogTypes = "application/json, */*";

Result<Call> log_call(std::string_view ns, std::string_view pod, const LogOptions& options, bool follow) {
  static const object::Resource kPods{
      .group = "", .version = "v1", .kind = "Pod", .plural = "pods", .singular = "pod", .namespaced = true};
  TRY_ASSIGN(std::string path, kPods.path(ns, pod, "log"));
  Query query;
  query.add("container", options.container);
  query.add_if(follow, "follow", "true");
  query.add_if(options.previous, "previous", "true");
  if (options.tail_lines) query.add("tailLines", std::to_string(*options.tail_lines));
  if (options.limit_bytes) query.add("limitBytes", std::to_string(*options.limit_bytes));
  return Call{.target = query.behind(std::move(path)), .accept = std::string(kLogTypes)};
}

}  // namespace

Task<Outcome<std::string>> read_log(Client& client, std::string_view ns, std::string_view pod,
                                    const LogOptions& options) {
  auto send = [](Client& to, Result<Call> call) -> Task<Outcome<std::string>> {
    if (!call) co_return std::unexpected(Failure(call.error()));
    CO_TRY_ASSIGN(http::Response response, co_await to.exchange(*std::move(call)));
    co_return std::move(response.body);
  };
  return send(client, log_call(ns, pod, options, false));
}

Task<Outcome<http::Answer>> follow_log(Client& client, std::string_view ns, std::string_view pod,
                                       const LogOptions& options) {
  auto open = [](Client& to, Result<Call> call) -> Task<Outcome<http::Answer>> {
    if (!call) co_return std::unexpected(Failure(call.error()));
    co_return co_await to.open(*std::move(call));
  };
  return open(client, log_call(ns, pod, options, true));
}

void LogLines::feed(std::string_view piece, const Sink& sink) {
  while (!piece.empty()) {
    size_t end = piece.find('\n');
    std::string_view part = piece.substr(0, end);
    line_ += part.substr(0, max_line_ - std::min(max_line_, line_.size()));
    has_line_ = true;
    if (end == std::string_view::npos) return;
    finish(sink);
    piece.remove_prefix(end + 1);
  }
}

void LogLines::finish(const Sink& sink) {
  if (has_line_) sink(line_);
  line_.clear();
  has_line_ = false;
}

}  // namespace fairlead::kube
