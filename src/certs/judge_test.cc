#include "certs/judge.h"

#include <gmock/gmock.h>

#include "base/base64.h"
#include "certs/certs_testing.h"

namespace fairlead::certs {
namespace {

using testing::ElementsAre;

const WallTime kNow(std::chrono::sys_days(std::chrono::March / 4 / 2026) + 5h);

Material after(Step step, const Material& material, const Spec& spec, WallTime now) {
  Result<Change> change = take_step(step, material, spec, now);
  if (!change) ADD_FAILURE() << change.error().report();
  return change ? change->after : material;
}

bool serves_under(const Material& material, const std::vector<x509::Certificate>& roots, const Spec& spec,
                  WallTime now) {
  return !flaw_of(material, roots, spec, now);
}

TEST(Spec, NamesTheServiceInEveryForm) {
  Spec spec = hook_spec();
  spec.cluster_domain = "corp.example";
  EXPECT_THAT(spec.dns_names(), ElementsAre("hook", "hook.shop", "hook.shop.svc", "hook.shop.svc.corp.example"));
  EXPECT_EQ(spec.ca_name(), "hook.shop.svc CA");
  EXPECT_EQ(spec.ca_secret(), "hook-cert-ca");
}

TEST(Spec, ALongNameFitsIntoTheSubjectOfACa) {
  Spec spec = hook_spec(), other = hook_spec();
  spec.service = std::string(60, 'a') + "x";
  other.service = std::string(60, 'a') + "y";
  EXPECT_EQ(spec.ca_name().size(), 63u);
  EXPECT_NE(spec.ca_name(), other.ca_name());
  Material made = fresh(spec, kNow);
  EXPECT_EQ(made.chain.front().subject().common_name, "");
  EXPECT_EQ(judged(made, spec, kNow), "keep: the certificate is valid until 2036-03-01T05:00:00Z");
}

TEST(Spec, SaysWhatCannotBe) {
  auto error = [](auto change) {
    Spec spec = hook_spec();
    change(spec);
    Result<void> checked = check(spec);
    return checked ? "fine" : checked.error().message();
  };
  EXPECT_EQ(error([](Spec&) {}), "fine");
  EXPECT_EQ(error([](Spec& spec) { spec.validity = 20 * kDay; }),
            "certificates that are valid for 480h cannot be renewed 720h before their end");
  EXPECT_EQ(error([](Spec& spec) { spec.validity = 1s; }), "a validity of 1s is too short: give a minute at least");
  EXPECT_EQ(error([](Spec& spec) { spec.cluster_domain = ""; }), "the cluster domain is empty");
  EXPECT_EQ(error([](Spec& spec) { spec.cluster_domain = std::string(250, 'x'); }),
            "hook.shop.svc." + std::string(250, 'x') + " is too long for a DNS name");
  EXPECT_EQ(error([](Spec& spec) { spec.service = "Hook_X.y"; }),
            "the name of the Service \"Hook_X.y\" is no DNS label: it has at most 63 lower-case letters, digits and "
            "'-', and starts and ends with a letter or digit");
  EXPECT_TRUE(error([](Spec& spec) { spec.service = "hook.x"; }).contains("\"hook.x\" is no DNS label: "));
  EXPECT_EQ(error([](Spec& spec) { spec.secret = "Hook"; }),
            "the name of the Secret \"Hook\" is no DNS name: it has at most 253 lower-case letters, digits, '-' and "
            "'.', and each part of it starts and ends with a letter or digit");
  EXPECT_NE(error([](Spec& spec) { spec.secret = std::string(251, 'x'); }), "fine");
  EXPECT_NE(error([](Spec& spec) { spec.cluster_domain = "a b"; }), "fine");
  EXPECT_NE(error([](Spec& spec) { spec.secret = "a/b"; }), "fine");
  EXPECT_NE(error([](Spec& spec) { spec.service = ""; }), "fine");
  EXPECT_NE(error([](Spec& spec) { spec.ns = "No"; }), "fine");
  EXPECT_EQ(default_renew_before(3650 * kDay), 30 * kDay);
  EXPECT_EQ(default_renew_before(9 * kDay), 3 * kDay);
}

TEST(Judge, MakesWhatIsNotThere) {
  Spec spec = hook_spec();
  EXPECT_EQ(judged({}, spec, kNow), "create: no certificate is stored");
  Change made = take_step(Step::create, {}, spec, kNow).value();
  EXPECT_TRUE(made.writes_ca && made.writes_serving);
  EXPECT_EQ(made.after.bundle, std::vector{made.after.ca->certificate});
  EXPECT_EQ(made.after.chain.front().dns_names(), spec.dns_names());
  EXPECT_EQ(judged(made.after, spec, kNow), "keep: the certificate is valid until 2036-03-01T05:00:00Z");
  EXPECT_EQ(judge(made.after, spec, kNow).due, kNow + 3620 * kDay);
}

TEST(Judge, AnEmptySecretIsNoSecret) {
  Json empty = *Json::parse(R"({"kind":"Secret","data":{"tls.crt":"","tls.key":"","ca.crt":""}})");
  EXPECT_EQ(judged(read_material(empty, Json()), hook_spec(), kNow), "create: no certificate is stored");
}

TEST(Judge, ACaThatIsStoredSignsTheFirstLeaf) {
  Spec spec = hook_spec();
  Material only_ca{.ca = fresh(spec, kNow).ca};
  Change made = take_step(Step::create, only_ca, spec, kNow).value();
  EXPECT_FALSE(made.writes_ca);
  EXPECT_EQ(made.after.ca->certificate, only_ca.ca->certificate);
  EXPECT_EQ(judge(made.after, spec, kNow).step, Step::keep);
}

TEST(Judge, KeepsAPairOfSomebodyElseForAsLongAsItLasts) {
  Spec spec = hook_spec();
  EXPECT_EQ(judge(adopted(spec, kNow), spec, kNow).step, Step::keep);
  EXPECT_EQ(judged(adopted(spec, kNow), spec, kNow + 3621 * kDay),
            "begin-rotation: the CA expires on 2036-03-01T05:00:00Z; the key of its CA is not stored, so a new CA is "
            "needed");
}

TEST(Judge, RenewsTheLeafThirtyDaysBeforeItsEnd) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow);
  spec.validity = 90 * kDay;
  material = after(Step::renew_leaf, material, spec, kNow);
  EXPECT_EQ(judge(material, spec, kNow + 60 * kDay - 1s).step, Step::keep);
  EXPECT_EQ(judged(material, spec, kNow + 60 * kDay), "renew-leaf: the certificate expires on 2026-06-02T05:00:00Z");
  Material renewed = after(Step::renew_leaf, material, spec, kNow + 60 * kDay);
  EXPECT_EQ(renewed.bundle, material.bundle);
  EXPECT_EQ(renewed.chain.front().not_after(), kNow + 150 * kDay);
}

TEST(Judge, TheCaIsRenewedWithItsKeySoThatOldAndNewVerifyEachOther) {
  Spec spec = hook_spec();
  Material old = fresh(spec, kNow);
  WallTime later = kNow + 3621 * kDay;
  EXPECT_EQ(judged(old, spec, later), "renew-ca: the CA expires on 2036-03-01T05:00:00Z");
  Change change = take_step(Step::renew_ca, old, spec, later).value();
  EXPECT_TRUE(change.writes_ca && change.writes_serving);
  EXPECT_EQ(change.after.bundle, std::vector{change.after.ca->certificate});
  EXPECT_TRUE(serves_under(change.after, old.bundle, spec, later));
  EXPECT_TRUE(serves_under(old, change.after.bundle, spec, later));
  EXPECT_EQ(judge(change.after, spec, later).step, Step::keep);
}

TEST(Judge, OfSeveralCasThatFitTheOneThatLastsLongestCounts) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow);
  x509::Certificate longest = material.ca->certificate;
  x509::Certificate shorter = x509::renew_ca(*material.ca, 40 * kDay, kNow)->certificate;
  for (const auto& bundle : {std::vector{longest, shorter}, {shorter, longest}}) {
    material.bundle = bundle;
    EXPECT_EQ(judged(material, spec, kNow + 20 * kDay), "keep: the certificate is valid until 2036-03-01T05:00:00Z");
  }
}

TEST(Judge, NoLeafOutlivesItsCa) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow);
  x509::KeyPair shorter = x509::renew_ca(*material.ca, 100 * kDay, kNow).value();
  material.ca = shorter;
  material.bundle = {shorter.certificate};
  EXPECT_EQ(judged(material, spec, kNow), "renew-ca: the CA ends on 2026-06-12T05:00:00Z, before the certificate");
  Material leaf = after(Step::renew_leaf, material, spec, kNow);
  EXPECT_EQ(leaf.chain.front().not_after(), kNow + 100 * kDay);
}

TEST(Judge, EveryNameCounts) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow);
  spec.cluster_domain = "corp.example";
  EXPECT_EQ(judged(material, spec, kNow), "renew-leaf: the certificate is not valid for hook.shop.svc.corp.example");
  EXPECT_EQ(judge(after(Step::renew_leaf, material, spec, kNow), spec, kNow).step, Step::keep);
  material.ca.reset();
  EXPECT_EQ(judge(material, spec, kNow).step, Step::begin_rotation);
}

TEST(Judge, WhatCannotWorkIsReplacedAtOnce) {
  Spec spec = hook_spec();
  Material good = fresh(spec, kNow), other = fresh(spec, kNow);
  auto broken = [&](auto change) {
    Material material = good;
    change(material);
    return judged(material, spec, kNow);
  };
  EXPECT_EQ(broken([&](Material& m) { m.key = other.key; }), "replace: tls.key does not belong to tls.crt");
  EXPECT_EQ(broken([&](Material& m) { m.key.reset(); }), "replace: there is no tls.key");
  EXPECT_EQ(broken([&](Material& m) { m.chain.clear(); }), "replace: there is no tls.crt");
  EXPECT_EQ(broken([&](Material& m) { m.bundle.clear(); }), "replace: there is no ca.crt");
  EXPECT_EQ(broken([&](Material& m) { m.problems = {"tls.crt is nonsense"}; }), "replace: tls.crt is nonsense");
  EXPECT_EQ(broken([&](Material& m) { m.bundle = other.bundle; }),
            "replace: certificate is signed by unknown authority \"hook.shop.svc CA\": an authority of that name is "
            "trusted, but it has another key");
  EXPECT_EQ(judged(good, spec, kNow + 3651 * kDay),
            "replace: certificate has expired: it was valid until 2036-03-01T05:00:00Z");
  Change change = take_step(Step::replace, Material{.bundle = other.bundle, .ca = good.ca}, spec, kNow).value();
  EXPECT_FALSE(change.writes_ca);
  EXPECT_EQ(change.after.bundle, good.bundle);
  EXPECT_TRUE(take_step(Step::replace, good, spec, kNow + 3651 * kDay)->writes_ca);
}

TEST(Judge, AClockThatIsAheadElsewhereMakesNoNewPair) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow + 50min);
  EXPECT_EQ(judge(material, spec, kNow).step, Step::keep);
  EXPECT_EQ(judge(fresh(spec, kNow + 3h), spec, kNow).step, Step::replace);
}

TEST(Rotation, GoesThroughItsStepsAndNeverBreaksTheChain) {
  Spec spec = hook_spec();
  Material old = fresh(spec, kNow);
  Change begun = take_step(Step::begin_rotation, old, spec, kNow).value();
  EXPECT_TRUE(begun.writes_ca && !begun.writes_serving);
  EXPECT_EQ(judged(begun.after, spec, kNow), "publish: a new CA was made, and ca.crt does not have it yet");

  Material published = after(Step::publish, begun.after, spec, kNow);
  EXPECT_THAT(published.bundle, ElementsAre(begun.after.ca->certificate, old.bundle.front()));
  EXPECT_EQ(published.chain, old.chain);
  EXPECT_EQ(judged(published, spec, kNow),
            "switch-leaf: ca.crt has the new CA, and the certificate is still of the old one");

  Material switched = after(Step::switch_leaf, published, spec, kNow);
  EXPECT_EQ(switched.bundle, published.bundle);
  EXPECT_EQ(judged(switched, spec, kNow), "retire: the new certificate is stored, and the old CA is still trusted");
  // Whoever trusts both can use either leaf: before the switch and after it.
  EXPECT_TRUE(serves_under(old, published.bundle, spec, kNow));
  EXPECT_TRUE(serves_under(switched, published.bundle, spec, kNow));
  EXPECT_FALSE(serves_under(switched, old.bundle, spec, kNow));

  Material done = after(Step::retire, switched, spec, kNow);
  EXPECT_EQ(done.bundle, std::vector{begun.after.ca->certificate});
  EXPECT_EQ(done.chain, switched.chain);
  EXPECT_FALSE(done.rotating);
  EXPECT_EQ(judge(done, spec, kNow).step, Step::keep);
}

TEST(Rotation, BeginsWithoutTheOldKeyAsWell) {
  Spec spec = hook_spec();
  Material material = after(Step::begin_rotation, adopted(spec, kNow), spec, kNow);
  for (Step step : {Step::publish, Step::switch_leaf, Step::retire, Step::keep}) {
    EXPECT_EQ(judge(material, spec, kNow).step, step);
    material = after(step, material, spec, kNow);
  }
}

TEST(Rotation, ANewCaThatExpiredMeanwhileIsNotUsed) {
  Spec spec = hook_spec();
  Material begun = after(Step::begin_rotation, fresh(spec, kNow), spec, kNow);
  begun.ca = x509::make_ca(spec.ca_name(), kDay, kNow).value();
  EXPECT_EQ(judge(begun, spec, kNow).step, Step::publish);
  EXPECT_EQ(judge(begun, spec, kNow + 2 * kDay).step, Step::keep);
}

TEST(Rotation, AnExpiredPairIsReplacedByTheNewCaAtOnce) {
  Spec spec = hook_spec();
  Material begun = after(Step::begin_rotation, fresh(spec, kNow), spec, kNow + 3640 * kDay);
  WallTime late = kNow + 3651 * kDay;
  EXPECT_EQ(judge(begun, spec, late).step, Step::replace);
  Change change = take_step(Step::replace, begun, spec, late).value();
  EXPECT_EQ(change.after.ca->certificate, begun.ca->certificate);
  // The mark of the rotation goes.
  EXPECT_TRUE(change.writes_ca);
  EXPECT_EQ(judge(change.after, spec, late).step, Step::keep);
}

TEST(Heal, ADeletedSecretComesBackAsItWas) {
  Spec spec = hook_spec();
  Material memory = fresh(spec, kNow);
  Change both = heal({}, memory, spec, kNow).value();
  EXPECT_TRUE(both.writes_ca && both.writes_serving);
  EXPECT_EQ(both.after.chain, memory.chain);
  EXPECT_EQ(both.after.ca->certificate, memory.ca->certificate);
  Change pair = heal(Material{.ca = memory.ca}, memory, spec, kNow).value();
  EXPECT_TRUE(!pair.writes_ca && pair.writes_serving);
  Material without_ca = memory;
  without_ca.ca.reset();
  Change ca = heal(without_ca, memory, spec, kNow).value();
  EXPECT_TRUE(ca.writes_ca && !ca.writes_serving);
}

TEST(Heal, ARotationGoesOnWhereItWas) {
  Spec spec = hook_spec();
  Material memory = take_step(Step::begin_rotation, fresh(spec, kNow), spec, kNow)->after;
  Material stored = memory;
  stored.ca.reset();
  stored.rotating = false;
  Change healed = heal(stored, memory, spec, kNow).value();
  EXPECT_TRUE(healed.after.rotating);
  EXPECT_EQ(judge(healed.after, spec, kNow).step, Step::publish);
}

TEST(Heal, ABrokenPairDoesNotKeepItsCaFromComingBack) {
  Spec spec = hook_spec();
  Material memory = fresh(spec, kNow), broken = memory;
  broken.ca.reset();
  broken.key = fresh(spec, kNow).key;
  Change ca = heal(broken, memory, spec, kNow).value();
  EXPECT_TRUE(ca.writes_ca && !ca.writes_serving);
  EXPECT_EQ(ca.after.ca->certificate, memory.ca->certificate);
  EXPECT_EQ(judged(ca.after, spec, kNow), "replace: tls.key does not belong to tls.crt");
  EXPECT_TRUE(serves_under(after(Step::replace, ca.after, spec, kNow), memory.bundle, spec, kNow));
}

TEST(Heal, WhatIsStoredWins) {
  Spec spec = hook_spec();
  Material memory = fresh(spec, kNow), stored = fresh(spec, kNow);
  EXPECT_FALSE(heal(stored, memory, spec, kNow));
  EXPECT_FALSE(heal({}, {}, spec, kNow));
  // A pair that has expired in memory is not brought back.
  EXPECT_FALSE(heal({}, memory, spec, kNow + 3651 * kDay));
}

TEST(Secrets, KeepWhatElseTheyHold) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow);
  Json before = *Json::parse(R"({"apiVersion":"v1","kind":"Secret","type":"example.com/odd",
      "metadata":{"name":"hook-cert","namespace":"shop","resourceVersion":"7","labels":{"app":"x"}},
      "data":{"extra":"AAAA","tls.crt":""}})");
  Json written = serving_secret(before, material, spec);
  EXPECT_EQ(written["type"].string_or(""), "example.com/odd");
  EXPECT_EQ(written["data"]["extra"].string_or(""), "AAAA");
  EXPECT_EQ(written["metadata"], before["metadata"]);
  Material read = read_material(written, authority_secret(Json(), material, spec));
  EXPECT_EQ(read.chain, material.chain);
  EXPECT_EQ(read.bundle, material.bundle);
  EXPECT_EQ(read.ca->certificate, material.ca->certificate);
  EXPECT_EQ(judge(read, spec, kNow).step, Step::keep);
  EXPECT_EQ(serving_secret(Json(), material, spec)["type"].string_or(""), "kubernetes.io/tls");
  // The key of the CA is in the other Secret only.
  EXPECT_FALSE(written.dump().contains(to_base64(material.ca->key.to_pem())));
}

TEST(Secrets, TheMarkOfARotationComesAndGoes) {
  Spec spec = hook_spec();
  Material material = fresh(spec, kNow);
  Json plain = authority_secret(Json(), material, spec);
  EXPECT_FALSE(read_material(Json(), plain).rotating);
  material.rotating = true;
  Json marked = authority_secret(plain, material, spec);
  EXPECT_TRUE(read_material(Json(), marked).rotating);
  material.rotating = false;
  EXPECT_EQ(authority_secret(marked, material, spec), plain);
}

TEST(Secrets, SomeAreNotOursToWrite) {
  auto refusal = [](std::string_view json) {
    Result<void> writable = check_writable(*Json::parse(json));
    return writable ? "" : writable.error().report();
  };
  EXPECT_EQ(refusal("null"), "");
  EXPECT_EQ(refusal(R"({"metadata":{"name":"a","namespace":"b"}})"), "");
  EXPECT_EQ(refusal(R"({"metadata":{"name":"a","namespace":"b"},"immutable":true})"),
            "error: Secret b/a cannot be changed: it is immutable\n"
            "  next      kubectl -n b delete secret a\n");
  EXPECT_EQ(refusal(R"({"metadata":{"name":"a","namespace":"b",
                        "annotations":{"cert-manager.io/certificate-name":"serving"}}})"),
            "error: Secret b/a is not changed\n"
            "  because   cert-manager keeps it, for Certificate serving\n"
            "  next      use another Secret, or leave certificates to cert-manager\n");
}

TEST(Secrets, SayWhatCannotBeReadWithoutShowingIt) {
  Json secret =
      *Json::parse(R"({"metadata":{"name":"a","namespace":"b"},"data":{"tls.crt":"!","tls.key":"c2VjcmV0"}})");
  EXPECT_THAT(read_material(secret, Json()).problems,
              ElementsAre("tls.crt in Secret b/a cannot be used: it is not base64",
                          "tls.key in Secret b/a cannot be used: there is no private key in PEM form"));
}

}  // namespace
}  // namespace fairlead::certs
