#include <fmt/format.h>

#include "base/json.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

class ForgetsConnection final : public http::Transport {
 public:
  explicit ForgetsConnection(http::Transport& network) : network_(network) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    request.connection = 0;
    return network_.open(std::move(request));
  }

 private:
  http::Transport& network_;
};

// Every probe is answered as if the shadow that it looks for were in effect, and what that mirrors had answered.
class BelievesAtOnce final : public http::Transport {
 public:
  explicit BelievesAtOnce(http::Transport& network) : network_(network) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    std::string marker = marker_for(request);
    Result<http::Answer> answer = co_await network_.open(std::move(request));
    if (marker.empty() || !answer || answer->status < 200 || answer->status == 429) co_return answer;
    Json status(Json::Object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::Object{}},
                             {"status", "Failure"},
                             {"reason", "InternalError"},
                             {"code", 500}});
    status.make("message") = fmt::format(
        "Internal error occurred: failed calling webhook \"{}\": failed to call webhook: Post "
        "\"https://nowhere.fairlead-shadow.svc:443/?timeout=1s\": service \"nowhere\" not found",
        marker);
    answer->status = 500;
    answer->body = http::body_of(status.dump());
    co_return answer;
  }

 private:
  // The field manager of a probe, fairlead-RUN-NUMBER, names its shadow.
  static std::string marker_for(const http::Request& request) {
    constexpr std::string_view kManager = "fieldManager=fairlead-run";
    size_t at = request.target.find(kManager);
    if (request.method != "POST" || at == std::string::npos || request.target.find("dryRun=") == std::string::npos)
      return {};
    std::string_view rest = std::string_view(request.target).substr(at + kManager.size());
    rest = rest.substr(0, rest.find('&'));
    size_t dash = rest.find('-');
    if (dash == std::string_view::npos) return {};
    return fmt::format("marker.{}.run{}.shadow.fairlead.dev", rest.substr(dash + 1), rest.substr(0, dash));
  }

  http::Transport& network_;
};

}  // namespace

RolloutSabotage forgets_connection() {
  return [](http::Transport& network) { return std::make_unique<ForgetsConnection>(network); };
}

RolloutSabotage believes_at_once() {
  return [](http::Transport& network) { return std::make_unique<BelievesAtOnce>(network); };
}

}  // namespace fairlead::sim
