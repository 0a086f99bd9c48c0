#include "certs/engine.h"

#include "certs/sandbox_testing.h"
#include "kube/interceptor_testing.h"

namespace fairlead::certs {
namespace {

using testing::ElementsAre;
using Verdict = Evidence::Verdict;

class EngineTest : public CertsTest {
 protected:
  std::string rotation(Begin begin = Begin::now) {
    Engine engine = this->engine();
    Result<Rotated> rotated = loop_.run(engine.rotate(begin));
    if (!rotated) return rotated.error().report();
    std::string text;
    for (const Taken& taken : rotated->taken) text += fmt::format("{}\n", name_of(taken.step));
    for (const std::string& line : rotated->evidence) text += line + "\n";
    return text;
  }
  // A pair that is stored, and trusted by a configuration.
  Material installed() {
    configure("shop", {hook("v.shop.example.com")});
    Engine engine = this->engine();
    Material material = ensured(engine).material;
    EXPECT_TRUE(loop_.run(engine.inject(material)).value().is_complete());
    return material;
  }
};

TEST_F(EngineTest, MakesBothSecretsAndThenKeepsThem) {
  Engine engine = this->engine();
  Ensured first = ensured(engine);
  ASSERT_EQ(first.taken.size(), 1u);
  EXPECT_EQ(first.taken[0].step, Step::create);
  EXPECT_THAT(said_, ElementsAre("Secret shop/hook-cert: make a CA and a certificate: no certificate is stored"));
  Json serving = secret(), authority = secret("hook-cert-ca");
  EXPECT_EQ(serving["type"].string_or(""), "kubernetes.io/tls");
  EXPECT_TRUE(ensured(engine).taken.empty());
  EXPECT_EQ(secret(), serving);
  EXPECT_EQ(secret("hook-cert-ca"), authority);
}

// Gatekeeper's replicas overwrote each other's pairs.
TEST_F(EngineTest, SeveralReplicasAgreeOnOnePair) {
  std::vector<Engine> engines;
  for (int i = 0; i < 5; ++i) engines.push_back(engine());
  std::vector<Material> seen;
  Scope scope(loop_, nullptr);
  auto run = [&](Engine& engine) -> Task<void> {
    Result<Ensured> result = co_await engine.ensure();
    if (result) seen.push_back(result->material);
    else ADD_FAILURE() << result.error().report();
  };
  for (Engine& engine : engines) scope.spawn(run(engine));
  loop_.run(scope.join());
  ASSERT_EQ(seen.size(), 5u);
  for (const Material& material : seen) {
    EXPECT_EQ(material.chain, seen[0].chain);
    EXPECT_EQ(material.ca->certificate, seen[0].ca->certificate);
  }
  // One of them wrote.
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(EngineTest, ASecretThatIsEmptyIsFilledAndKeepsItsType) {
  send(
      "POST", "/api/v1/namespaces/shop/secrets",
      R"({"apiVersion":"v1","kind":"Secret","type":"example.com/odd","metadata":{"name":"hook-cert","labels":{"a":"b"}},
           "data":{"tls.crt":"","other":"AAAA"}})");
  Engine engine = this->engine();
  ensured(engine);
  Json after = secret();
  EXPECT_EQ(after["type"].string_or(""), "example.com/odd");
  EXPECT_EQ(after["data"]["other"].string_or(""), "AAAA");
  EXPECT_EQ(after["metadata"]["labels"].dump(), R"({"a":"b"})");
  EXPECT_EQ(judge(read_material(after, secret("hook-cert-ca")), spec_, now()).step, Step::keep);
}

TEST_F(EngineTest, APrivateKeyOfSomebodyElseIsNeverThrownAway) {
  x509::KeyPair ca = x509::make_ca("an ingress", 90 * kDay, now()).value();
  x509::KeyPair leaf = x509::make_leaf(ca, {.dns_names = {"shop.example.com"}}, now()).value();
  Json secret = Json::Object{{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "kubernetes.io/tls"}};
  secret.make("metadata").make("name") = "hook-cert";
  secret.make("data").make("tls.key") = to_base64(leaf.key.to_pem());
  secret.make("data").make("tls.crt") = to_base64(leaf.certificate.to_pem());
  send("POST", "/api/v1/namespaces/shop/secrets", secret.dump());
  Json before = this->secret();
  Engine engine = this->engine();
  EXPECT_EQ(loop_.run(engine.ensure()).error().report(),
            "error: no certificate is made: there is no ca.crt\n"
            "  because   Secret shop/hook-cert is not changed\n"
            "  because   it has a private key that was not made for Service shop/hook\n"
            "  next      use another Secret; or, if nobody needs it: kubectl -n shop delete secret hook-cert\n");
  EXPECT_EQ(this->secret(), before);
}

TEST_F(EngineTest, ThePairOfAnotherServiceIsNotReplaced) {
  Engine engine = this->engine();
  ensured(engine);
  Json before = secret();
  spec_.service = "hok";
  Engine mistaken = this->engine();
  Result<Ensured> result = loop_.run(mistaken.ensure());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().root().message(), "it has a private key that was not made for Service shop/hok");
  EXPECT_EQ(secret(), before);
}

TEST_F(EngineTest, AnImmutableSecretIsAnErrorThatSaysWhatToDo) {
  send("POST", "/api/v1/namespaces/shop/secrets",
       R"({"apiVersion":"v1","kind":"Secret","immutable":true,"metadata":{"name":"hook-cert"}})");
  Engine engine = this->engine();
  EXPECT_EQ(loop_.run(engine.ensure()).error().report(),
            "error: Secret shop/hook-cert cannot be changed: it is immutable\n"
            "  next      kubectl -n shop delete secret hook-cert\n");
}

TEST_F(EngineTest, ADeletedSecretComesBackFromMemoryWithoutANewCa) {
  Engine engine = this->engine();
  Material before = ensured(engine).material;
  remove_secret("hook-cert");
  remove_secret("hook-cert-ca");
  Ensured healed = ensured(engine);
  ASSERT_EQ(healed.taken.size(), 1u);
  EXPECT_TRUE(healed.taken[0].healed);
  EXPECT_EQ(healed.material.chain, before.chain);
  EXPECT_EQ(healed.material.ca->certificate, before.ca->certificate);
  EXPECT_EQ(said_.back(), "Secret shop/hook-cert: brought back as it was");
  // Without a memory, the CA that is stored signs a new leaf.
  remove_secret("hook-cert");
  Engine other = this->engine();
  EXPECT_EQ(ensured(other).material.ca->certificate, before.ca->certificate);
}

TEST_F(EngineTest, WhileTheFormerSecretIsStillBeingDeletedTheNewOneIsTriedAgain) {
  kube::Interceptor network(sandbox_.api_server());
  int refused = 0;
  network.answers = [&](const http::Request& request) -> std::optional<http::Answer> {
    if (request.method != "POST" || ++refused > 2) return std::nullopt;
    return kube::refusal(409, "AlreadyExists", "object is being deleted: secrets \\\"hook-cert-ca\\\" already exists");
  };
  kube::Client client(loop_, network, nullptr, {});
  Engine engine(client, spec_, {}, proofs_, {});
  EXPECT_EQ(ensured(engine).taken.size(), 1u);
  EXPECT_TRUE(has_secret("hook-cert") && has_secret("hook-cert-ca"));
  EXPECT_GT(refused, 2);
}

TEST_F(EngineTest, APairThatIsSpoiledWhileItsCaIsDeletedKeepsTheCa) {
  Engine engine = this->engine();
  Material before = ensured(engine).material;
  remove_secret("hook-cert-ca");
  Json spoiled = secret();
  spoiled.make("data").make("tls.crt") = to_base64("nonsense");
  send("PUT", "/api/v1/namespaces/shop/secrets/hook-cert", spoiled.dump());
  Ensured healed = ensured(engine);
  EXPECT_EQ(healed.material.ca->certificate, before.ca->certificate);
  EXPECT_EQ(healed.material.bundle, before.bundle);
  EXPECT_EQ(healed.judgement.step, Step::keep);
}

TEST_F(EngineTest, TheKeyOfACaIsNotReplacedByACertificate) {
  Engine engine = this->engine();
  ensured(engine);
  Json before = secret("hook-cert-ca");
  spec_.secret = "hook-cert-ca";
  Engine mistaken = this->engine();
  EXPECT_EQ(loop_.run(mistaken.ensure()).error().report(),
            "error: no certificate is made: there is no ca.crt\n"
            "  because   Secret shop/hook-cert-ca is not changed\n"
            "  because   it has the key of the CA of Service shop/hook\n"
            "  next      use another Secret for the certificate\n");
  EXPECT_EQ(secret("hook-cert-ca"), before);
}

TEST_F(EngineTest, APairIsNotReplacedByTheKeyOfACa) {
  spec_.secret = "hook-cert-ca";
  Engine engine = this->engine();
  ensured(engine);
  Json before = secret("hook-cert-ca");
  spec_.secret = "hook-cert";
  Engine mistaken = this->engine();
  EXPECT_EQ(loop_.run(mistaken.ensure()).error().report(),
            "error: Secret shop/hook-cert-ca is not changed\n"
            "  because   it has a private key that is not a CA's, and the CA of Secret shop/hook-cert belongs there\n"
            "  next      use another Secret; or, if nobody needs it: kubectl -n shop delete secret hook-cert-ca\n");
  EXPECT_EQ(secret("hook-cert-ca"), before);
  EXPECT_FALSE(has_secret("hook-cert"));
}

TEST_F(EngineTest, WhatIsForbiddenIsNamed) {
  forbids = [](std::string_view verb, std::string_view resource) { return resource == "secrets" && verb == "create"; };
  Engine engine = this->engine();
  std::string error = loop_.run(engine.ensure()).error().message();
  EXPECT_TRUE(error.starts_with("cannot write Secret shop/hook-cert-ca: ")) << error;
  EXPECT_FALSE(error.contains("PRIVATE"));
}

TEST_F(EngineTest, ADryRunStoresNothing) {
  Engine engine(client_, spec_, {}, proofs_, {.dry_run = true});
  EXPECT_EQ(ensured(engine).taken.size(), 1u);
  EXPECT_FALSE(has_secret("hook-cert"));
  EXPECT_FALSE(has_secret("hook-cert-ca"));
}

TEST_F(EngineTest, ARotationReplacesTheCaInProvedSteps) {
  Material old = installed();
  // What the cluster holds at each proof: the old CA is trusted until the new leaf is served, and the leaf is switched
  // only after both are trusted.
  std::vector<std::string> states;
  proofs_.before_answer = [&] {
    Material material = read_material(*sandbox_.core().store.find({"", "secrets"}, {"shop", "hook-cert"}),
                                      *sandbox_.core().store.find({"", "secrets"}, {"shop", "hook-cert-ca"}));
    states.push_back(
        fmt::format("{} trusted, leaf {}", material.bundle.size(), material.chain == old.chain ? "old" : "new"));
  };
  EXPECT_EQ(rotation(),
            "begin-rotation\npublish\nswitch-leaf\nretire\n"
            "both CAs are trusted: seen\n"
            "the new certificate is served: seen\n");
  EXPECT_THAT(states, ElementsAre("2 trusted, leaf old", "2 trusted, leaf new"));
  EXPECT_THAT(proofs_.asked, ElementsAre("in use: 1", "served: 1 of shop/hook:443, patiently"));
  EXPECT_THAT(said_, testing::IsSupersetOf({"waiting for a proof that API servers trust the new CA",
                                            "waiting until every endpoint of Service shop/hook serves the new "
                                            "certificate, for at most 5m"}));
  Material now = read_material(secret(), secret("hook-cert-ca"));
  EXPECT_NE(now.ca->certificate, old.ca->certificate);
  EXPECT_EQ(bundle("shop"), now.ca->certificate.to_pem());
  EXPECT_EQ(judge(now, spec_, this->now()).step, Step::keep);
}

TEST_F(EngineTest, AStepThatSomebodyElseTookMeanwhileIsNotTakenAgain) {
  installed();
  Material theirs;
  // Another replica switches to the new CA while this one waits for the proof.
  proofs_.meanwhile = [&]() -> Task<void> {
    Store store(client_, spec_);
    Stored stored = (co_await store.read()).value();
    Change change = take_step(Step::switch_leaf, stored.material, spec_, now()).value();
    theirs = change.after;
    EXPECT_TRUE((co_await store.write(stored, change)).value());
  };
  EXPECT_EQ(rotation(),
            "begin-rotation\npublish\nretire\n"
            "both CAs are trusted: seen\n"
            "the new certificate is served: seen\n");
  EXPECT_EQ(read_material(secret(), secret("hook-cert-ca")).chain, theirs.chain);
}

TEST_F(EngineTest, TheNextOneFinishesARotationThatStoppedAnywhere) {
  Material old = installed();
  for (int stops_at = 0; stops_at < 3; ++stops_at) {
    Store store(client_, spec_);
    Stored stored = loop_.run(store.read()).value();
    for (Step step : {Step::begin_rotation, Step::publish, Step::switch_leaf}) {
      ASSERT_TRUE(loop_.run(store.write(stored, take_step(step, stored.material, spec_, now()).value())).value());
      stored = loop_.run(store.read()).value();
      if (int(step) - int(Step::begin_rotation) == stops_at) break;
    }
    rotation(Begin::never);
    Material now = read_material(secret(), secret("hook-cert-ca"));
    EXPECT_EQ(judge(now, spec_, this->now()).step, Step::keep) << stops_at;
    EXPECT_EQ(now.ca->certificate, stored.material.ca->certificate) << stops_at;
    EXPECT_EQ(bundle("shop"), now.ca->certificate.to_pem()) << stops_at;
  }
  // With one under way, asking for a rotation finishes that one.
  Store store(client_, spec_);
  Stored stored = loop_.run(store.read()).value();
  Change begun = take_step(Step::begin_rotation, stored.material, spec_, now()).value();
  ASSERT_TRUE(loop_.run(store.write(stored, begun)).value());
  rotation(Begin::now);
  EXPECT_EQ(read_material(secret(), secret("hook-cert-ca")).ca->certificate, begun.after.ca->certificate);
}

TEST_F(EngineTest, OnlyFinishingARotationNeverMakesAnything) {
  EXPECT_EQ(rotation(Begin::never), "");
  EXPECT_FALSE(has_secret("hook-cert"));
  // A pair that is due, and whose CA cannot sign another one.
  Store store(client_, spec_);
  Stored none = loop_.run(store.read()).value();
  ASSERT_TRUE(loop_.run(store.write(none, {.after = adopted(spec_, now()), .writes_serving = true})).value());
  pass(3630 * kDay);
  EXPECT_EQ(rotation(Begin::never), "");
  EXPECT_FALSE(has_secret("hook-cert-ca"));
  EXPECT_EQ(rotation(Begin::if_due),
            "begin-rotation\npublish\nswitch-leaf\nretire\nthe new certificate is served: seen\n");
}

TEST_F(EngineTest, WaitsWhereNothingCanBeProved) {
  installed();
  proofs_.use = {Verdict::unknown, "RuntimeClasses may not be created"};
  proofs_.serving = {Verdict::unknown, "endpoint 10.0.0.1:9443 cannot be reached from here"};
  TimePoint before = loop_.now();
  EXPECT_EQ(rotation(),
            "begin-rotation\npublish\nswitch-leaf\nretire\n"
            "waiting 30s because it cannot be proved that API servers trust the new CA: RuntimeClasses may not be "
            "created\n"
            "waiting 2m because it cannot be proved that every endpoint serves the new certificate: endpoint "
            "10.0.0.1:9443 cannot be reached from here\n");
  EXPECT_GE(loop_.now() - before, kInUseWait + kServedWait);
}

TEST_F(EngineTest, KeepsTheOldCaWhileAnEndpointServesTheOldCertificate) {
  Material old = installed();
  proofs_.serving = {Verdict::refuted, "endpoint 10.0.0.1:9443: certificate is signed by unknown authority \"x\""};
  EXPECT_EQ(rotation(),
            "error: the old CA is not removed yet\n"
            "  because   the old certificate is still served after 5m\n"
            "  because   endpoint 10.0.0.1:9443: certificate is signed by unknown authority \"x\"\n"
            "  next      fairlead certs rotate continues once that is solved\n");
  EXPECT_TRUE(bundle("shop").contains(old.ca->certificate.to_pem()));
  proofs_.serving = {Verdict::proved, "seen"};
  EXPECT_EQ(rotation(Begin::never), "retire\nthe new certificate is served: seen\n");
  EXPECT_FALSE(bundle("shop").contains(old.ca->certificate.to_pem()));
}

TEST_F(EngineTest, DoesNotSwitchWhileSomebodyElseKeepsTheOldCaInAConfiguration) {
  Material old = installed();
  configure("mine", {hook("v.mine.example.com", "hook", member(old.ca->certificate.to_pem()))}, "Mutating", "{}",
            "argo");
  EXPECT_EQ(
      rotation(),
      "error: the certificate is not switched to the new CA yet\n"
      "  because   not everything that calls the Service trusts the new CA\n"
      "  because   webhook v.mine.example.com of MutatingWebhookConfiguration mine: its caBundle is owned by argo\n"
      "  next      fairlead certs rotate continues once that is solved\n");
  EXPECT_EQ(read_material(secret(), Json()).chain, old.chain);
  EXPECT_EQ(bundle("mine", "mutatingwebhookconfigurations"), old.ca->certificate.to_pem());
}

TEST_F(EngineTest, APairOfSomebodyElseIsRotatedToACaOfOurs) {
  Material theirs = adopted(spec_, now());
  Store store(client_, spec_);
  Stored none = loop_.run(store.read()).value();
  ASSERT_TRUE(loop_.run(store.write(none, {.after = theirs, .writes_serving = true})).value());
  Engine engine = this->engine();
  EXPECT_EQ(ensured(engine).judgement.step, Step::keep);
  EXPECT_FALSE(has_secret("hook-cert-ca"));
  EXPECT_EQ(rotation(), "begin-rotation\npublish\nswitch-leaf\nretire\nthe new certificate is served: seen\n");
}

}  // namespace
}  // namespace fairlead::certs
