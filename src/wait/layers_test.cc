// What is said about each layer of a webhook, from what was found out about it. Pure.
#include "wait/layers.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "readiness/shadow_objects.h"
#include "sandbox/sandbox_testing.h"

namespace fairlead::wait {
namespace {

using readiness::Proof;
using readiness::Rung;

Proof proof(Rung rung, bool proved = true) { return {.rung = rung, .proved = proved, .why_not = "no right to"}; }

Json service_with_port(int port) {
  return Json::Object{{"spec", Json::Object{{"ports", Json::Array{Json::Object{{"port", port}}}}}}};
}

class LayersTest : public testing::Test {
 protected:
  // A webhook behind a Service that works, as far as everything is known.
  LayersTest() {
    callee_.service = admission::ServiceReference{.ns = "team", .name = "hook", .path = "", .port = 443};
    callee_.ca_bundle = to_base64(sandbox::kCertificate);
    callee_.kind = readiness::GuardKind::validating_webhooks;
    findings_.service = service_with_port(443);
    findings_.endpoints = readiness::EndpointCount{.ready = 2, .all = 2};
    findings_.call = proof(Rung::answering);
    findings_.each = proof(Rung::answering);
    findings_.effect = proof(Rung::in_effect);
  }

  // The state of each layer, "+" if it is ok, "!" if it fails, "?" if it is not known and "-" if it is not used; then
  // the layer to look at first, and how far the webhook is.
  std::string seen() const {
    std::vector<Layer> layers = layers_of(callee_, findings_);
    std::string text;
    for (const Layer& layer : layers)
      text += layer.state == Layer::State::ok        ? '+'
              : layer.state == Layer::State::failing ? '!'
              : layer.state == Layer::State::unknown ? '?'
                                                     : '-';
    const Layer* open = first_open(layers);
    if (open) text += fmt::format(" {}: {}", open->name, open->text);
    return text +
           fmt::format("; {}{}", readiness::name_of(rung_of(findings_)), must_fail(layers) ? ", not called" : "");
  }

  Callee callee_{.name = "v.example.com",
                 .configuration = {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "config"},
                 .target = {}};
  Findings findings_;
};

TEST_F(LayersTest, AllIsWell) {
  EXPECT_EQ(seen(), "+++++++; answering");
  EXPECT_EQ(layers_of(callee_, findings_).back().text, "it answers, and each of 2 endpoints listens");
  findings_.endpoints = readiness::EndpointCount{.ready = 1, .all = 1};
  EXPECT_EQ(layers_of(callee_, findings_).back().text, "it answers");
}

TEST_F(LayersTest, NothingIsKnown) {
  findings_ = {};
  EXPECT_EQ(seen(), "?+????? service: service team/hook cannot be read; registered");
}

TEST_F(LayersTest, OnceItAnswersWhatCannotBeReadBehindItDoesNotMatter) {
  findings_.service.reset();
  findings_.endpoints.reset();
  EXPECT_EQ(seen(), "++?+?++; answering");
  findings_.effect.reset();
  EXPECT_EQ(seen(), "?+?+?++ configuration: registered, not yet proved to be in effect; answering");
}

TEST_F(LayersTest, ACertificateIsNeededForAServiceOnly) {
  callee_.ca_bundle = "Cg==";
  EXPECT_EQ(seen(), "+!+++++ caBundle: the caBundle is still to be filled in; answering, not called");
  callee_.ca_bundle.clear();
  EXPECT_EQ(seen(), "+!+++++ caBundle: the caBundle is still to be filled in; answering, not called");
  callee_.service.reset();
  EXPECT_EQ(seen(), "+----++; answering");
  callee_.ca_bundle = "Cg==";
  EXPECT_EQ(seen(), "+!---++ caBundle: the caBundle is still to be filled in; answering, not called");
}

TEST_F(LayersTest, AServiceThatCannotBeCalled) {
  findings_.call.reset();
  findings_.service = Json();
  EXPECT_EQ(seen(), "++!++?? service: service team/hook does not exist; registered, not called");
  findings_.service = service_with_port(80);
  EXPECT_EQ(seen(), "++!++?? service: service team/hook has no port 443; registered, not called");
}

TEST_F(LayersTest, NoEndpointIsReady) {
  findings_.call.reset();
  findings_.each.reset();
  findings_.endpoints = readiness::EndpointCount{.ready = 0, .all = 2};
  EXPECT_EQ(seen(), "+++!??? endpoints: service team/hook has no ready endpoint; registered, not called");
  findings_.why.causes = {"it has 0 of 2 endpoints ready"};
  EXPECT_EQ(seen(), "+++!??? endpoints: it has 0 of 2 endpoints ready; registered, not called");
  findings_.why.causes = {"it has 0 of 2 endpoints ready", "pod a waits", "no image"};
  EXPECT_EQ(seen(), "+++!!?? endpoints: it has 0 of 2 endpoints ready; registered, not called");
  EXPECT_EQ(layers_of(callee_, findings_)[4].text, "pod a waits: no image");
}

TEST_F(LayersTest, ACallGoesSoFar) {
  kube::Fault fault;
  fault.explanation = "webhook v.example.com cannot be called: refused";
  auto with = [&](Rung rung) {
    findings_.call = proof(rung);
    findings_.call->fault = fault;
    return seen();
  };
  constexpr std::string_view kWhy = "webhook v.example.com cannot be called: refused";
  EXPECT_EQ(with(Rung::in_effect), fmt::format("+++!+?? endpoints: {}; in effect, not called", kWhy));
  EXPECT_EQ(with(Rung::reachable), fmt::format("+++++!? TLS: {}; reachable", kWhy));
  EXPECT_EQ(with(Rung::trusted), fmt::format("++++++! answer: {}; trusted", kWhy));
  EXPECT_EQ(with(Rung::answering), "+++++++; answering");
  // The call of a copy says nothing about the registration.
  findings_.effect = proof(Rung::registered, false);
  EXPECT_EQ(with(Rung::in_effect), fmt::format("?++!+?? endpoints: {}; registered, not called", kWhy));
}

TEST_F(LayersTest, WhatIsNotProvedIsNotKnown) {
  findings_.call = proof(Rung::answering, false);
  EXPECT_EQ(seen(), "+++++?? TLS: not tried yet; registered");
  findings_.call = proof(Rung::answering);
  findings_.each = proof(Rung::answering, false);
  EXPECT_EQ(seen(), "++++++? answer: not each endpoint is proved to answer: no right to; answering");
  findings_.each = proof(Rung::in_effect);
  findings_.each->why_not = "10.0.0.2:8443 does not listen";
  EXPECT_EQ(seen(), "+++!+++ endpoints: 10.0.0.2:8443 does not listen; answering, not called");
}

TEST_F(LayersTest, AConversionHasNoRegistry) {
  callee_.kind.reset();
  findings_.effect.reset();
  EXPECT_EQ(seen(), "+++++++; answering");
}

TEST_F(LayersTest, TheObjectOfTheUser) {
  findings_.wants_review = true;
  EXPECT_EQ(seen(), "+++++++? probe: not sent yet; answering");
  findings_.review = proof(Rung::trusted);
  EXPECT_EQ(seen(), "+++++++! probe: no right to; answering");
  findings_.review = proof(Rung::answering);
  EXPECT_EQ(seen(), "++++++++; answering");
  findings_.ignores_object = true;
  EXPECT_EQ(seen(), "+++++++-; answering");
}

std::vector<Callee> callees(std::string_view metadata, std::string_view hooks, WallTime now = {}) {
  Json object = Json::parse(fmt::format(R"({{"apiVersion":"admissionregistration.k8s.io/v1",
                                           "kind":"ValidatingWebhookConfiguration",
                                           "metadata":{{"name":"config",{}}},"webhooks":[{}]}})",
                                        metadata, hooks))
                    .value();
  return callees_of(object, now);
}

constexpr std::string_view kHook = R"({"name":"v.example.com","clientConfig":{"url":"https://one.example"}})";

// What was proved of a webhook counts as long as this stays the same.
TEST(Callees, AChangeOfTheWebhooksIsANewVersion) {
  auto version = [](std::string_view uid, std::string_view hooks) {
    return callees(fmt::format(R"("uid":"{}")", uid), hooks).front().version;
  };
  std::string first = version("1", kHook);
  EXPECT_EQ(version("1", kHook), first);
  EXPECT_NE(version("2", kHook), first) << "it was created again";
  EXPECT_NE(version("1", R"({"name":"v.example.com","clientConfig":{"url":"https://two.example"}})"), first);
  EXPECT_NE(version("1", std::string(kHook) + R"(,{"name":"w.example.com"})"), first);
  // A proof adds a marker of its own to the configuration, and takes it away again.
  std::string guest =
      readiness::Stamp{.run = "run", .number = 7, .expires = WallTime(std::chrono::hours(1000))}.guest();
  std::string with_guest = fmt::format(R"({},{{"name":"{}"}})", kHook, guest);
  EXPECT_EQ(version("1", with_guest), first);
  EXPECT_EQ(callees(R"("uid":"1")", with_guest).size(), 1u);
}

TEST(Callees, AChangeIsFreshForTwoMinutes) {
  auto is_fresh = [](int generation, int seconds_later) {
    WallTime changed = std::chrono::sys_days(std::chrono::year(2030) / 1 / 1);
    std::string metadata =
        fmt::format(R"("uid":"1","generation":{},"managedFields":[{{"time":"2030-01-01T00:00:00Z"}}])", generation);
    return callees(metadata, kHook, changed + std::chrono::seconds(seconds_later)).front().is_fresh_change;
  };
  EXPECT_TRUE(is_fresh(2, 0));
  EXPECT_TRUE(is_fresh(2, 119));
  EXPECT_FALSE(is_fresh(2, 120));
  EXPECT_FALSE(is_fresh(1, 0)) << "it was only created";
}

}  // namespace
}  // namespace fairlead::wait
