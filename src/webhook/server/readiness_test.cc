#include "webhook/server/readiness.h"

#include "base/base64.h"
#include "webhook/server/callers.h"
#include "webhook/server/server_testing.h"

namespace fairlead::webhook {
namespace {

struct ReadinessTest : testing::Test {
  x509::KeyPair ca = test_ca();
  x509::KeyPair leaf = test_leaf(ca);
  std::shared_ptr<const certs::ServingPair> pair = serving_pair(ca, leaf);
  Evidence evidence{.served = pair->chain, .stored = pair, .host = std::string(kHost), .callers = std::nullopt};

  Assessment now(Duration later = {}) const { return assess(evidence, RealClock().wall_now() + later); }
  static Caller caller(std::string bundle, bool is_own = true) {
    return {.configuration = "ValidatingWebhookConfiguration w, webhook v",
            .is_own = is_own,
            .ca_bundle = std::move(bundle)};
  }
};

TEST_F(ReadinessTest, WithoutAClusterAPairThatVerifiesIsEnough) {
  EXPECT_EQ(now().not_ready, "");
  EXPECT_THAT(now(48h).not_ready, testing::StartsWith("a test: certificate has expired: it was valid until "));
}

TEST_F(ReadinessTest, WithoutAnAuthorityThePairHasToBeValidAndForTheHost) {
  auto alone = std::make_shared<certs::ServingPair>(*pair);
  alone->ca.clear();
  evidence.stored = alone;
  EXPECT_EQ(now().not_ready, "");
  EXPECT_THAT(now(48h).not_ready, testing::StartsWith("a test: certificate has expired: it was valid until "));
  EXPECT_THAT(now(-48h).not_ready, testing::StartsWith("a test: certificate is not yet valid: it will be from "));
  evidence.host = "other.team.svc";
  EXPECT_EQ(now().not_ready, "a test: certificate is valid for hook.team.svc, localhost, not other.team.svc");
  x509::KeyPair client = test_leaf(ca, {.usages = {x509::Usage::client}});
  alone->chain = {client.certificate};
  evidence.served = alone->chain;
  evidence.host = kHost;
  EXPECT_EQ(now().not_ready, "a test: certificate is not for use by a server");
}

TEST_F(ReadinessTest, AServerThatCannotBeReachedIsNotReady) {
  evidence.served = fail(ErrorKind::unavailable, "connection refused");
  EXPECT_EQ(now().not_ready, "the server cannot be reached: connection refused");
}

TEST(Doubt, AServerThatWorkedIsNotDoubtedForAHandshakeOrTwo) {
  EXPECT_FALSE(is_doubtful(0, true));
  EXPECT_TRUE(is_doubtful(1, true));
  EXPECT_TRUE(is_doubtful(2, true));
  EXPECT_FALSE(is_doubtful(3, true));
  EXPECT_FALSE(is_doubtful(1, false));
}

TEST_F(ReadinessTest, AReplicaThatKeepsTheOldPairIsNotReady) {
  evidence.stored = serving_pair(ca, test_leaf(ca));
  EXPECT_EQ(now().not_ready, "another certificate is served than the one that is stored");
}

TEST_F(ReadinessTest, EveryBundleOfItsOwnHasToVerify) {
  std::string good = to_base64(ca.certificate.to_pem());
  evidence.callers = Callers{.found = {caller(good), caller(good)}, .missing = {}};
  EXPECT_EQ(now().not_ready, "");
  evidence.callers =
      Callers{.found = {caller(good), caller(to_base64(test_ca("other").certificate.to_pem()))}, .missing = {}};
  EXPECT_THAT(
      now().not_ready,
      testing::StartsWith("what is served does not verify against the caBundle of ValidatingWebhookConfiguration "
                          "w, webhook v: "));
  evidence.callers = Callers{.found = {caller("")}, .missing = {}};
  EXPECT_EQ(now().not_ready, "ValidatingWebhookConfiguration w, webhook v has no caBundle yet");
  evidence.callers = Callers{.found = {caller("*")}, .missing = {}};
  EXPECT_EQ(now().not_ready,
            "the caBundle of ValidatingWebhookConfiguration w, webhook v cannot be read: it is not base64");
}

TEST_F(ReadinessTest, AForeignConfigurationWithAWrongBundleIsOnlyWarnedAbout) {
  evidence.callers = Callers{.found = {caller("", false)}, .missing = {}};
  EXPECT_EQ(now().not_ready, "");
  EXPECT_THAT(now().warnings, testing::ElementsAre("ValidatingWebhookConfiguration w, webhook v has no caBundle yet"));
}

TEST_F(ReadinessTest, AServerThatAConfigurationOfItsOwnDoesNotCallIsNotReady) {
  EXPECT_TRUE(now().is_registered);
  std::string good = to_base64(ca.certificate.to_pem());
  evidence.callers = Callers{.found = {caller(good)}, .missing = {"there is no w", "x calls another"}};
  EXPECT_EQ(now().not_ready, "there is no w");
  EXPECT_FALSE(now().is_registered);
  // Also where the server cannot be reached: nobody may rely on it.
  evidence.served = fail(ErrorKind::unavailable, "connection refused");
  EXPECT_EQ(now().not_ready, "the server cannot be reached: connection refused");
  EXPECT_FALSE(now().is_registered);
  evidence.callers = Callers{.found = {caller(good)}, .missing = {}};
  EXPECT_TRUE(now().is_registered);
}

TEST_F(ReadinessTest, ConfigurationsThatCannotBeReadAreNoProof) {
  evidence.callers = Result<Callers>(fail(ErrorKind::denied, "forbidden"));
  EXPECT_EQ(now().not_ready, "the webhook configurations cannot be read: forbidden");
  EXPECT_FALSE(now().is_registered);
}

const ServiceName kService{.ns = "team", .name = "hook"};

std::string found_in(std::string_view object, const Own& own) {
  std::string text;
  for (const Caller& caller : callers_in(Json::parse(object).value(), kService, own))
    text += fmt::format("{} {} {}\n", caller.is_own ? "own" : "foreign", caller.configuration, caller.ca_bundle);
  return text;
}

TEST(Callers, AreTheWebhooksThatPointToTheService) {
  constexpr std::string_view kConfiguration = R"({"kind":"ValidatingWebhookConfiguration","metadata":{"name":"widgets"},
    "webhooks":[
      {"name":"a","clientConfig":{"caBundle":"QQ==","service":{"name":"hook","namespace":"team","path":"/validate"}}},
      {"name":"b","clientConfig":{"service":{"name":"hook","namespace":"team","path":"/elsewhere"}}},
      {"name":"c","clientConfig":{"service":{"name":"hook","namespace":"other","path":"/validate"}}},
      {"name":"d","clientConfig":{"url":"https://hook.team.svc/validate"}}]})";
  EXPECT_EQ(found_in(kConfiguration, {.configurations = {}, .paths = {"/validate"}}),
            "own ValidatingWebhookConfiguration widgets, webhook a QQ==\n"
            "foreign ValidatingWebhookConfiguration widgets, webhook b \n");
  EXPECT_EQ(found_in(kConfiguration, {.configurations = {"widgets"}, .paths = {}}),
            "own ValidatingWebhookConfiguration widgets, webhook a QQ==\n"
            "own ValidatingWebhookConfiguration widgets, webhook b \n");
  EXPECT_EQ(found_in(kConfiguration, {.configurations = {"others"}, .paths = {"/validate"}}),
            "foreign ValidatingWebhookConfiguration widgets, webhook a QQ==\n"
            "foreign ValidatingWebhookConfiguration widgets, webhook b \n");
}

TEST(Callers, EveryConfigurationOfItsOwnHasToCallTheService) {
  auto configuration = [](std::string_view name, std::string_view service) {
    return Json::parse(fmt::format(R"({{"kind":"ValidatingWebhookConfiguration","metadata":{{"name":"{}"}},"webhooks":[
      {{"name":"a","clientConfig":{{"service":{{"name":"{}","namespace":"team","path":"/validate"}}}}}}]}})",
                                   name, service))
        .value();
  };
  std::vector<Json> stored{configuration("widgets", "hook"), configuration("others", "other")};
  auto missing = [&](const Own& own) { return callers_in(stored, kService, own).missing; };
  EXPECT_THAT(missing({.configurations = {"widgets"}, .paths = {}}), testing::IsEmpty());
  EXPECT_THAT(missing({.configurations = {"widgets", "others", "nope"}, .paths = {"/validate"}}),
              testing::ElementsAre("the webhook configuration others does not call Service team/hook",
                                   "there is no ValidatingWebhookConfiguration or MutatingWebhookConfiguration nope"));
  EXPECT_EQ(callers_in(stored, kService, {.configurations = {"widgets"}, .paths = {}}).found.size(), 1U);
  // Without names, any that calls a path will do.
  EXPECT_THAT(missing({.configurations = {}, .paths = {"/validate"}, .needs_one = true}), testing::IsEmpty());
  EXPECT_THAT(
      missing({.configurations = {}, .paths = {"/mutate"}, .needs_one = true}),
      testing::ElementsAre("no webhook configuration calls one of the paths of this server at Service team/hook"));
  EXPECT_THAT(missing({.configurations = {}, .paths = {"/mutate"}}), testing::IsEmpty());
}

TEST(Callers, ConversionCounts) {
  EXPECT_EQ(
      found_in(R"({"kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"conversion":
              {"webhook":{"clientConfig":{"caBundle":"QQ==","service":{"name":"hook","namespace":"team","path":"/convert"}}}}}})",
               {.configurations = {"widgets"}, .paths = {"/convert"}}),
      "own CustomResourceDefinition widgets.example.com QQ==\n");
}

TEST(Callers, AnEndpointCountsWhileItIsReady) {
  auto slices = [](std::string_view conditions) {
    return std::vector{Json::parse(fmt::format(R"({{"endpoints":[{{"addresses":["10.0.0.2"]}},
      {{"addresses":["10.0.0.1"],"conditions":{}}}]}})",
                                               conditions))
                           .value()};
  };
  EXPECT_TRUE(leads_to(slices(R"({"ready":true})"), "10.0.0.1"));
  EXPECT_TRUE(leads_to(slices("{}"), "10.0.0.1"));
  EXPECT_FALSE(leads_to(slices(R"({"ready":false,"serving":true,"terminating":true})"), "10.0.0.1"));
  EXPECT_FALSE(leads_to(slices("{}"), "10.0.0.3"));
}

}  // namespace
}  // namespace fairlead::webhook
