#include "certs/verify.h"

#include "certs/sandbox_testing.h"
#include "certs/show.h"

namespace fairlead::certs {
namespace {

const WallTime kNow(std::chrono::sys_days(std::chrono::March / 4 / 2026) + 5h);

std::string checked(const Material& material, std::optional<std::string> bundle = {}, WallTime now = kNow) {
  return findings_text(check_pair(material, hook_spec(), bundle, now));
}

TEST(CheckPair, NamesEveryMismatch) {
  Material good = fresh(hook_spec(), kNow), other = fresh(hook_spec(), kNow);
  EXPECT_EQ(checked(good),
            "ok       Secret shop/hook-cert: valid until 2036-03-01T05:00:00Z\neverything fits together\n");
  EXPECT_EQ(checked(good, to_base64(good.bundle.front().to_pem())), checked(good));
  EXPECT_EQ(checked(good, good.bundle.front().to_pem()), checked(good));
  EXPECT_EQ(checked({}),
            "wrong    Secret shop/hook-cert: there is no tls.crt\n"
            "wrong    Secret shop/hook-cert: there is no tls.key\n"
            "wrong    Secret shop/hook-cert: there is no ca.crt\n"
            "3 of 3 checks failed\n");
  Material mixed = good;
  mixed.key = other.key;
  mixed.bundle = other.bundle;
  EXPECT_EQ(
      checked(mixed, good.bundle.front().to_pem()),
      "wrong    Secret shop/hook-cert: tls.key does not belong to tls.crt\n"
      "wrong    Secret shop/hook-cert: ca.crt does not verify tls.crt: certificate is signed by unknown authority "
      "\"hook.shop.svc CA\": an authority of that name is trusted, but it has another key\n"
      "wrong    Secret shop/hook-cert: ca.crt and the given caBundle have no CA in common\n"
      "3 of 3 checks failed\n");
  EXPECT_EQ(checked(good, "nonsense"),
            "wrong    Secret shop/hook-cert: the given caBundle holds no certificate\n1 of 1 checks failed\n");
  EXPECT_EQ(checked(good, {}, kNow + 3640 * kDay),
            "wrong    Secret shop/hook-cert: tls.crt expires on 2036-03-01T05:00:00Z, in less than 30 days\n"
            "1 of 1 checks failed\n");
}

class VerifyTest : public CertsTest {
 protected:
  std::string verified(const Material& material) {
    auto findings = loop_.run(verify(client_, spec_, {}, material, {}, proofs_));
    return findings ? findings_text(*findings) : findings.error().report();
  }
};

TEST_F(VerifyTest, ComparesTheCertificateWithEveryBundleAndWithWhatIsServed) {
  Engine engine = this->engine();
  Material material = ensured(engine).material;
  Material other = fresh(spec_, now());
  configure("a", {hook("a.example.com")});
  EXPECT_TRUE(loop_.run(engine.inject(material)).has_value());
  configure("b", {hook("b.example.com", "hook", member(other.bundle.front().to_pem())), hook("c.example.com")});
  proofs_.serving = {Evidence::Verdict::unknown, "endpoint 10.0.0.1:9443 cannot be reached from here"};
  EXPECT_EQ(
      verified(material),
      "ok       Secret shop/hook-cert: valid until 2039-12-30T00:00:00Z\n"
      "ok       webhook a.example.com of ValidatingWebhookConfiguration a: its caBundle verifies the certificate\n"
      "wrong    webhook b.example.com of ValidatingWebhookConfiguration b: its caBundle does not verify the "
      "certificate: certificate is signed by unknown authority \"hook.shop.svc CA\": an authority of that name is "
      "trusted, but it has another key\n"
      "wrong    webhook c.example.com of ValidatingWebhookConfiguration b: its caBundle holds no certificate\n"
      "unknown  Service shop/hook: what is served is not known: endpoint 10.0.0.1:9443 cannot be reached from "
      "here\n"
      "2 of 5 checks failed\n");
}

TEST_F(VerifyTest, WithoutACallerOrAnEndpointNotEverythingFitsTogether) {
  Engine engine = this->engine();
  Material material = ensured(engine).material;
  proofs_.serving = {Evidence::Verdict::proved, "service shop/hook has no ready endpoint", true};
  EXPECT_EQ(verified(material),
            "ok       Secret shop/hook-cert: valid until 2039-12-30T00:00:00Z\n"
            "wrong    targets: nothing calls Service shop/hook: no webhook, CRD or APIService among those that were "
            "read names it\n"
            "unknown  Service shop/hook: service shop/hook has no ready endpoint\n"
            "1 of 3 checks failed\n");
  configure("a", {hook("a.example.com")});
  EXPECT_TRUE(loop_.run(engine.inject(material)).has_value());
  EXPECT_TRUE(verified(material).ends_with("nothing is wrong, and 1 of 3 checks could not be made\n"));
}

TEST_F(VerifyTest, ShowsCertificatesWithoutTheirKeys) {
  Engine engine = this->engine();
  Ensured made = ensured(engine);
  Summary summary{.spec = spec_, .material = made.material, .next = made.judgement, .taken = made.taken};
  const x509::Certificate &leaf = made.material.chain.front(), &ca = made.material.bundle.front();
  EXPECT_EQ(certificates_text(summary),
            fmt::format("certificate in Secret shop/hook-cert\n"
                        "  subject      hook.shop.svc\n"
                        "  names        hook, hook.shop, hook.shop.svc, hook.shop.svc.cluster.local\n"
                        "  issuer       hook.shop.svc CA\n"
                        "  valid        2029-12-31T23:55:00Z to 2039-12-30T00:00:00Z\n"
                        "  serial       {}\n"
                        "  fingerprint  sha256:{}\n"
                        "CA in Secret shop/hook-cert\n"
                        "  subject      hook.shop.svc CA\n"
                        "  issuer       hook.shop.svc CA\n"
                        "  valid        2029-12-31T23:55:00Z to 2039-12-30T00:00:00Z\n"
                        "  serial       {}\n"
                        "  fingerprint  sha256:{}\n"
                        "  key          in Secret shop/hook-cert-ca\n"
                        "next: nothing\n"
                        "  because      the certificate is valid until 2039-12-30T00:00:00Z\n"
                        "  renewed from 2039-11-30T00:00:00Z\n",
                        leaf.serial(), leaf.sha256_fingerprint(), ca.serial(), ca.sha256_fingerprint()));
  std::string json = json_of(summary).dump();
  EXPECT_FALSE(json.contains("PRIVATE"));
  EXPECT_TRUE(json.contains(R"("next":{"step":"keep","text":"nothing",)")) << json;
  EXPECT_TRUE(json.contains(R"("taken":[{"step":"create","reason":"no certificate is stored"}])")) << json;
}

TEST_F(VerifyTest, ShowsWhereTheCaWasWritten) {
  Engine engine = this->engine();
  Material material = ensured(engine).material;
  configure("a", {hook("a.example.com")});
  Summary summary{.spec = spec_, .material = material, .places = loop_.run(engine.inject(material))->places};
  EXPECT_EQ(places_text(summary.places, false),
            "webhook a.example.com of ValidatingWebhookConfiguration a: injected\n");
  EXPECT_EQ(json_of(summary)["places"].dump(),
            R"([{"kind":"ValidatingWebhookConfiguration","name":"a","webhook":"a.example.com","state":"injected",)"
            R"("why":""}])");
}

}  // namespace
}  // namespace fairlead::certs
