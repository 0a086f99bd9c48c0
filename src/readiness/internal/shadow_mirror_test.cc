#include "readiness/shadow_testing.h"

namespace fairlead::readiness {
namespace {

using testing::IsEmpty;

TEST_F(ShadowTest, AWebhookThatAllowsOrDeniesAnswers) {
  serve("allow", answering(R"({"allowed":true})"));
  serve("deny", answering(R"({"allowed":false,"status":{"message":"I know no such kind"}})"));
  auto prove = prover();
  for (std::string_view name : {"allow", "deny"}) {
    Proof proof = proof_of(prove->mirror(target(name), 0));
    EXPECT_TRUE(proof.reached(Rung::answering)) << proof.why_not;
    EXPECT_FALSE(proof.fault);
    EXPECT_EQ(proof.connection, 1u);
    EXPECT_EQ(proof.evidence,
              fmt::format("the API server called webhook {}.example.com (config), which answered", name));
  }
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, AWebhookThatPatchesWhateverComesAnswers) {
  // [{"op":"add","path":"/spec/containers/0/env","value":1}]
  serve("patch", answering(R"({"allowed":true,"patchType":"JSONPatch",
      "patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvY29udGFpbmVycy8wL2VudiIsInZhbHVlIjoxfV0="})"));
  auto prove = prover();
  Proof proof = proof_of(prove->mirror(target("patch"), 0));
  EXPECT_TRUE(proof.reached(Rung::answering)) << proof.why_not;
  EXPECT_EQ(proof.evidence,
            "the API server called webhook patch.example.com (config), which answered with a patch that does not fit "
            "the test object");
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, AFaultLeavesItOnItsRung) {
  using kube::FaultKind;
  make("/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"refused"},"spec":{"selector":{"a":"b"},"ports":[{"port":443}]}})");
  make("/api/v1/namespaces/default/services", R"({"metadata":{"name":"port"},"spec":{"ports":[{"port":80}]}})");
  serve("eof", breaking("EOF"));
  serve("strange", answering(R"({"allowed":true})"), "another authority");
  serve("name", breaking("tls: failed to verify certificate: x509: certificate is valid for a, not b"));
  serve("plain", breaking("http: server gave HTTP response to HTTPS client"));
  serve("path", answering_http(404));
  serve("busy", answering_http(503));
  std::vector<std::tuple<std::string, Rung, FaultKind>> all = {
      {"missing", Rung::in_effect, FaultKind::webhook_service_missing},
      {"port", Rung::in_effect, FaultKind::webhook_port_missing},
      {"refused", Rung::in_effect, FaultKind::webhook_refused},
      {"eof", Rung::reachable, FaultKind::webhook_hung_up},
      {"strange", Rung::reachable, FaultKind::webhook_untrusted},
      {"name", Rung::reachable, FaultKind::webhook_wrong_certificate},
      {"plain", Rung::reachable, FaultKind::webhook_not_https},
      {"path", Rung::trusted, FaultKind::webhook_path_missing},
      {"busy", Rung::trusted, FaultKind::webhook_busy},
  };
  auto prove = prover();
  for (const auto& [name, rung, kind] : all) {
    Proof proof = proof_of(prove->mirror(target(name), 0));
    EXPECT_TRUE(proof.proved) << name << ": " << proof.why_not;
    EXPECT_EQ(name_of(proof.rung), name_of(rung)) << name;
    ASSERT_TRUE(proof.fault) << name;
    EXPECT_EQ(name_of(proof.fault->kind), name_of(kind)) << name;
  }
  Proof missing = proof_of(prove->mirror(target("missing"), 0));
  EXPECT_EQ(missing.evidence,
            "the API server called webhook missing.example.com (config) (https://missing.default.svc:443/validate): " +
                missing.fault->explanation);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, AnErrorIsAnAnswerToo) {
  auto prove = prover();
  for (int status : {400, 500}) {
    std::string name = fmt::format("error-{}", status);
    serve(name, answering_http(status));
    Proof proof = proof_of(prove->mirror(target(name), 0));
    EXPECT_TRUE(proof.reached(Rung::answering)) << status;
    EXPECT_FALSE(proof.fault);
  }
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, LaterTriesOnlyProbe) {
  auto prove = prover();
  EXPECT_EQ(proof_of(prove->mirror(target("hook"), 0)).rung, Rung::in_effect);
  size_t asked = front_.requests.size();
  EXPECT_EQ(proof_of(prove->mirror(target("hook"), 0)).rung, Rung::in_effect);
  serve("hook", answering(R"({"allowed":true})"));
  size_t arranged = front_.requests.size();
  EXPECT_EQ(arranged, asked + 3);
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).reached(Rung::answering));
  EXPECT_EQ(front_.requests.size(), arranged + 1);
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, GuardsAreMirroredSideBySideAndShareWhatIsTheSame) {
  serve("one", answering(R"({"allowed":true})"));
  auto prove = prover();
  auto run = [&]() -> Task<void> {
    Scope scope(loop_, co_await current_cancel());
    auto expect = [](Task<Outcome<Proof>> task, Rung rung) -> Task<void> {
      Outcome<Proof> proof = co_await std::move(task);
      EXPECT_TRUE(proof && proof->proved && proof->rung == rung);
    };
    for (int i = 0; i < 5; ++i) scope.spawn(expect(prove->mirror(target("one"), 0), Rung::answering));
    for (int i = 0; i < 5; ++i) scope.spawn(expect(prove->mirror(target("two"), 0), Rung::in_effect));
    co_await scope.join();
  };
  loop_.run(run());
  EXPECT_EQ(shadows().size(), 2u);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, AfterATimeOutItIsGivenItsOwnTime) {
  serve("slow", slow(4s));
  auto prove = prover();
  TimePoint started = loop_.now();
  Proof first = proof_of(prove->mirror(target("slow", 7), 0));
  EXPECT_TRUE(first.proved);
  EXPECT_EQ(first.rung, Rung::in_effect);
  ASSERT_TRUE(first.fault);
  EXPECT_EQ(name_of(first.fault->kind), name_of(kube::FaultKind::webhook_timeout));
  EXPECT_LT(loop_.now() - started, 2s);
  EXPECT_TRUE(proof_of(prove->mirror(target("slow", 7), 0)).reached(Rung::answering));
  EXPECT_EQ(shadows().size(), 1u) << "the one with the short time is gone";
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, AShadowThatSomebodyRemovesIsMadeAgainUnderAnotherName) {
  serve("hook", answering(R"({"allowed":true})"));
  auto prove = prover();
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).proved);
  std::vector<std::string> before = shadows();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_TRUE(wait(client_.remove(resources_of(GuardKind::mutating_webhooks)[0], "", before[0])));
  pass(1s);
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).reached(Rung::answering));
  ASSERT_EQ(shadows().size(), 1u);
  EXPECT_NE(shadows(), before);
  // And before others may remove it.
  before = shadows();
  pass(55min);
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).reached(Rung::answering));
  EXPECT_NE(shadows(), before);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

// Other runs may remove it once its time is over.
TEST_F(ShadowTest, AMirrorIsReplacedBeforeItsTimeIsOver) {
  serve("hook", answering(R"({"allowed":true})"));
  auto prove = prover("r", {.run = {}, .life = 10h});
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).reached(Rung::answering));
  std::vector<std::string> first = shadows();
  ASSERT_EQ(first.size(), 1u);
  pass(8h);
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).reached(Rung::answering));
  EXPECT_EQ(shadows(), first);
  pass(90min);
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 0)).reached(Rung::answering));
  pass(1min);
  EXPECT_EQ(shadows().size(), 1u);
  EXPECT_NE(shadows(), first);
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, NamesThatAreInUseAreLeftAlone) {
  make(path_of(true), R"({"metadata":{"name":"0-fairlead-shadow-r-2"}})");
  auto prove = prover();
  EXPECT_TRUE(proof_of(prove->mirror(target("none"), 0)).proved);
  EXPECT_THAT(shadows(), testing::ElementsAre("0-fairlead-shadow-r-2", "0-fairlead-shadow-r-3"));
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), testing::ElementsAre("0-fairlead-shadow-r-2"));
}

TEST_F(ShadowTest, WhatAnswersBeforeTheShadowLeavesNothingProved) {
  Json first = guard("0-a", true);
  Json& rule = (*first.make("webhooks").if_array())[0].make("rules");
  rule = parsed(R"([{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}])");
  make(path_of(true), first.dump());
  pass(1s);
  auto prove = prover();
  Proof proof = proof_of(prove->mirror(target("none"), 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_FALSE(proof.hopeless);
  EXPECT_THAT(proof.why_not, testing::StartsWith("the test request failed before it reached the temporary webhook: "));
  ASSERT_TRUE(proof.fault && proof.fault->webhook);
  EXPECT_EQ(proof.fault->webhook->name, "guard.example.com");
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, EveryEndpointHasToListen) {
  serve("hook", answering(R"({"allowed":true})"));
  std::string other_name =
      "tls: failed to verify certificate: x509: cannot validate certificate for 10.244.0.9 because it doesn't contain "
      "any IP SANs";
  sandbox_.webhooks().serve("https://10.244.0.9:8443/validate", breaking(other_name));
  std::vector<Endpoint> endpoints = {{"10.244.0.9", 8443}, {"10.244.0.10", 8443}};
  auto prove = prover();
  Proof proof = proof_of(prove->mirror_endpoints(target("hook"), endpoints, 1));
  EXPECT_TRUE(proof.proved);
  EXPECT_EQ(proof.rung, Rung::in_effect);
  EXPECT_THAT(proof.evidence, HasSubstr("webhook hook.example.com (config) at 10.244.0.10:8443"));
  ASSERT_TRUE(proof.fault);
  EXPECT_EQ(name_of(proof.fault->kind), name_of(kube::FaultKind::webhook_refused));
  sandbox_.webhooks().serve("https://10.244.0.10:8443/validate", breaking(other_name));
  proof = proof_of(prove->mirror_endpoints(target("hook"), endpoints, 1));
  EXPECT_TRUE(proof.reached(Rung::reachable));
  EXPECT_FALSE(proof.reached(Rung::trusted));
  EXPECT_EQ(proof.evidence, "all 2 endpoints answered for webhook hook.example.com (config)");
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, EndpointsThatTheApiServerCannotReachByAddressProveNothing) {
  serve("hook", answering(R"({"allowed":true})"));
  sandbox_.webhooks().serve("https://10.244.0.9:8443/validate", slow(1min));
  sandbox_.webhooks().serve("https://[fd00::9]:8443/validate", slow(1min));
  auto prove = prover();
  Proof proof = proof_of(prove->mirror_endpoints(target("hook"), {{"10.244.0.9", 8443}, {"fd00::9", 8443}}, 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_FALSE(proof.hopeless);
  EXPECT_EQ(proof.why_not,
            "the API server cannot reach any endpoint of webhook hook.example.com (config) by its own address");
  // If only one of them is silent, it does not listen.
  sandbox_.webhooks().serve("https://[fd00::9]:8443/validate", answering(R"({"allowed":true})"));
  proof = proof_of(prove->mirror_endpoints(target("hook"), {{"10.244.0.9", 8443}, {"fd00::9", 8443}}, 0));
  EXPECT_TRUE(proof.proved);
  EXPECT_EQ(proof.rung, Rung::in_effect);
  EXPECT_FALSE(proof_of(prove->mirror_endpoints(target("hook"), {}, 0)).proved);
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, AConverterAnswersByNotKnowingTheReview) {
  serve("convert", [](http::Request) -> Task<Result<http::Response>> {
    co_return http::Response{200,
                             {{"Content-Type", "application/json"}},
                             R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{}})",
                             0};
  });
  Json definition = parsed(
      R"({"metadata":{"name":"widgets.example.com"},"spec":{"conversion":{"strategy":"Webhook","webhook":{
          "conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"default","name":"convert"}}}}}})");
  std::optional<Target> converter = conversion_target_of(definition);
  ASSERT_TRUE(converter);
  auto prove = prover();
  Proof proof = proof_of(prove->mirror(*converter, 0));
  EXPECT_TRUE(proof.reached(Rung::answering)) << proof.evidence;
  EXPECT_THAT(proof.evidence, HasSubstr("conversion webhook of widgets.example.com"));
  loop_.run(prove->clean_up());
  EXPECT_FALSE(conversion_target_of(parsed(R"({"spec":{"conversion":{"strategy":"None"}}})")));
}

TEST(Target, TakesAddressAndTrustOfAWebhook) {
  Json configuration = Json::parse(
                           R"({"kind":"ValidatingWebhookConfiguration","metadata":{"name":"config"},"webhooks":[
          {"name":"a.example.com","timeoutSeconds":5,"admissionReviewVersions":["v1","v1beta1"],
           "clientConfig":{"caBundle":"QQ==","service":{"namespace":"ns","name":"svc","path":"/p"}}},
          {"name":"b.example.com","clientConfig":{"url":"https://example.com/hook"}}]})")
                           .value();
  std::vector<admission::Webhook> hooks = admission::read_webhooks(configuration);
  Target service = target_of(hooks[0]);
  EXPECT_EQ(service.name, "webhook a.example.com (config)");
  EXPECT_EQ(service.client_config.dump(),
            R"({"service":{"namespace":"ns","name":"svc","path":"/p","port":443},"caBundle":"QQ=="})");
  EXPECT_EQ(service.review_versions, (std::vector<std::string>{"v1", "v1beta1"}));
  EXPECT_EQ(service.timeout_seconds, 5);
  EXPECT_EQ(target_of(hooks[1]).client_config.dump(), R"({"url":"https://example.com/hook"})");
}

TEST(Stamp, NamesAreThoseOfTheRun) {
  EXPECT_EQ(plain_run("Deploy_42"), "deploy-42");
  EXPECT_EQ(plain_run("--'}; true || '--"), "true");
  EXPECT_EQ(plain_run(""), "run");
  EXPECT_EQ(plain_run(std::string(100, 'x')).size(), 30u);
  Stamp stamp{"r", 7, WallTime(1'800'000'000s)};
  EXPECT_EQ(stamp.name(), "0-fairlead-shadow-r-7");
  EXPECT_EQ(stamp.guest(), "m7-1800000000.r.marker.fairlead.dev");
  std::optional<Ownership> owner = guest_ownership(stamp.guest());
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->run, "r");
  EXPECT_EQ(owner->expires, stamp.expires);
  for (std::string_view other :
       {"m7-1800000000.r.marker.example.com", "m7.r.marker.fairlead.dev", "", ".marker.fairlead.dev",
        "m7-x.r.marker.fairlead.dev", "m7-99999999999999999999.r.marker.fairlead.dev", "m-.r.marker.fairlead.dev"})
    EXPECT_FALSE(guest_ownership(other)) << other;
  Json object = mirror_object(stamp, {}, 1);
  owner = shadow_ownership(object);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->run, "r");
  EXPECT_EQ(owner->expires, stamp.expires);
}

}  // namespace
}  // namespace fairlead::readiness
