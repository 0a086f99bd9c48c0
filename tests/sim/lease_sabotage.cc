#include "base/json.h"
#include "detour.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

bool is_about_leases(const http::Request& request) { return request.target.contains("/leases"); }

class TakesRegardless final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "PUT" || !is_about_leases(request)) co_return co_await network_.open(std::move(request));
    CO_TRY_ASSIGN(http::Response now,
                  co_await http::send(network_, {.target = request.target.substr(0, request.target.find('?'))}));
    Result<Json> stored = Json::parse(now.body);
    Result<Json> update = Json::parse(request.body);
    if (now.status == 200 && stored && update) {
      update->make("metadata").make("resourceVersion") = (*stored)["metadata"]["resourceVersion"];
      request.body = update->dump();
    }
    co_return co_await network_.open(std::move(request));
  }
};

// Lists are answered with what they said some time ago.
class ShowsThePast final : public Detour {
 public:
  ShowsThePast(World& world, http::Transport& network) : Detour(network), world_(world) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    bool lists = request.method == "GET" && !request.long_lived && request.target.contains("/leases?");
    if (!lists) co_return co_await network_.open(std::move(request));
    CO_TRY_ASSIGN(http::Response fresh, co_await http::send(network_, std::move(request)));
    if (fresh.status == 200) past_.emplace_back(world_.loop.now(), fresh);
    while (past_.size() > 1 && past_[1].first + kBehind <= world_.loop.now()) past_.pop_front();
    http::Response& shown = fresh.status == 200 ? past_.front().second : fresh;
    co_return http::Answer{.status = shown.status, .headers = shown.headers, .body = http::body_of(shown.body)};
  }

 private:
  static constexpr Duration kBehind = std::chrono::seconds(25);
  World& world_;
  std::deque<std::pair<TimePoint, http::Response>> past_;
};

}  // namespace

LeaseSabotage takes_regardless() {
  return {.network = [](World&, http::Transport& network) { return std::make_unique<TakesRegardless>(network); }};
}

LeaseSabotage shows_the_past() {
  return {
      .network = [](World& world, http::Transport& network) { return std::make_unique<ShowsThePast>(world, network); }};
}

LeaseSabotage overlooks_suspension() { return {.network = {}, .wall_sleeps = true}; }

}  // namespace fairlead::sim
