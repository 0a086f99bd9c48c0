#include "certs/inject.h"

#include "certs/sandbox_testing.h"

namespace fairlead::certs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const WallTime kNow(std::chrono::sys_days(std::chrono::January / 1 / 2030));

x509::Certificate authority(std::string_view name) { return x509::make_ca(name, 100 * kDay, kNow)->certificate; }

std::string composed(const std::vector<x509::Certificate>& before, const std::vector<x509::Certificate>& wanted,
                     bool retire = false) {
  return compose(to_base64(x509::to_pem(before)), wanted, hook_spec(), retire);
}

TEST(Compose, CertificatesOfOthersStay) {
  x509::Certificate ours = authority("hook.shop.svc CA"), foreign = authority("corp root");
  EXPECT_EQ(compose("", {ours}, hook_spec(), false), ours.to_pem());
  EXPECT_EQ(compose("Cg==", {ours}, hook_spec(), false), ours.to_pem());
  EXPECT_EQ(composed({foreign}, {ours}, true), ours.to_pem() + foreign.to_pem());
  EXPECT_EQ(composed({ours, foreign}, {ours}, true), ours.to_pem() + foreign.to_pem());
}

// Kyverno's bundles grew with each rotation.
TEST(Compose, OldOnesOfOursGoOnceNobodyUsesThem) {
  x509::KeyPair old = x509::make_ca("hook.shop.svc CA", 100 * kDay, kNow).value();
  x509::Certificate renewed = x509::renew_ca(old, 200 * kDay, kNow)->certificate, other = authority("hook.shop.svc CA");
  EXPECT_EQ(composed({old.certificate}, {other}), other.to_pem() + old.certificate.to_pem());
  EXPECT_EQ(composed({old.certificate}, {other}, true), other.to_pem());
  // A renewal verifies whatever its predecessor does.
  EXPECT_EQ(composed({old.certificate}, {renewed}), renewed.to_pem());
  Place place;
  place.ca_bundle = to_base64(old.certificate.to_pem());
  EXPECT_TRUE(trusts_all(place, {renewed}));
  EXPECT_FALSE(trusts_all(place, {renewed, other}));
  EXPECT_FALSE(has_stale(place, {renewed}, hook_spec()));
  EXPECT_TRUE(has_stale(place, {other}, hook_spec()));
}

TEST(Compose, WhatCannotBeReadIsPassedOver) {
  x509::Certificate ours = authority("hook.shop.svc CA"), foreign = authority("corp root");
  std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(compose(to_base64(broken + foreign.to_pem() + "-----BEGIN CERTIFICATE-----\n"), {ours}, hook_spec(), false),
            ours.to_pem() + foreign.to_pem());
  EXPECT_EQ(compose("!", {ours}, hook_spec(), false), ours.to_pem());
}

class InjectTest : public CertsTest {
 protected:
  InjectReport inject(std::vector<x509::Certificate> wanted, InjectOptions options = {}, Targets targets = {}) {
    auto report = loop_.run(certs::inject(client_, spec_, std::move(targets), std::move(wanted), std::move(options)));
    if (!report) ADD_FAILURE() << report.error().report();
    return report ? *std::move(report) : InjectReport{};
  }

  x509::Certificate ca_ = authority("hook.shop.svc CA");
  x509::Certificate other_ = authority("corp root");
};

TEST_F(InjectTest, OnlyHooksOfOurServiceAreWrittenAndOnlyOnDifference) {
  configure("shop", {hook("a.example.com"), hook("b.example.com", "other"), hook("c.example.com")});
  configure("other", {hook("d.example.com", "other")});
  EXPECT_EQ(shown(inject({ca_})),
            "injected webhook a.example.com of ValidatingWebhookConfiguration shop\n"
            "injected webhook c.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_EQ(bundle("shop"), ca_.to_pem());
  EXPECT_EQ(bundle("shop", "validatingwebhookconfigurations", 1), "");
  EXPECT_EQ(bundle("shop", "validatingwebhookconfigurations", 2), ca_.to_pem());
  Json before = configuration("shop");
  InjectReport again = inject({ca_});
  EXPECT_EQ(again.writes, 0u);
  EXPECT_EQ(configuration("shop"), before);
  // The rest of a hook stays the owner's.
  EXPECT_EQ(before["webhooks"].item(0)["failurePolicy"].string_or(""), "Fail");
}

TEST_F(InjectTest, AHookThatIsAddedLaterGetsItsBundleAndTheOthersKeepTheirs) {
  configure("shop", {hook("a.example.com")});
  inject({ca_});
  Json object = configuration("shop");
  object.make("webhooks").if_array()->push_back(*Json::parse(hook("b.example.com")));
  send("PUT", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop?fieldManager=helm",
       object.dump());
  EXPECT_EQ(shown(inject({ca_})),
            "unchanged webhook a.example.com of ValidatingWebhookConfiguration shop\n"
            "injected webhook b.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_EQ(bundle("shop"), ca_.to_pem());
  EXPECT_EQ(bundle("shop", "validatingwebhookconfigurations", 1), ca_.to_pem());
}

TEST_F(InjectTest, ReachesEveryKind) {
  configure("m", {hook("m.example.com")}, "Mutating");
  send(
      "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"berths.shop.example.com"},
           "spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"berths","kind":"Berth"},
           "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}],
           "conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
           "clientConfig":{"service":{"namespace":"shop","name":"hook","port":8443}}}}}})");
  send("POST", "/apis/apiregistration.k8s.io/v1/apiservices",
       R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.quay.example.com"},
           "spec":{"group":"quay.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":100,
           "service":{"namespace":"shop","name":"hook"}}})");
  send("POST", "/apis/apiregistration.k8s.io/v1/apiservices",
       R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.rash.example.com"},
           "spec":{"group":"rash.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":100,
           "insecureSkipTLSVerify":true,"service":{"namespace":"shop","name":"hook"}}})");
  InjectReport report = inject({ca_});
  EXPECT_EQ(shown(report),
            "injected webhook m.example.com of MutatingWebhookConfiguration m\n"
            "injected CustomResourceDefinition berths.shop.example.com\n"
            "injected APIService v1.quay.example.com\n"
            "left APIService v1.rash.example.com: insecureSkipTLSVerify is set, and does not allow a caBundle\n");
  EXPECT_EQ(report.places[1].place.service.port, 8443);
  EXPECT_EQ(inject({ca_}).writes, 0u);
  Json definition = send("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/berths.shop.example.com");
  EXPECT_EQ(definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].string_or(""),
            to_base64(ca_.to_pem()));
  Json service = send("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.quay.example.com");
  EXPECT_EQ(service["spec"]["caBundle"].string_or(""), to_base64(ca_.to_pem()));
}

// Argo CD, Istio and Sail fought over the field.
TEST_F(InjectTest, ABundleOfSomebodyElseIsLeftAndReported) {
  configure("shop", {hook("a.example.com", "hook", member(other_.to_pem()))}, "Validating", "{}", "argo");
  InjectReport report = inject({ca_});
  EXPECT_EQ(shown(report),
            "left webhook a.example.com of ValidatingWebhookConfiguration shop: its caBundle is owned by argo\n");
  EXPECT_FALSE(report.is_complete());
  EXPECT_EQ(bundle("shop"), other_.to_pem());
  // One that has what is needed needs nothing from us.
  EXPECT_TRUE(inject({other_}).is_complete());
  EXPECT_EQ(shown(inject({ca_}, {.force = true})),
            "injected webhook a.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_EQ(bundle("shop"), ca_.to_pem() + other_.to_pem());
}

TEST_F(InjectTest, APlaceholderIsReplaced) {
  configure("shop", {hook("a.example.com", "hook", member("\n"))});
  EXPECT_EQ(shown(inject({ca_})), "injected webhook a.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_EQ(bundle("shop"), ca_.to_pem());
}

// Does something before the next apply is carried out.
class BeforeApply final : public http::Transport {
 public:
  explicit BeforeApply(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method == "PATCH" && meanwhile) co_await std::exchange(meanwhile, nullptr)();
    co_return co_await to_.open(std::move(request));
  }
  std::function<Task<void>()> meanwhile;

 private:
  http::Transport& to_;
};

TEST_F(InjectTest, AConfigurationThatIsReplacedMeanwhileIsReadAgain) {
  configure("shop", {hook("a.example.com")});
  std::string path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  BeforeApply network(sandbox_.api_server());
  network.meanwhile = [&]() -> Task<void> {
    EXPECT_TRUE(co_await client_.request({.method = "DELETE", .target = path + "/shop"}));
    EXPECT_TRUE(co_await client_.request(
        {.method = "POST",
         .target = path,
         .content_type = "application/json",
         .body = fmt::format(R"({{"metadata":{{"name":"shop"}},"webhooks":[{}]}})", hook("b.example.com"))}));
  };
  kube::Client client(loop_, network, nullptr, {});
  Result<InjectReport> report = loop_.run(certs::inject(client, spec_, {}, {ca_}, {}));
  ASSERT_TRUE(report) << report.error().report();
  EXPECT_EQ(shown(*report), "injected webhook b.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_EQ(bundle("shop"), ca_.to_pem());
}

TEST_F(InjectTest, WhatCainjectorKeepsIsLeftToIt) {
  configure("shop", {hook("a.example.com")}, "Validating", R"({"cert-manager.io/inject-ca-from":"shop/serving"})");
  EXPECT_EQ(shown(inject({ca_}, {.force = true})),
            "left webhook a.example.com of ValidatingWebhookConfiguration shop: annotations leave it to cert-manager's "
            "cainjector\n");
  EXPECT_EQ(bundle("shop"), "");
}

TEST_F(InjectTest, AnOldCaThatCannotBeRemovedIsNotTriedAgainAndAgain) {
  configure("shop", {hook("a.example.com", "hook", member(ca_.to_pem()))}, "Validating",
            R"({"cert-manager.io/inject-ca-from":"shop/serving"})");
  EXPECT_FALSE(inject({authority("hook.shop.svc CA")}).has_stale);
}

TEST_F(InjectTest, OnlyWhatIsNamed) {
  configure("shop", {hook("a.example.com")});
  configure("more", {hook("b.example.com")});
  configure("m", {hook("m.example.com")}, "Mutating");
  EXPECT_EQ(shown(inject({ca_}, {}, {.webhooks = {"shop", "m", "gone"}, .definitions = {"x.example.com"}})),
            "injected webhook a.example.com of ValidatingWebhookConfiguration shop\n"
            "injected webhook m.example.com of MutatingWebhookConfiguration m\n"
            "ValidatingWebhookConfiguration gone does not exist\n"
            "CustomResourceDefinition x.example.com does not exist\n");
  EXPECT_EQ(bundle("more"), "");
}

TEST_F(InjectTest, WhatMayNotBeReadOrWrittenIsNamed) {
  configure("shop", {hook("a.example.com")});
  forbids = [](std::string_view verb, std::string_view resource) {
    return resource == "apiservices" || (verb == "patch" && resource == "validatingwebhookconfigurations");
  };
  InjectReport report = inject({ca_});
  ASSERT_EQ(report.unreadable.size(), 1u);
  EXPECT_TRUE(report.unreadable[0].starts_with("apiservices cannot be read: ")) << report.unreadable[0];
  ASSERT_EQ(report.places.size(), 1u);
  EXPECT_EQ(report.places[0].how, Injection::How::left);
  EXPECT_FALSE(report.places[0].why.empty());
}

TEST_F(InjectTest, ANamedConfigurationNeedsNoRightToTheOtherKind) {
  configure("shop", {hook("a.example.com")});
  forbids = [](std::string_view, std::string_view resource) { return resource == "mutatingwebhookconfigurations"; };
  InjectReport report = inject({ca_}, {}, {.webhooks = {"shop"}});
  EXPECT_EQ(shown(report), "injected webhook a.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_TRUE(report.is_complete());
  // One that is not found may be of the kind that cannot be read.
  EXPECT_EQ(inject({ca_}, {}, {.webhooks = {"gone"}}).unreadable.size(), 1u);
}

TEST_F(InjectTest, ADryRunWritesNothing) {
  configure("shop", {hook("a.example.com")});
  EXPECT_EQ(shown(inject({ca_}, {.dry_run = true})),
            "injected webhook a.example.com of ValidatingWebhookConfiguration shop\n");
  EXPECT_EQ(bundle("shop"), "");
}

TEST_F(InjectTest, OldCasAreRetiredOnceThatIsProved) {
  configure("shop", {hook("a.example.com")});
  Engine engine = this->engine();
  Material material = ensured(engine).material;
  inject({ca_});  // an earlier CA of ours
  proofs_.serving = {Evidence::Verdict::refuted, "still served"};
  EXPECT_TRUE(loop_.run(engine.inject(material))->has_stale);
  EXPECT_EQ(bundle("shop"), material.ca->certificate.to_pem() + ca_.to_pem());
  EXPECT_THAT(proofs_.asked, ElementsAre("served: 1 of shop/hook:443, once"));
  proofs_.serving = {Evidence::Verdict::proved, "served"};
  EXPECT_FALSE(loop_.run(engine.inject(material))->has_stale);
  EXPECT_EQ(bundle("shop"), material.ca->certificate.to_pem());
  proofs_.asked.clear();
  EXPECT_TRUE(loop_.run(engine.inject(material)).has_value());
  EXPECT_THAT(proofs_.asked, IsEmpty());
}

TEST_F(InjectTest, ADryRunRetiresNothingAndSaysSo) {
  configure("shop", {hook("a.example.com")});
  Engine engine = this->engine();
  Material material = ensured(engine).material;
  inject({ca_});  // an earlier CA of ours
  proofs_.serving = {Evidence::Verdict::proved, "served"};
  std::string before = bundle("shop");
  Engine dry(client_, spec_, {}, proofs_, {.dry_run = true});
  EXPECT_TRUE(loop_.run(dry.inject(material))->has_stale);
  EXPECT_THAT(proofs_.asked, IsEmpty());
  EXPECT_EQ(bundle("shop"), before);
}

}  // namespace
}  // namespace fairlead::certs
