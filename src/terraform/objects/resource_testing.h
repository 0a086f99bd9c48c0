// Helpers for tests of resources: a sandbox on a virtual loop, and a Terraform that calls a resource as the real one
// does and checks what the protocol demands of the answers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/scope.h"
#include "sandbox/core/core.h"
#include "sandbox/sandbox.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// Fails, forbids or answers requests itself for as long as it is asked to.
class ObstructedTransport : public http::Transport {
 public:
  explicit ObstructedTransport(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    sent.push_back(request.method + " " + request.target);
    if (fails && fails(request)) co_return fail(ErrorKind::unavailable, "connection refused");
    if (int status = answers ? answers(request) : 0; status != 0) {
      std::string_view reason = status == 401   ? "Unauthorized"
                                : status == 403 ? "Forbidden"
                                : status == 409 ? "Conflict"
                                                : "InternalError";
      co_return http::Answer{
          .status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = http::body_of(fmt::format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                            R"("reason":"{}","message":"{}","code":{}}})",
                                            reason, says, status))};
    }
    if (before) before(request);
    if (std::optional<std::string> own = own_answer ? own_answer(request) : std::nullopt)
      co_return http::Answer{.headers = {{"Content-Type", "application/json"}}, .body = http::body_of(*std::move(own))};
    bool writes = request.method == "PATCH";
    Result<http::Answer> answer = co_await to_.open(std::move(request));
    if (answer && writes && !warns.empty()) answer->headers.set("Warning", fmt::format("299 - \"{}\"", warns));
    co_return answer;
  }
  std::function<bool(const http::Request&)> fails;
  std::function<int(const http::Request&)> answers;
  std::string says = "may not";
  // What each apply and patch is warned of.
  std::string warns;
  // Returns the body of a 200 to give instead of carrying the request out.
  std::function<std::optional<std::string>(const http::Request&)> own_answer;
  std::function<void(const http::Request&)> before;
  std::vector<std::string> sent;

 private:
  http::Transport& to_;
};

class TestConnection final : public Connection {
 public:
  TestConnection(Loop& loop, http::Transport& transport)
      : loop_(loop), client_(loop, transport, nullptr, {}), discovery_(client_) {}
  Loop& loop() override { return loop_; }
  kube::Client& client() override { return client_; }
  kube::Discovery& discovery() override { return discovery_; }
  const std::string& default_namespace() const override { return namespace_; }
  std::string text() const override { return "context test"; }

 private:
  Loop& loop_;
  kube::Client client_;
  kube::Discovery discovery_;
  std::string namespace_ = "default";
};

// Every description is the same cluster, except for the unknown one, and the one with the host "https://broken".
class TestClusters final : public Clusters {
 public:
  explicit TestClusters(Connection& connection) : connection_(&connection) {}
  Task<Result<Connection*>> connect(Value cluster) override {
    if (!cluster.is_wholly_known()) co_return nullptr;
    if (cluster["host"].string_or("") == "https://broken")
      co_return fail(Error(ErrorKind::unavailable, "cannot connect to https://broken").because("connection refused"));
    std::string_view context = cluster["context"].string_or("test");
    if (!cluster["name"].is_null() || (context != "test" && context != "a:b"))
      co_return fail(ErrorKind::not_found, "there is no such cluster");
    co_return connection_;
  }
  Diagnostics check(const Value&, Path) const override { return {}; }
  // Each phase of Terraform is a process of its own.
  void use(Connection& connection) { connection_ = &connection; }

 private:
  Connection* connection_;
};

class TestLog final : public Log {
 public:
  void write(Level, std::string_view message, const Json&) override { lines.emplace_back(message); }
  std::vector<std::string> lines;
};

// What a plan would do.
struct TestPlan {
  std::string action;  // "none", "create", "update", "replace", "destroy"
  Value planned;
  Json planned_private;
  std::vector<std::string> replaces;
  Diagnostics diagnostics;
};

inline std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& one : diagnostics.all())
    text += fmt::format("{}: {} [{}]\n{}{}", one.severity == Diagnostic::Severity::error ? "error" : "warning",
                        one.summary, one.path.text(), one.detail, one.detail.ends_with('\n') ? "" : "\n");
  return text;
}

// A cluster, and what calls of the provider get.
class ClusterTest : public testing::Test {
 protected:
  explicit ClusterTest(sandbox::Options options = {})
      : sandbox_(loop_, std::move(options)),
        transport_(sandbox_.api_server()),
        admin_(loop_, sandbox_.api_server(), nullptr, {}),
        connection_(std::make_unique<TestConnection>(loop_, transport_)),
        clusters_(*connection_),
        actors_(loop_, nullptr) {}
  ~ClusterTest() override {
    actors_.cancel();
    loop_.run(actors_.join());
    loop_.run(sandbox_.stop());
  }

  Context context() { return Context(loop_, clusters_, log_, {.write_only_attributes_allowed = true}); }

  Json get(std::string target) {
    auto reply = loop_.run(admin_.request({.target = std::move(target)}));
    return reply ? reply->value : Json();
  }
  void request(std::string method, std::string target, std::string_view body, std::string type = "application/json") {
    auto reply = loop_.run(admin_.request(
        {.method = method, .target = target, .content_type = std::move(type), .body = std::string(body)}));
    if (!reply) ADD_FAILURE() << method << " " << target << ": " << reply.error().error().report();
  }
  void merge(std::string target, std::string_view body) {
    request("PATCH", target, body, "application/merge-patch+json");
  }
  void request_later(Duration delay, std::string method, std::string target, std::string body) {
    actors_.spawn(send_later(delay, std::move(method), std::move(target), std::move(body)));
  }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  ObstructedTransport transport_;
  kube::Client admin_;
  std::unique_ptr<TestConnection> connection_;
  TestClusters clusters_;
  TestLog log_;
  Scope actors_;

 private:
  Task<void> send_later(Duration delay, std::string method, std::string target, std::string body) {
    if (!co_await sleep_for(loop_, delay)) co_return;
    auto reply = co_await admin_.request(
        {.method = method, .target = target, .content_type = "application/json", .body = std::move(body)});
    if (!reply) ADD_FAILURE() << reply.error().error().report();
  }
};

class ResourceTest : public ClusterTest {
 protected:
  explicit ResourceTest(std::unique_ptr<Resource> resource, sandbox::Options options = {})
      : ClusterTest(std::move(options)), resource_(std::move(resource)) {}

  // Attributes of the configuration; those that are missing are null.
  Value config_of(Value config) {
    Result<Value> whole = conformed(std::move(config), resource_->schema().type());
    if (!whole) ADD_FAILURE() << whole.error().message();
    return whole ? *std::move(whole) : Value();
  }

  Diagnostics validate(Value config) {
    Context context = this->context();
    return loop_.run(resource_->validate(context, config_of(std::move(config))));
  }

  // Terraform starts a process: it has the state upgraded, before anything else.
  void begin_process(std::unique_ptr<Resource> resource) {
    resource_ = std::move(resource);
    if (state_.is_null()) return;
    Context context = this->context();
    Result<Json> stored = state_.to_json();
    UpgradeResponse upgraded =
        loop_.run(resource_->upgrade(context, {.version = resource_->schema().version, .state = *std::move(stored)}));
    EXPECT_TRUE(upgraded.state == state_);
  }

  // Plans what the state has as tainted: as a create, without its state.
  TestPlan plan_tainted(const Value& config) {
    Value state = std::exchange(state_, Value());
    Json kept = std::exchange(private_, Json());
    TestPlan plan = plan_only(config);
    plan.action = "replace";
    state_ = std::move(state);
    private_ = std::move(kept);
    return plan;
  }

  // Plans a replacement that the user asks for, as with `-replace`: as usual, and then again without the state.
  TestPlan plan_replacement(const Value& config) {
    TestPlan first = plan_only(config);
    if (first.diagnostics.has_errors()) return first;
    Value state = std::exchange(state_, Value());
    Json kept = std::exchange(private_, first.planned_private);
    TestPlan second = plan_only(config);
    second.action = "replace";
    state_ = std::move(state);
    private_ = std::move(kept);
    return second;
  }

  // Refreshes the state, as every plan does first.
  Diagnostics refresh() {
    if (state_.is_null()) return {};
    Context context = this->context();
    ReadResponse read =
        loop_.run(resource_->read(context, {.state = state_, .private_state = private_, .identity = {}}));
    if (!read.diagnostics.has_errors()) {
      state_ = read.state.is_null() ? Value() : config_of(std::move(read.state));
      private_ = std::move(read.private_state);
      EXPECT_TRUE(state_.is_wholly_known());
    }
    return read.diagnostics;
  }

  // Plans without a refresh. A null configuration destroys.
  TestPlan plan_only(Value config) {
    bool destroys = config.is_null();
    if (!destroys) config = config_of(std::move(config));
    TestPlan plan = plan_with(state_, private_, config);
    if (plan.diagnostics.has_errors()) return plan;
    if (destroys) plan.action = state_.is_null() ? "none" : "destroy";
    else if (state_.is_null()) plan.action = "create";
    else if (!plan.replaces.empty()) {
      std::vector<std::string> paths = plan.replaces;
      Diagnostics first = plan.diagnostics;
      plan = plan_with({}, plan.planned_private, config);
      plan.action = "replace";
      plan.replaces = std::move(paths);
      first.add(plan.diagnostics);
      plan.diagnostics = std::move(first);
    } else {
      plan.action = plan.planned == state_ ? "none" : "update";
    }
    return plan;
  }

  TestPlan plan(Value config) {
    Diagnostics found = refresh();
    TestPlan plan = plan_only(std::move(config));
    found.add(plan.diagnostics);
    plan.diagnostics = std::move(found);
    return plan;
  }

  // Plans and applies, as `terraform apply` does. Returns all diagnostics.
  Diagnostics apply(Value config) {
    TestPlan planned = plan(config);
    Diagnostics found = planned.diagnostics;
    if (found.has_errors() || planned.action == "none") return found;
    found.add(apply_plan(planned, std::move(config)));
    return found;
  }

  Diagnostics apply_plan(const TestPlan& planned, Value config) {
    Diagnostics found;
    if (planned.action == "destroy" || planned.action == "replace") {
      found.add(send({}, {}, planned.planned_private));
      if (found.has_errors() || planned.action == "destroy") return found;
    }
    // Terraform plans again when everything is known.
    TestPlan last = plan_only(config);
    found.add(last.diagnostics);
    if (found.has_errors()) return found;
    expect_consistent(planned.planned, last.planned, "the final plan");
    found.add(send(last.planned, config_of(config), last.planned_private));
    return found;
  }

  Diagnostics destroy() { return apply({}); }

  std::unique_ptr<Resource> resource_;
  // What Terraform keeps.
  Value state_;
  Json private_;

 private:
  // The configuration, with the prior values of computed attributes that it does not set.
  Value proposed(const Value& prior, const Value& config) {
    if (config.is_null()) return {};
    Value out = config;
    for (const Attribute& attribute : resource_->schema().attributes) {
      if (attribute.computed && config[attribute.name].is_null())
        out.make(attribute.name) = prior.is_null() ? Value::unknown() : prior[attribute.name];
      if (attribute.write_only) out.make(attribute.name) = {};
    }
    return out;
  }

  TestPlan plan_with(const Value& prior, const Json& private_state, const Value& config) {
    Context context = this->context();
    PlanResponse response = loop_.run(resource_->plan(context, {.prior = prior,
                                                                .proposed = proposed(prior, config),
                                                                .config = config,
                                                                .prior_private = private_state,
                                                                .prior_identity = {}}));
    TestPlan plan;
    plan.diagnostics = std::move(response.diagnostics);
    if (plan.diagnostics.has_errors()) return plan;
    plan.planned = config.is_null() ? Value() : config_of(std::move(response.planned));
    clear_write_only(plan.planned, resource_->schema());
    plan.planned_private = std::move(response.planned_private);
    for (const Path& path : response.requires_replace)
      if (path.in(prior) != path.in(plan.planned)) plan.replaces.push_back(path.text());
    if (!config.is_null()) expect_valid_plan(prior, config, plan.planned);
    return plan;
  }

  void expect_valid_plan(const Value& prior, const Value& config, const Value& planned) {
    for (const Attribute& attribute : resource_->schema().attributes) {
      if (attribute.write_only || (attribute.computed && config[attribute.name].is_null())) continue;
      const Value& value = planned[attribute.name];
      EXPECT_TRUE(value == config[attribute.name] || (!prior.is_null() && value == prior[attribute.name]))
          << attribute.name << " is planned with a value that is neither configured nor the prior one";
    }
  }

  // What was known stays, what was unknown may become anything.
  void expect_consistent(const Value& planned, const Value& actual, const std::string& where) {
    if (planned.is_unknown()) return;
    if (planned.members().empty() && planned.items().empty()) {
      EXPECT_TRUE(planned == actual) << where << " is inconsistent with the plan";
      return;
    }
    for (const auto& [name, value] : planned.members()) expect_consistent(value, actual[name], where + "." + name);
    for (size_t i = 0; i < planned.items().size(); ++i)
      expect_consistent(planned.items()[i], actual.item(i), fmt::format("{}[{}]", where, i));
  }

  Diagnostics send(Value planned, Value config, Json planned_private) {
    Context context = this->context();
    ApplyResponse response = loop_.run(resource_->apply(context, {.prior = state_,
                                                                  .planned = planned,
                                                                  .config = std::move(config),
                                                                  .planned_private = std::move(planned_private),
                                                                  .planned_identity = {}}));
    EXPECT_TRUE(response.state.is_wholly_known());
    Value state = response.state.is_null() ? Value() : config_of(std::move(response.state));
    if (!response.diagnostics.has_errors()) {
      if (planned.is_null()) {
        EXPECT_TRUE(state.is_null());
      } else {
        expect_consistent(planned, state, "the result");
      }
    }
    // Terraform keeps the prior state where a failed destroy gives none.
    state_ = std::move(state);
    private_ = std::move(response.private_state);
    return response.diagnostics;
  }
};

}  // namespace fairlead::terraform
