#include "gate/server/gate_testing.h"

namespace fairlead::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(GateTest, without_it_the_race_is_lost) {
  install_operator();
  Written result = written_while_late(5s);
  EXPECT_FALSE(result.stored);
  EXPECT_THAT(result.text, HasSubstr("failed calling webhook"));
}

TEST_F(GateTest, a_request_goes_on_once_the_webhook_works) {
  start_gate();
  install_operator();
  Written result = written_while_late(5s);
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
  EXPECT_LT(result.took, 5500ms);
  EXPECT_GE(gate_->counts()[Decided::waited], 1U);
}

TEST_F(GateTest, a_request_has_the_webhook_called_at_once) {
  start_gate();
  install_operator();
  pass(1s);
  // Nobody waits, so that the next look is half a second away.
  for (size_t calls = caller_.calls; caller_.calls == calls;) pass(10ms);
  webhook_listens();
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_LT(result.took, 100ms);
}

TEST_F(GateTest, a_client_that_was_refused_comes_again) {
  options_.holds = 0;
  start_gate();
  install_operator();
  Written result = written_while_late(12s);
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
  EXPECT_GE(gate_->counts()[Decided::refused], 5U);
}

TEST_F(GateTest, a_crowd_goes_on_one_after_the_other) {
  start_gate();
  install_operator();
  std::vector<Written> results = written_at_once(60, 3s);
  for (const Written& result : results) EXPECT_TRUE(result.stored) << result.text;
  ASSERT_THAT(reviewed_at_, SizeIs(60));
  EXPECT_GE(reviewed_at_.back() - reviewed_at_.front(), 59 * 4ms);
}

TEST_F(GateTest, a_crowd_is_not_refused_at_once) {
  options_.holds = 40;
  start_gate();
  install_operator();
  std::vector<Written> results = written_at_once(60, 12s);
  for (const Written& result : results) EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, SizeIs(60));
  // The most answers in one millisecond: those of which there was no room.
  std::map<TimePoint, size_t> at;
  for (TimePoint time : answered_at_) ++at[time];
  size_t most = std::ranges::max(at | std::views::values);
  EXPECT_LE(most, 20U);
}

TEST_F(GateTest, ten_tries_reach_over_four_minutes) {
  options_.holds = 0;
  start_gate();
  install_operator();
  Written result = written_while_late(4min);
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
  EXPECT_LE(gate_->counts()[Decided::refused], 10U);
}

TEST_F(GateTest, nothing_slips_past_a_webhook_that_would_be_ignored) {
  start_gate();
  install_operator("Ignore");
  Written result = written_while_late(7s);
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
}

TEST_F(GateTest, once_the_patience_is_used_up_the_cluster_decides) {
  start_gate();
  install_operator();
  pass(5min);
  Written result = written();
  EXPECT_FALSE(result.stored);
  EXPECT_THAT(result.text, HasSubstr("failed calling webhook"));
  EXPECT_LT(result.took, 1s);
}

TEST_F(GateTest, a_webhook_that_worked_has_half_a_minute) {
  start_gate();
  install_operator();
  webhook_listens();
  pass(1min);
  EXPECT_TRUE(written("before").stored);
  webhook_stops();
  pass(25s);
  Written result = written_while_late(5s, "during");
  EXPECT_TRUE(result.stored) << result.text;
  webhook_stops();
  pass(2min);
  EXPECT_FALSE(written("after").stored);
}

TEST_F(GateTest, what_works_is_answered_at_once) {
  start_gate();
  install_operator();
  webhook_listens();
  pass(2s);
  size_t before = asked_;
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_LT(result.took, 100ms);
  EXPECT_EQ(asked_, before + 1);
  EXPECT_GE(gate_->counts()[Decided::allowed], 1U);
}

TEST_F(GateTest, a_webhook_that_the_gate_cannot_reach_holds_nobody_up) {
  caller_.otherwise = CallResult::Kind::unsure;
  start_gate();
  install_operator();
  webhook_listens();
  caller_.said.clear();
  pass(2s);
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_LT(result.took, 100ms);
}

class WitnessedGateTest : public GateTest {
 protected:
  WitnessedGateTest() {
    options_.witness = &witness_;
    // As behind a NetworkPolicy that shuts the gate out.
    caller_.otherwise = CallResult::Kind::unsure;
  }
  ~WitnessedGateTest() override { kill_gate(); }

  bool has_shadows() {
    return std::ranges::any_of(own_configurations(), [](const std::string& name) { return name.contains("shadow"); });
  }

  ShadowWitness witness_{client_, "test"};
};

TEST_F(WitnessedGateTest, the_api_server_tells_where_the_gate_cannot_reach_the_webhook) {
  start_gate();
  install_operator();
  Written result;
  auto story = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    scope.spawn(write("w", result));
    (void)co_await sleep_for(loop_, 5s);
    webhook_listens();
    caller_.said.clear();
    co_await scope.join();
  };
  loop_.run(story());
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, Contains("w"));
  EXPECT_GE(result.took, 5s);
  EXPECT_LT(result.took, 6s);
  EXPECT_TRUE(has_shadows());
  kill_gate();
  EXPECT_FALSE(has_shadows());
}

TEST_F(WitnessedGateTest, it_deletes_its_shadow_once_its_own_calls_succeed) {
  start_gate();
  install_operator();
  pass(1s);
  EXPECT_TRUE(has_shadows());
  webhook_listens();
  pass(30s);
  EXPECT_FALSE(has_shadows());
}

TEST(FindingOf, believes_a_proof_and_nothing_less) {
  Hook hook;
  hook.webhook.configuration = "widgets";
  readiness::Proof proof;
  proof.why_not = "no right";
  EXPECT_FALSE(finding_of(hook, proof));
  proof.proved = true;
  proof.rung = readiness::Rung::trusted;
  proof.evidence = "the API server called it: it answered 404";
  EXPECT_EQ(finding_of(hook, proof), (Finding{Finding::Kind::failing, "the API server called it: it answered 404",
                                              "fairlead wait webhook/widgets --timeout 30s"}));
  proof.fault = kube::Fault{.kind = kube::FaultKind::webhook_timeout};
  EXPECT_FALSE(finding_of(hook, proof));
  proof.rung = readiness::Rung::answering;
  EXPECT_EQ(finding_of(hook, proof), Finding{.kind = Finding::Kind::works});
}

// As those of Gatekeeper and Kyverno do.
TEST_F(GateTest, a_webhook_on_everything_does_not_wait_for_what_it_stands_on) {
  start_gate();
  add_service();
  add_configuration("Ignore", "", R"("apiGroups":["*"],"resources":["*"])");
  pass(1s);
  TimePoint begun = loop_.now();
  post("/api/v1/namespaces/shop/configmaps", named("its-own", "ConfigMap", "v1"));
  post("/apis/rbac.authorization.k8s.io/v1/clusterroles",
       named("its-role", "ClusterRole", "rbac.authorization.k8s.io/v1"));
  EXPECT_EQ(gate_->counts()[Decided::refused] + gate_->counts()[Decided::waited], 0U);
  EXPECT_LT(loop_.now() - begun, 1s);
}

TEST_F(GateTest, an_object_may_follow_its_configuration_at_once) {
  start_gate();
  add_service();
  add_slice("shop", "hook", "10.244.0.9");
  add_configuration();
  Written result = written_while_late(3s);
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
}

TEST_F(GateTest, a_gate_that_was_killed_costs_nothing) {
  start_gate();
  install_operator();
  webhook_listens();
  pass(2s);
  kill_gate();
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_LT(result.took, 100ms);
}

TEST_F(GateTest, a_gate_that_is_frozen_costs_its_small_time_out) {
  start_gate();
  install_operator();
  webhook_listens();
  pass(2s);
  frozen_ = true;
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_LE(result.took, 2100ms);
}

TEST_F(GateTest, whoever_waits_when_it_is_killed_comes_again_and_meets_the_next_one) {
  start_gate();
  install_operator();
  Written result;
  auto story = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    scope.spawn(write("w", result));
    (void)co_await sleep_for(loop_, 3s);
    gate_->drain();
    scope.spawn(listen_after(4s));
    co_await scope.join();
  };
  loop_.run(story());
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
}

TEST_F(GateTest, it_keeps_its_own_configurations) {
  start_gate();
  EXPECT_THAT(own_configurations(), ElementsAre(StartsWith("0-fairlead-gate-kinds-shop.example.com-")));
  install_operator();
  pass(2s);
  EXPECT_THAT(own_configurations(),
              ElementsAre(StartsWith("0-fairlead-gate-hold-"), StartsWith("0-fairlead-gate-kinds-shop.example.com-")));
  webhook_listens();
  pass(3s);
  EXPECT_THAT(own_configurations(), ElementsAre(StartsWith("0-fairlead-gate-kinds-shop.example.com-")));
  send("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.shop.example.com");
  pass(5s);
  EXPECT_THAT(own_configurations(), IsEmpty());
}

TEST_F(GateTest, it_makes_again_what_somebody_has_deleted) {
  start_gate();
  std::vector<std::string> before = own_configurations();
  ASSERT_THAT(before, SizeIs(1));
  send("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/" + before[0]);
  pass(3s);
  EXPECT_EQ(own_configurations(), before);
}

// Does not answer when these are listed.
class NeverLists final : public http::Transport {
 public:
  NeverLists(Loop& loop, http::Transport& to, std::string what) : loop_(loop), to_(to), what_(std::move(what)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    while (request.method == "GET" && request.target.contains(what_)) CO_TRY(co_await sleep_for(loop_, 1h));
    co_return co_await to_.open(std::move(request));
  }

 private:
  Loop& loop_;
  http::Transport& to_;
  std::string what_;
};

TEST_F(GateTest, nothing_is_said_of_a_webhook_before_services_and_endpoints_are_listed) {
  install_operator();
  for (std::string what : {"namespaces/shop/services", "namespaces/shop/endpointslices"}) {
    NeverLists network(loop_, sandbox_.api_server(), what);
    kube::Client client(loop_, network, nullptr, {});
    gate_ = std::make_unique<Gate>(client, caller_, options_);
    scope_ = std::make_unique<Scope>(loop_, nullptr);
    scope_->spawn(gate_->run());
    pass(3s);
    EXPECT_EQ(gate_->status()["webhooks"].item(0)["state"].string_or(""), "not proved") << what;
    kill_gate();
  }
}

// Forbids to make configurations.
class MakesNone final : public http::Transport {
 public:
  explicit MakesNone(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (forbids && request.method == "POST" && request.target.contains("mutatingwebhookconfigurations"))
      co_return http::Answer{.status = 403,
                             .headers = {{"Content-Type", "application/json"}},
                             .body = http::body_of(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                                   R"("reason":"Forbidden","message":"may not","code":403})")};
    co_return co_await to_.open(std::move(request));
  }
  bool forbids = true;

 private:
  http::Transport& to_;
};

TEST_F(GateTest, former_configurations_stay_until_the_new_ones_are_there) {
  start_gate();
  std::vector<std::string> before = own_configurations();
  ASSERT_THAT(before, SizeIs(1));
  kill_gate();
  options_.registrar.seconds = 3;
  MakesNone network(sandbox_.api_server());
  kube::Client client(loop_, network, nullptr, {});
  gate_ = std::make_unique<Gate>(client_, caller_, options_);
  scope_ = std::make_unique<Scope>(loop_, nullptr);
  scope_->spawn(gate_->run());
  scope_->spawn(keep_registrations(
      client, *gate_, {.leads = [] { return true; }, .ca_bundle = [] { return to_base64(kTestCertificate); }}));
  serve_gate();
  pass(10s);
  EXPECT_EQ(own_configurations(), before);
  EXPECT_EQ(gate_->not_ready(), "the webhook configurations of the gate are not made yet");
  network.forbids = false;
  pass(10s);
  EXPECT_THAT(own_configurations(), SizeIs(1));
  EXPECT_NE(own_configurations(), before);
  EXPECT_EQ(gate_->not_ready(), "");
  kill_gate();
}

TEST_F(GateTest, a_webhook_that_left_its_configuration_is_not_waited_for) {
  start_gate();
  install_operator();
  pass(1s);
  Json stored = send("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop");
  stored.make("webhooks") = Json::Array();
  send("PUT", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop", stored.dump());
  pass(1s);
  EXPECT_THAT(gate_->status()["webhooks"].items(), IsEmpty());
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_LT(result.took, 1s);
}

TEST_F(GateTest, a_webhook_that_was_deleted_is_not_called_any_more) {
  start_gate();
  install_operator();
  pass(1s);
  send("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop");
  pass(1s);
  size_t calls = caller_.calls;
  EXPECT_GT(calls, 0U);
  pass(1min);
  EXPECT_EQ(caller_.calls, calls);
}

TEST_F(GateTest, a_request_waits_while_an_operator_writes_its_bundle) {
  start_gate();
  add_service();
  add_slice("shop", "hook", "10.244.0.9");
  add_configuration("Fail", "", kGuardsWidgets, "");
  caller_.said["10.244.0.9:9443"] = CallResult::Kind::untrusted;
  pass(1s);
  Written result;
  auto writes_its_bundle = [this]() -> Task<void> {
    (void)co_await sleep_for(loop_, 5s);
    webhook_listens();
    co_await put_bundle(to_base64(kTestCertificate));
  };
  auto both = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    scope.spawn(write("w", result));
    scope.spawn(writes_its_bundle());
    co_await scope.join();
  };
  loop_.run(both());
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
}

TEST_F(GateTest, a_webhook_without_a_bundle_holds_requests_up_for_half_a_minute) {
  start_gate();
  add_service();
  add_slice("shop", "hook", "10.244.0.9");
  add_configuration("Fail", "", kGuardsWidgets, "");
  webhook_listens();
  caller_.said["10.244.0.9:9443"] = CallResult::Kind::untrusted;
  pass(200ms);
  Written result = written();
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_GE(result.took, 25s);
  EXPECT_LE(result.took, 35s);
  EXPECT_LE(written("x").took, 1s);
}

TEST_F(GateTest, a_webhook_is_called_again_when_its_bundle_changes) {
  start_gate();
  webhook_listens();
  install_operator();
  pass(1min);
  size_t calls = caller_.calls;
  std::string other = to_base64("-----BEGIN CERTIFICATE-----\nAAAB\n-----END CERTIFICATE-----\n");
  caller_.said["10.244.0.9:9443"] = CallResult::Kind::untrusted;
  loop_.run(put_bundle(other));
  pass(1s);
  EXPECT_GT(caller_.calls, calls);
}

// Somebody else's webhook is awaited all the time, so that every request is looked at.
TEST_F(GateTest, a_request_that_went_through_is_waited_for_anew_the_next_time) {
  start_gate();
  install_operator();
  post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
       R"({"metadata":{"name":"other"},"webhooks":[{"name":"v.other.example.com","sideEffects":"None",
           "admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"team","name":"other"}},
           "rules":[{"apiGroups":["other.example.com"],"resources":["gadgets"],"apiVersions":["v1"],
           "operations":["CREATE"]}]}]})");
  pass(1s);
  TimePoint begun = loop_.now();
  EXPECT_FALSE(is_let_through("system:serviceaccount:flux:flux"));
  webhook_listens();
  pass(10s);
  EXPECT_TRUE(is_let_through("system:serviceaccount:flux:flux"));
  send("DELETE", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/hook-1");
  pass(begun + 30500ms - loop_.now());
  EXPECT_FALSE(is_let_through("system:serviceaccount:flux:flux"));
}

TEST_F(GateTest, a_controller_is_let_through_after_half_a_minute_and_people_are_not) {
  start_gate();
  install_operator();
  EXPECT_FALSE(is_let_through("system:serviceaccount:flux:flux"));
  EXPECT_FALSE(is_let_through("ann"));
  pass(20s);
  EXPECT_FALSE(is_let_through("system:serviceaccount:flux:flux"));
  EXPECT_FALSE(is_let_through("ann"));
  pass(10s);
  EXPECT_TRUE(is_let_through("system:serviceaccount:flux:flux"));
  EXPECT_FALSE(is_let_through("ann"));
}

TEST_F(GateTest, a_webhook_is_called_less_often_once_nobody_waits_any_more) {
  start_gate();
  install_operator();
  auto calls_in = [this](Duration time) {
    size_t before = caller_.calls;
    pass(time);
    return caller_.calls - before;
  };
  EXPECT_LE(calls_in(10s), 25U);
  kube::Client client(loop_, sandbox_.api_server(), nullptr, {.busy_attempts = 1});
  auto refused = loop_.run(
      client.request({.method = "POST",
                      .target = "/apis/shop.example.com/v1/namespaces/team/widgets",
                      .content_type = "application/json",
                      .body = R"({"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"}})"}));
  EXPECT_FALSE(refused.has_value());
  EXPECT_GE(gate_->counts()[Decided::refused], 1U);
  EXPECT_LE(calls_in(10s), 25U);
}

TEST_F(GateTest, without_the_lease_it_fills_gaps_and_replaces_nothing) {
  leads_ = false;
  start_gate();
  std::vector<std::string> before = own_configurations();
  ASSERT_THAT(before, ElementsAre(StartsWith("0-fairlead-gate-kinds-shop.example.com-")));
  kill_gate();
  options_.registrar.seconds = 3;
  start_gate();
  EXPECT_EQ(own_configurations(), before) << "another version of the gate may have made it";
  leads_ = true;
  pass(2s);
  std::vector<std::string> after = own_configurations();
  EXPECT_THAT(after, SizeIs(1));
  EXPECT_NE(after, before);
}

TEST_F(GateTest, it_is_ready_once_it_is_registered) {
  gate_ = std::make_unique<Gate>(client_, caller_, options_);
  EXPECT_EQ(gate_->not_ready(), "the webhooks of the cluster are not read yet");
  start_gate();
  EXPECT_EQ(gate_->not_ready(), "");
}

TEST_F(GateTest, people_see_what_waits) {
  start_gate();
  install_operator();
  Written result;
  Json status;
  auto story = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    scope.spawn(write("w", result));
    (void)co_await sleep_for(loop_, 1s);
    status = gate_->status();
    webhook_listens();
    co_await scope.join();
  };
  loop_.run(story());
  ASSERT_THAT(status["waiting"].items(), SizeIs(1));
  const Json& waiting = status["waiting"].item(0);
  EXPECT_EQ(waiting["object"].string_or(""), "Widget team/w");
  EXPECT_EQ(waiting["for"].string_or(""), "webhook v.shop.example.com (ValidatingWebhookConfiguration shop)");
  const Json& webhook = status["webhooks"].item(0);
  EXPECT_EQ(webhook["state"].string_or(""), "coming up");
  EXPECT_EQ(webhook["cause"].string_or(""), "service shop/hook does not accept connections");
  EXPECT_THAT(said_, Contains("info: Widget team/w waits for webhook v.shop.example.com "
                              "(ValidatingWebhookConfiguration shop)"));
  Json events = send("GET", "/api/v1/namespaces/default/events");
  ASSERT_THAT(events["items"].items(), SizeIs(1));
  EXPECT_EQ(events["items"].item(0)["reason"].string_or(""), "RequestsWait");
  EXPECT_THAT(gate_->metrics(), HasSubstr("fairlead_gate_requests_total{decision=\"waited\"}"));
}

TEST_F(GateTest, people_are_told_again_when_a_webhook_that_worked_stops) {
  start_gate();
  install_operator();
  EXPECT_TRUE(written_while_late(3s, "first").stored);
  pass(1min);
  webhook_stops();
  pass(25s);
  EXPECT_TRUE(written_while_late(3s, "second").stored);
  for (std::string_view name : {"first", "second"})
    EXPECT_THAT(said_, Contains(fmt::format("info: Widget team/{} waits for webhook v.shop.example.com "
                                            "(ValidatingWebhookConfiguration shop)",
                                            name)));
}

TEST_F(GateTest, a_webhook_that_only_the_gate_does_not_reach_through_its_service_works_after_a_while) {
  start_gate();
  install_operator();
  caller_.said["10.244.0.9:9443"] = CallResult::Kind::answered;
  pass(1s);
  EXPECT_EQ(gate_->status()["webhooks"].item(0)["cause"].string_or(""),
            "hook.shop.svc answers, but the network does not lead to it yet");
  pass(1min);
  EXPECT_EQ(gate_->status()["webhooks"].item(0)["state"].string_or(""), "works");
}

TEST_F(GateTest, a_webhook_whose_service_or_endpoints_are_deleted_does_not_work) {
  start_gate();
  install_operator();
  webhook_listens();
  pass(1min);
  EXPECT_EQ(gate_->status()["webhooks"].item(0)["state"].string_or(""), "works");
  send("DELETE", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/hook-1");
  pass(30s);
  EXPECT_EQ(gate_->status()["webhooks"].item(0)["cause"].string_or(""), "service shop/hook has no ready endpoint");
  send("DELETE", "/api/v1/namespaces/shop/services/hook");
  pass(30s);
  EXPECT_EQ(gate_->status()["webhooks"].item(0)["cause"].string_or(""), "service shop/hook does not exist");
}

// Whoever is told so by a replica that stops asks another one next.
TEST_F(GateTest, a_replica_that_stops_sends_its_clients_away_for_a_moment_only) {
  options_.holds = 0;
  start_gate();
  install_operator();
  auto seconds_of_refusal = [this]() -> int64_t {
    Result<http::Response> answer =
        loop_.run(ask({.method = "POST",
                       .target = std::string(kPath) + "?timeout=1s",
                       .headers = {},
                       .body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1",
            "operation":"CREATE","kind":{"group":"shop.example.com","version":"v1","kind":"Widget"},
            "resource":{"group":"shop.example.com","version":"v1","resource":"widgets"},"namespace":"team",
            "name":"w","userInfo":{"username":"ann"},
            "object":{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"}}}})"}));
    Result<Json> review = Json::parse(answer->body);
    return (*review)["response"]["status"]["details"]["retryAfterSeconds"].int_or(0);
  };
  int64_t last = 0;
  for (int i = 0; i < 6; ++i) {
    last = seconds_of_refusal();
    pass(std::chrono::seconds(last));
  }
  EXPECT_GT(last, 1);
  gate_->drain();
  EXPECT_EQ(seconds_of_refusal(), 1);
}

TEST_F(GateTest, a_refusal_says_which_webhook_and_what_to_do) {
  options_.holds = 0;
  start_gate();
  install_operator();
  auto reply = loop_.run([](kube::Client& client) -> Task<kube::Outcome<http::Response>> {
    co_return co_await client.exchange(
        {.method = "POST",
         .target = "/apis/shop.example.com/v1/namespaces/team/widgets?dryRun=All",
         .content_type = "application/json",
         .body = R"({"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"}})"});
  }(client_));
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().fault()->message,
              HasSubstr("webhook v.shop.example.com (ValidatingWebhookConfiguration shop) does not work yet: service "
                        "shop/hook does not accept connections; see: kubectl -n shop describe service hook"));
}

TEST_F(GateTest, a_namespace_can_be_switched_off) {
  start_gate();
  send("POST", "/api/v1/namespaces",
       R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"free","labels":{"fairlead.dev/gate":"off"}}})");
  install_operator();
  size_t before = asked_;
  Written result;
  loop_.run(write("w", result, "free"));
  EXPECT_FALSE(result.stored);
  EXPECT_EQ(asked_, before);
}

TEST_F(GateTest, it_takes_no_more_than_reviews) {
  start_gate();
  for (auto [method, target, body, status] : {std::tuple("GET", "/gate", "", 405),
                                              {"POST", "/other", "{}", 404},
                                              {"POST", "/gate", "{}", 400},
                                              {"POST", "/gate?timeout=2s", "no json", 400}}) {
    http::Answer answer = loop_.run(gate_->answer({.method = method, .target = target, .body = body}));
    EXPECT_EQ(answer.status, status) << method << " " << target;
  }
}

}  // namespace
}  // namespace fairlead::gate
