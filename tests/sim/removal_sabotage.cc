#include "base/json.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

http::Answer answer_of(int status, std::string body) {
  http::Answer answer;
  answer.status = status;
  answer.headers = {{"Content-Type", "application/json"}};
  answer.body = http::body_of(std::move(body));
  return answer;
}

// An object that lingers for its finalizers is answered as if it had been removed.
class BelievesDeleted final : public http::Transport {
 public:
  explicit BelievesDeleted(http::Transport& network) : network_(network) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "DELETE") co_return co_await network_.open(std::move(request));
    CO_TRY_ASSIGN(http::Response response, co_await http::send(network_, std::move(request)));
    Result<Json> value = Json::parse(response.body);
    if (response.status != 200 || !value || !(*value)["metadata"]["uid"].is_string())
      co_return answer_of(response.status, std::move(response.body));
    Json gone(Json::Object{{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", Json::Object{}},
                           {"status", "Success"},
                           {"details", Json::Object{{"uid", (*value)["metadata"]["uid"]}}}});
    co_return answer_of(200, gone.dump());
  }

 private:
  http::Transport& network_;
};

// A DELETE that fails is answered as if nothing were there.
class AssumesGone final : public http::Transport {
 public:
  explicit AssumesGone(http::Transport& network) : network_(network) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "DELETE") co_return co_await network_.open(std::move(request));
    Result<http::Answer> answer = co_await network_.open(std::move(request));
    if (answer && answer->status < 500) co_return answer;
    Json absent(Json::Object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::Object{}},
                             {"status", "Failure"},
                             {"reason", "NotFound"},
                             {"message", "not found"},
                             {"code", 404}});
    co_return answer_of(404, absent.dump());
  }

 private:
  http::Transport& network_;
};

// Whatever has the name by then is removed.
class ForgetsUids final : public http::Transport {
 public:
  explicit ForgetsUids(http::Transport& network) : network_(network) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method == "DELETE") request.body = R"({"apiVersion":"v1","kind":"DeleteOptions"})";
    return network_.open(std::move(request));
  }

 private:
  http::Transport& network_;
};

}  // namespace

RemovalSabotage believes_deleted() {
  return [](http::Transport& network) { return std::make_unique<BelievesDeleted>(network); };
}
RemovalSabotage assumes_gone() {
  return [](http::Transport& network) { return std::make_unique<AssumesGone>(network); };
}
RemovalSabotage forgets_uids() {
  return [](http::Transport& network) { return std::make_unique<ForgetsUids>(network); };
}

}  // namespace fairlead::sim
