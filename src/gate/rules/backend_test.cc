#include "gate/rules/backend.h"

#include <gmock/gmock.h>

#include "gate/rules/rules_testing.h"

namespace fairlead::gate {
namespace {

using Kind = Finding::Kind;
using Came = CallResult::Kind;

class BackendTest : public testing::Test {
 protected:
  Look look(const Hook& of = hook()) const {
    Surroundings around{.known = true, .service = &service_, .slices = {&slice_}};
    return look_at(of, around);
  }
  Finding found(const Hook& of = hook()) const { return look(of).finding.value_or(Finding{.kind = Kind::works}); }
  Finding judged(std::vector<Came> results, bool has_worked = false) const {
    std::vector<CallResult> calls;
    for (Came one : results) calls.push_back({.kind = one, .text = "the text"});
    return judge(hook(), look(), calls, has_worked);
  }

  Json service_ = parsed(R"({"metadata":{"name":"hook","namespace":"shop"},
      "spec":{"clusterIP":"10.96.0.7","ports":[{"name":"https","port":443,"targetPort":9443}]}})");
  Json slice_ = parsed(R"({"metadata":{"name":"hook-1","namespace":"shop",
      "labels":{"kubernetes.io/service-name":"hook"}},"ports":[{"name":"https","port":9443}],
      "endpoints":[{"addresses":["10.1.0.1"],"conditions":{"ready":true}}]})");
};

TEST_F(BackendTest, says_what_to_call_and_how) {
  Look what = look();
  EXPECT_FALSE(what.finding);
  EXPECT_THAT(what.addresses, testing::ElementsAre(Address{"10.1.0.1", 9443}));
  EXPECT_EQ(what.cluster_address, (Address{"10.96.0.7", 443}));
  EXPECT_EQ(what.server_name, "hook.shop.svc");
  EXPECT_EQ(what.path, "/check");
  EXPECT_TRUE(what.ca.starts_with("-----BEGIN CERTIFICATE-----"));
}

TEST_F(BackendTest, has_seen_nothing_before_the_namespace_is_listed) {
  EXPECT_EQ(look_at(hook(), {}).finding, Finding());
}

TEST_F(BackendTest, proves_a_service_that_is_missing) {
  Surroundings around{.known = true, .service = nullptr, .slices = {}};
  EXPECT_EQ(look_at(hook(), around).finding,
            (Finding{Kind::failing, "service shop/hook does not exist", "kubectl -n shop get services"}));
}

TEST_F(BackendTest, proves_a_port_that_is_missing) {
  service_.make("spec").make("ports") = parsed(R"([{"port":8443}])");
  EXPECT_EQ(found(),
            (Finding{Kind::failing, "service shop/hook has no port 443", "kubectl -n shop get service hook -o yaml"}));
}

TEST_F(BackendTest, proves_that_no_endpoint_is_ready) {
  slice_.make("endpoints") = parsed(R"([{"addresses":["10.1.0.1"],"conditions":{"ready":false,"serving":false}}])");
  EXPECT_EQ(found(), (Finding{Kind::failing, "service shop/hook has no ready endpoint",
                              "kubectl -n shop get endpointslices -l kubernetes.io/service-name=hook"}));
}

TEST_F(BackendTest, calls_endpoints_that_drain_if_there_is_no_other) {
  slice_.make("endpoints") =
      parsed(R"([{"addresses":["10.1.0.2"],"conditions":{"ready":false,"serving":true,"terminating":true}}])");
  EXPECT_THAT(look().addresses, testing::ElementsAre(Address{"10.1.0.2", 9443}));
}

TEST_F(BackendTest, lets_pass_what_only_api_servers_know) {
  EXPECT_EQ(found(hook(R"({"clientConfig":{"url":"https://x.example.com/v"}})")).kind, Kind::unproved);
  service_.make("spec").make("type") = "ExternalName";
  EXPECT_EQ(found().kind, Kind::unproved);
}

TEST_F(BackendTest, a_certificate_without_a_bundle_is_doubtful) {
  Hook bare = hook(R"({"clientConfig":{"service":{"namespace":"shop","name":"hook"}}})");
  auto judged = [&](Came came) { return judge(bare, look(bare), {{.kind = came, .text = "the text"}}, false); };
  EXPECT_FALSE(look(bare).finding);
  EXPECT_EQ(judged(Came::refused).cause, "service shop/hook does not accept connections");
  EXPECT_EQ(
      judged(Came::untrusted),
      (Finding{Kind::doubtful,
               "it has no caBundle yet, and the gate does not know which authorities API servers trust without one",
               "kubectl get ValidatingWebhookConfiguration shop -o yaml"}));
  EXPECT_EQ(judged(Came::unsure).kind, Kind::unproved);
  EXPECT_EQ(judged(Came::answered).kind, Kind::works);
}

TEST_F(BackendTest, proves_that_a_bundle_is_a_placeholder_or_awaits_its_injector) {
  Json client = parsed(R"({"clientConfig":{"service":{"namespace":"shop","name":"hook"},"caBundle":"Cg=="}})");
  EXPECT_EQ(found(hook(client.dump())), (Finding{Kind::failing, "its caBundle has no certificate in it",
                                                 "kubectl get ValidatingWebhookConfiguration shop -o yaml"}));
  client.make("clientConfig").if_object()->erase("caBundle");
  Hook injected = hook(client.dump(), R"({"annotations":{"cert-manager.io/inject-ca-from":"shop/cert"}})");
  EXPECT_EQ(found(injected).cause, "its caBundle is not injected yet");
}

TEST_F(BackendTest, works_if_all_answer) { EXPECT_EQ(judged({Came::answered, Came::answered}).kind, Kind::works); }

TEST_F(BackendTest, does_not_come_up_before_no_endpoint_fails) {
  Finding some = judged({Came::answered, Came::refused});
  EXPECT_EQ(some.kind, Kind::failing);
  EXPECT_EQ(some.cause, "service shop/hook does not accept connections (1 of 2 endpoints)");
  EXPECT_EQ(judged({Came::answered, Came::unsure}).kind, Kind::works);
}

TEST_F(BackendTest, is_gone_only_once_every_endpoint_fails) {
  EXPECT_EQ(judged({Came::answered, Came::refused}, true).kind, Kind::works);
  EXPECT_EQ(judged({Came::unsure, Came::refused}, true).kind, Kind::unproved);
  EXPECT_EQ(judged({Came::refused, Came::untrusted}, true).kind, Kind::failing);
}

TEST_F(BackendTest, proves_a_certificate_that_does_not_verify) {
  Finding finding = judged({Came::untrusted});
  EXPECT_EQ(finding.kind, Kind::failing);
  EXPECT_EQ(finding.cause, "the certificate of service shop/hook does not verify: the text");
  EXPECT_EQ(finding.next, "fairlead wait webhook/shop --timeout 30s");
}

TEST_F(BackendTest, is_in_doubt_after_a_time_out) {
  EXPECT_EQ(judged({Came::unsure}),
            (Finding{Kind::unproved, "the gate got no answer from hook.shop.svc: the text", ""}));
}

}  // namespace
}  // namespace fairlead::gate
