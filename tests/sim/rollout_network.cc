#include "rollout_network.h"

#include <fmt/format.h>

namespace fairlead::sim {
namespace {

// Writes of the bundle's objects: not those of shadows, nor of the inventory.
bool is_apply(const http::Request& request) {
  return request.method == "PATCH" &&
         request.headers.find("Content-Type").value_or("").find("apply-patch") != std::string_view::npos &&
         request.target.find("dryRun=") == std::string::npos &&
         (request.target.find("fieldManager=fairlead&") != std::string::npos ||
          request.target.ends_with("fieldManager=fairlead") ||
          request.target.find("fieldManager=fairlead%2F") != std::string::npos);
}

bool is_takeover(const http::Request& request) {
  return request.method == "PATCH" && request.body.find("/metadata/managedFields") != std::string::npos;
}

// A bundle's home has to be there before anybody can say that it is theirs.
bool is_namespace(const http::Request& request) {
  return request.target.starts_with("/api/v1/namespaces/") &&
         request.target.find('/', std::string_view("/api/v1/namespaces/").size()) == std::string::npos;
}

Error killed_error() { return Error(ErrorKind::unavailable, "the process was killed"); }

class LastWords final : public http::Body {
 public:
  LastWords(std::unique_ptr<http::Body> body, std::shared_ptr<bool> killed)
      : body_(std::move(body)), killed_(std::move(killed)) {}
  Task<Result<std::optional<std::string>>> read() override {
    if (*killed_) co_return fail(killed_error());
    auto piece = co_await body_->read();
    if (*killed_) co_return fail(killed_error());
    co_return piece;
  }

 private:
  std::unique_ptr<http::Body> body_;
  std::shared_ptr<bool> killed_;
};

}  // namespace

Task<Result<http::Answer>> LoadBalancer::open(http::Request request) {
  size_t server = static_cast<size_t>(world_.dice(name_, requests_++).below(world_.sandbox.api_servers()));
  if (request.connection != 0) {
    auto found = servers_.find(request.connection);
    if (found == servers_.end()) co_return fail(ErrorKind::unavailable, "the connection is gone");
    server = found->second;
  }
  bool writes = is_apply(request);
  std::string target = writes ? request.target : std::string();
  if (writes) judge_.arrives(target);
  Result<http::Answer> answer = co_await world_.sandbox.api_server(server).open(std::move(request));
  if (writes) judge_.leaves(target);
  if (answer) servers_[answer->connection] = server;
  if (answer) world_.history.note(name_, [&] { return fmt::format("answered by API server {}", server); });
  co_return answer;
}

Task<Result<http::Answer>> Rehearsal::open(http::Request request) {
  // A review asks what the user may do, and stores nothing.
  bool is_review = request.target.find("/selfsubjectaccessreviews") != std::string::npos;
  bool writes = request.method != "GET" && request.target.find("dryRun=All") == std::string::npos && !is_review;
  if (is_dry_ && writes) world_.fail(fmt::format("a dry run has written: {} {}", request.method, request.target));
  return network_.open(std::move(request));
}

Task<Result<http::Answer>> Process::open(http::Request request) {
  if (*killed_) co_return fail(killed_error());
  bool writes = is_apply(request);
  std::string target = writes ? request.target : std::string();
  if (writes && alone_ && !is_namespace(request)) judge_.sends(run_);
  if (is_takeover(request)) judge_.takes_over(run_, request.target);
  Result<http::Answer> answer = co_await network_.open(std::move(request));
  if (*killed_) co_return fail(killed_error());
  if (!answer) co_return answer;
  answer->body = std::make_unique<LastWords>(std::move(answer->body), killed_);
  if (!writes || answer->status >= 300) co_return answer;
  std::string whole;
  while (true) {
    CO_TRY_ASSIGN(std::optional<std::string> piece, co_await answer->body->read());
    if (!piece) break;
    whole += *piece;
  }
  judge_.heard(run_, target);
  answer->body = http::body_of(std::move(whole));
  co_return answer;
}

}  // namespace fairlead::sim
