#include "readiness/shadow_testing.h"

namespace fairlead::readiness {
namespace {

using testing::ElementsAre, testing::IsEmpty;

class InEffect : public ShadowTest, public testing::WithParamInterface<bool> {
 protected:
  GuardKind kind() const { return GetParam() ? GuardKind::mutating_webhooks : GuardKind::validating_webhooks; }
};
INSTANTIATE_TEST_SUITE_P(Of, InEffect, testing::Bool(),
                         [](const auto& param) { return param.param ? "Mutating" : "Validating"; });

TEST_P(InEffect, ACreatedConfigurationOnceItsMarkerIsSeen) {
  make(path_of(GetParam()), guard("guard", GetParam()).dump());
  EXPECT_TRUE(gets_in(1));
  auto prove = prover();
  Proof proof = proof_of(prove->created_in_effect(kind(), 0));
  EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
  EXPECT_FALSE(proof.reached(Rung::reachable));
  EXPECT_EQ(proof.connection, 1u);
  EXPECT_EQ(proof.evidence, fmt::format("the API server uses {} that were registered later", name_of(kind())));
  EXPECT_FALSE(gets_in(1));
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_P(InEffect, ProbesGrowFartherApart) {
  sandbox_.core().options.delays.mutating_webhooks = sandbox_.core().options.delays.validating_webhooks = 2s;
  auto prove = prover();
  EXPECT_TRUE(proof_of(prove->created_in_effect(kind(), 0)).proved);
  // At once, after 1, 3, 7, 15, 31, 63, 127 ms, and every 100 ms from then on.
  EXPECT_EQ(front_.count("POST", "/runtimeclasses"), 8 + 19u);
  EXPECT_EQ(loop_.now().time_since_epoch(), 2027ms);
  loop_.run(prove->clean_up());
}

TEST_P(InEffect, AMarkerThatIsNeverUsedIsNoProof) {
  sandbox_.core().options.delays.mutating_webhooks = sandbox_.core().options.delays.validating_webhooks = 1h;
  auto prove = prover("r", {.run = {}, .marker_timeout = 1s, .markers = 2});
  Proof proof = proof_of(prove->created_in_effect(kind(), 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_FALSE(proof.hopeless);
  EXPECT_EQ(proof.rung, Rung::registered);
  EXPECT_EQ(proof.why_not, fmt::format("the API server did not use new {} within 1s", name_of(kind())));
  // One dry run, and two markers of different names.
  EXPECT_EQ(front_.count("POST", path_of(GetParam())), 3u);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

class Stale : public ShadowTest {
 protected:
  static sandbox::Options stale() {
    sandbox::Options options;
    options.stale_configuration = 0.4;
    return options;
  }
  Stale() : ShadowTest(stale()) {}
};

// However often the API server keeps the old form.
TEST_F(Stale, AnUpdatedConfigurationIsProvedInItsNewForm) {
  std::string path = path_of(false);
  make(path, guard("guard", false, "Ignore").dump());
  pass(1s);
  auto prove = prover("r", {.run = {}, .marker_timeout = 1s, .markers = 20});
  bool strict = false;
  for (int round = 0; round < 40; ++round) {
    strict = !strict;
    Outcome<Reply> updated = wait(client_.apply(*configurations_of("ValidatingWebhookConfiguration"), "", "guard",
                                                guard("guard", false, strict ? "Fail" : "Ignore"), [] {
                                                  kube::ApplyOptions options;
                                                  options.force = true;
                                                  return options;
                                                }()));
    ASSERT_TRUE(updated) << updated.error().error().report();
    Proof proof = proof_of(
        prove->updated_in_effect({"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"}, 0));
    ASSERT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
    EXPECT_EQ(gets_in(1), !strict) << "round " << round;
  }
  loop_.run(prove->clean_up());
  Outcome<Reply> left = wait(client_.get(*configurations_of("ValidatingWebhookConfiguration"), "", "guard"));
  EXPECT_EQ(left->value["webhooks"].items().size(), 1u);
  EXPECT_THAT(left->value["metadata"]["managedFields"].dump(), testing::Not(HasSubstr("fairlead-marker")));
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, AMarkerIsNotPutIntoAConfigurationThatIsGone) {
  auto prove = prover();
  Proof proof = proof_of(
      prove->updated_in_effect({"admissionregistration.k8s.io", "MutatingWebhookConfiguration", "", "guard"}, 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_EQ(proof.rung, Rung::nothing);
  EXPECT_EQ(proof.why_not, "mutatingwebhookconfigurations.admissionregistration.k8s.io guard does not exist");
  EXPECT_EQ(front_.count("PATCH", ""), 0u);
  loop_.run(prove->clean_up());
}

class Several : public ShadowTest {
 protected:
  static sandbox::Options several() {
    sandbox::Options options;
    options.api_servers = 2;
    options.api_server_skew = 500ms;
    return options;
  }
  Several() : ShadowTest(several()) {}
};

TEST_F(Several, EachApiServerIsProvedForItself) {
  make(path_of(false), guard("guard").dump());
  auto prove = prover();
  Proof first = proof_of(prove->created_in_effect(GuardKind::validating_webhooks, 1));
  EXPECT_TRUE(first.proved);
  EXPECT_EQ(first.connection, 1u);
  EXPECT_FALSE(gets_in(1));
  EXPECT_TRUE(gets_in(2));
  Proof second = proof_of(prove->created_in_effect(GuardKind::validating_webhooks, 2));
  EXPECT_TRUE(second.proved);
  EXPECT_EQ(second.connection, 2u);
  EXPECT_FALSE(gets_in(2));
  serve("hook", answering(R"({"allowed":true})"));
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 1)).reached(Rung::answering));
  size_t so_far = front_.count("POST", path_of(true));
  // The same shadow, which that server uses half a second later.
  EXPECT_TRUE(proof_of(prove->mirror(target("hook"), 2)).reached(Rung::answering));
  EXPECT_EQ(front_.count("POST", path_of(true)), so_far);
  loop_.run(prove->clean_up());
}

TEST_F(Several, AConnectionThatIsGoneIsAFailure) {
  auto prove = prover();
  sandbox_.set_down(1, true);
  sandbox_.set_down(1, false);
  Outcome<Proof> proof = wait(prove->created_in_effect(GuardKind::validating_webhooks, 2));
  ASSERT_FALSE(proof);
  EXPECT_THAT(proof.error().error().message(), HasSubstr("the connection is gone"));
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(Several, AMarkerIsTakenOutOfAConfigurationWhoseProofFailed) {
  make(path_of(false), guard("guard").dump());
  auto prove = prover();
  sandbox_.set_down(1, true);
  sandbox_.set_down(1, false);
  Outcome<Proof> proof = wait(
      prove->updated_in_effect({"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"}, 2));
  ASSERT_FALSE(proof);
  EXPECT_THAT(proof.error().error().message(), HasSubstr("the connection is gone"));
  // At once, and not only when the run ends.
  pass(10s);
  Outcome<Reply> left = wait(client_.get(*configurations_of("ValidatingWebhookConfiguration"), "", "guard"));
  EXPECT_EQ(left->value["webhooks"].items().size(), 1u);
  EXPECT_GT(front_.count("PATCH", "/guard?"), 0u) << "there was no marker in it";
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, AValidatingPolicyIsInEffectOnceItsMarkerIs) {
  constexpr std::string_view kPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
  make(std::string(kPolicies),
       R"json({"metadata":{"name":"no-maps"},"spec":{"matchConstraints":{"resourceRules":[
           {"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},
           "validations":[{"expression":"false"}]}})json");
  make("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
       R"({"metadata":{"name":"no-maps"},"spec":{"policyName":"no-maps","validationActions":["Deny"]}})");
  EXPECT_TRUE(gets_in(1));
  auto prove = prover();
  Proof proof = proof_of(prove->created_in_effect(GuardKind::validating_policies, 1));
  EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
  EXPECT_FALSE(gets_in(1));
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, MutatingPoliciesOnceTheirMarkerIsSeen) {
  auto prove = prover();
  Proof proof = proof_of(prove->created_in_effect(GuardKind::mutating_policies, 0));
  EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
  loop_.run(prove->clean_up());
  EXPECT_THAT(names_in("mutatingadmissionpolicies"), IsEmpty());
}

// As before 1.36.
TEST_F(ShadowTest, WhatTheServerDoesNotServeCannotBeProved) {
  front_.unserved = "/mutatingadmissionpolic";
  auto prove = prover();
  Proof proof = proof_of(prove->created_in_effect(GuardKind::mutating_policies, 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_TRUE(proof.hopeless);
  EXPECT_THAT(proof.why_not, testing::StartsWith("no temporary object can be created to test mutating policies: "));
  EXPECT_EQ(front_.count("POST", "/mutatingadmissionpolicies"), 3u) << "one for each version";
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, AFailedCallIsToldOfTheWebhookAndNotOfItsCopy) {
  auto prove = prover();
  Target hook = target("gone");
  hook.own_name = "v.example.com";
  Proof proof = proof_of(prove->mirror(hook, 0));
  ASSERT_TRUE(proof.fault);
  EXPECT_EQ(proof.fault->webhook->name, "v.example.com");
  EXPECT_THAT(proof.fault->explanation, testing::StartsWith("webhook v.example.com cannot be called: "));
  EXPECT_THAT(proof.evidence, testing::Not(HasSubstr("shadow.fairlead.dev")));
  loop_.run(prove->clean_up());
}

class Forbidden : public ShadowTest {
 protected:
  static sandbox::Options forbidding() {
    sandbox::Options options;
    options.forbids = [](std::string_view, std::string_view verb, std::string_view, std::string_view resource,
                         std::string_view,
                         std::string_view) { return verb == "create" && resource == "mutatingwebhookconfigurations"; };
    return options;
  }
  Forbidden() : ShadowTest(forbidding()) {}
};

TEST_F(Forbidden, WithoutThePermissionNothingIsProvedAndNothingEnds) {
  auto prove = prover();
  Proof proof = proof_of(prove->mirror(target("hook"), 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_TRUE(proof.hopeless);
  EXPECT_EQ(proof.rung, Rung::registered);
  EXPECT_THAT(proof.why_not, testing::StartsWith("no temporary object can be created to test mutating webhooks: "));
  EXPECT_THAT(proof.why_not, HasSubstr("cannot create resource \"mutatingwebhookconfigurations\""));
  ASSERT_TRUE(proof.fault);
  EXPECT_EQ(name_of(proof.fault->kind), name_of(kube::FaultKind::forbidden));
  size_t asked = front_.requests.size();
  EXPECT_FALSE(proof_of(prove->mirror(target("other"), 0)).proved);
  EXPECT_EQ(front_.requests.size(), asked) << "asked again what was refused";
  loop_.run(prove->clean_up());
  EXPECT_EQ(front_.requests.size(), asked) << "removed what was never made";
}

class ForbiddenToRemove : public ShadowTest {
 protected:
  static sandbox::Options forbidding() {
    sandbox::Options options;
    options.forbids = [](std::string_view, std::string_view verb, std::string_view, std::string_view resource,
                         std::string_view,
                         std::string_view) { return verb == "delete" && resource.ends_with("webhookconfigurations"); };
    return options;
  }
  ForbiddenToRemove() : ShadowTest(forbidding()) {}
};

TEST_F(ForbiddenToRemove, WhatCannotBeRemovedAgainIsNotMade) {
  auto prove = prover();
  for (int i = 0; i < 2; ++i) {
    Proof proof = proof_of(prove->created_in_effect(GuardKind::validating_webhooks, 0));
    EXPECT_FALSE(proof.proved);
    EXPECT_TRUE(proof.hopeless);
    EXPECT_THAT(
        proof.why_not,
        testing::StartsWith(
            "no temporary object was created to test validating webhooks, because it could not be deleted again: "));
  }
  EXPECT_FALSE(proof_of(prove->mirror(target("hook"), 0)).proved);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, AServerThatDropsConditionsGetsNoShadow) {
  front_.tamper = [](std::string body) {
    Json object = parsed(body);
    if (Json* hooks = object.if_object()->find("webhooks"))
      for (Json& hook : *hooks->if_array()) hook.if_object()->erase("matchConditions");
    return object.dump();
  };
  auto prove = prover();
  for (int i = 0; i < 2; ++i) {
    Proof proof = proof_of(prove->mirror(target("hook"), 0));
    EXPECT_FALSE(proof.proved);
    EXPECT_TRUE(proof.hopeless);
    EXPECT_EQ(proof.why_not,
              "the API server does not support matchConditions (Kubernetes before 1.28), so a temporary webhook would "
              "match other requests too");
  }
  EXPECT_EQ(front_.requests.size(), 1u) << "the dry run, and nothing else";
  loop_.run(prove->clean_up());
}

// What a user may not do, as an API server says it.
class FewRights : public ShadowTest {
 protected:
  // The user may create no RuntimeClasses, and ConfigMaps in these namespaces alone.
  void may_write_in(std::set<std::string> namespaces) {
    sandbox_.core().options.forbids = [allowed = std::move(namespaces)](std::string_view, std::string_view verb,
                                                                        std::string_view, std::string_view resource,
                                                                        std::string_view ns, std::string_view) {
      if (verb != "create") return false;
      return resource == "runtimeclasses" || (resource == "configmaps" && !allowed.contains(std::string(ns)));
    };
  }
  void make_namespace(std::string_view name) {
    make("/api/v1/namespaces", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  }
};

TEST_F(FewRights, ProveWithAConfigMapWhereTheyMayCreateOne) {
  make_namespace("theirs");
  Json on_secrets = guard("guard");
  (*(*on_secrets.make("webhooks").if_array())[0].make("rules").if_array())[0].make("resources") =
      Json::Array{"secrets"};
  make(path_of(false), on_secrets.dump());
  may_write_in({"theirs", "later"});
  auto prove = prover("r", {.run = {}, .namespaces = {"forbidden", "later", "theirs"}});
  for (GuardKind kind : {GuardKind::validating_webhooks, GuardKind::validating_policies}) {
    Proof proof = proof_of(prove->created_in_effect(kind, 0));
    EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
  }
  Proof proof = proof_of(prove->updated_in_effect({"", "ValidatingWebhookConfiguration", "", "guard"}, 0));
  EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
  serve("hook", answering(R"({"allowed":true})"));
  proof = proof_of(prove->mirror(target("hook"), 0));
  EXPECT_TRUE(proof.reached(Rung::answering)) << proof.why_not << proof.evidence;
  EXPECT_EQ(front_.count("POST", "/runtimeclasses"), 1u) << "what is forbidden is asked for once";
  EXPECT_EQ(front_.count("POST", "/namespaces/forbidden/configmaps"), 1u);
  EXPECT_EQ(front_.count("POST", "/namespaces/later/configmaps"), 1u);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(FewRights, WaitForANamespaceThatComesLater) {
  may_write_in({"later"});
  auto prove = prover("r", {.run = {}, .namespaces = {"later"}});
  Scope scope(loop_, nullptr);
  std::optional<Outcome<Proof>> proof;
  scope.spawn([](Prover& prove, std::optional<Outcome<Proof>>& result) -> Task<void> {
    result = co_await prove.created_in_effect(GuardKind::mutating_webhooks, 0);
  }(*prove, proof));
  pass(1s);
  EXPECT_FALSE(proof);
  make_namespace("later");
  loop_.run(scope.join());
  ASSERT_TRUE(proof && *proof);
  EXPECT_TRUE((*proof)->reached(Rung::in_effect)) << (*proof)->why_not;
  loop_.run(prove->clean_up());
}

TEST_F(FewRights, ProveNothingWhereNoProbeMayBeSent) {
  may_write_in({});
  for (const std::vector<std::string>& namespaces : {std::vector<std::string>{}, {"default"}, {"default", "other"}}) {
    auto prove = prover("r", {.run = {}, .namespaces = namespaces});
    for (Proof proof : {proof_of(prove->created_in_effect(GuardKind::mutating_webhooks, 0)),
                        proof_of(prove->mirror(target("hook"), 0))}) {
      EXPECT_FALSE(proof.proved);
      EXPECT_TRUE(proof.hopeless);
      EXPECT_THAT(proof.why_not, testing::StartsWith("the test request cannot be sent: "));
    }
    loop_.run(prove->clean_up());
    EXPECT_THAT(shadows(), IsEmpty());
  }
}

TEST_F(ShadowTest, NobodyElseMeetsAShadow) {
  auto prove = prover();
  EXPECT_TRUE(proof_of(prove->mirror(target("none"), 0)).proved);
  auto [resource, object] = probe_object(ProbeKind::runtime_class);
  std::string path = "/apis/node.k8s.io/v1/runtimeclasses";
  ASSERT_EQ(shadows().size(), 1u);
  std::string manager = "fairlead-r-2";
  EXPECT_FALSE(post(path + "?dryRun=All&fieldManager=" + manager, object)) << "this is the probe itself";
  EXPECT_TRUE(post(path + "?dryRun=All", object));
  EXPECT_TRUE(post(path + "?dryRun=All&fieldManager=fairlead", object));
  EXPECT_TRUE(post(path + "?fieldManager=" + manager, object)) << "not a dry run";
  EXPECT_TRUE(post("/api/v1/namespaces/default/configmaps?dryRun=All&fieldManager=" + manager,
                   parsed(R"({"metadata":{"name":"x"}})")))
      << "another kind";
  loop_.run(prove->clean_up());
}

TEST_F(ShadowTest, LeftoversGoOnceTheirTimeIsOver) {
  make(path_of(false), guard("guard", false, "Ignore").dump());
  Stamp stamp{"killed", 7, loop_.clock().wall_now() + 1h};
  object::Resource resource = *configurations_of("ValidatingWebhookConfiguration");
  {
    auto killed = prover("killed");
    EXPECT_TRUE(proof_of(killed->mirror(target("none"), 0)).proved);
    EXPECT_TRUE(post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
                     marker_objects(GuardKind::validating_policies, stamp)[0]));
    Json guest = guest_patch(resource, "guard", "", false, stamp);
    guest.make("metadata").if_object()->erase("uid");
    EXPECT_TRUE(wait(client_.apply(resource, "", "guard", guest)));
  }
  // Somebody's own, which only looks like one.
  make(path_of(true), R"({"metadata":{"name":"own","labels":{"fairlead.dev/shadow":"killed"}}})");
  pass(30min);
  auto later = prover("later", {.run = {}, .life = 10h});
  EXPECT_TRUE(proof_of(later->mirror(target("none"), 0)).proved);
  EXPECT_EQ(wait(later->sweep()).value(), 0u) << "its run may still be going on";
  EXPECT_EQ(shadows().size(), 3u);
  pass(31min);
  EXPECT_EQ(wait(later->sweep()).value(), 3u);
  EXPECT_THAT(shadows(), ElementsAre("0-fairlead-shadow-later-2"));
  EXPECT_EQ(wait(client_.get(resource, "", "guard"))->value["webhooks"].items().size(), 1u);
  EXPECT_EQ(wait(later->sweep()).value(), 0u);
  loop_.run(later->clean_up());
  EXPECT_THAT(names_in("mutatingwebhookconfigurations"), ElementsAre("own"));
}

TEST_F(ShadowTest, LeftoversOfARunThatIsKnownToHaveEndedGoAtOnce) {
  make(path_of(false), guard("guard", false, "Ignore").dump());
  object::Resource resource = *configurations_of("ValidatingWebhookConfiguration");
  for (const char* run : {"killed", "alive"}) {
    EXPECT_TRUE(proof_of(prover(run)->mirror(target("none"), 0)).proved);
    Json guest = guest_patch(resource, "guard", "", false, Stamp{run, 7, loop_.clock().wall_now() + 1h});
    guest.make("metadata").if_object()->erase("uid");
    kube::ApplyOptions options;
    options.field_manager = run;
    EXPECT_TRUE(wait(client_.apply(resource, "", "guard", guest, options)));
  }
  auto later = prover("later", {.run = {}, .known_dead = [](std::string_view run) { return run == "killed"; }});
  EXPECT_EQ(wait(later->sweep()).value(), 2u);
  EXPECT_THAT(shadows(), ElementsAre(HasSubstr("shadow-alive-")));
  EXPECT_EQ(wait(client_.get(resource, "", "guard"))->value["webhooks"].items().size(), 2u);
}

// Somebody changes the list of webhooks after the sweeper has read it.
TEST_F(ShadowTest, NoOtherWebhookIsRemovedInPlaceOfALeftover) {
  make(path_of(false), guard("guard", false, "Ignore").dump());
  object::Resource resource = *configurations_of("ValidatingWebhookConfiguration");
  Json guest = guest_patch(resource, "guard", "", false, Stamp{"killed", 7, loop_.clock().wall_now() + 1h});
  guest.make("metadata").if_object()->erase("uid");
  EXPECT_TRUE(wait(client_.apply(resource, "", "guard", guest)));
  int stale = 0;
  front_.tamper = [&](std::string body) {
    Result<Json> answer = Json::parse(body);
    Json::Array* hooks = answer && answer->contains("webhooks") ? answer->make("webhooks").if_array() : nullptr;
    if (!hooks || hooks->size() != 2 || stale++ > 0) return body;
    std::swap(hooks->front(), hooks->back());
    return answer->dump();
  };
  auto later = prover("later", {.run = {}, .known_dead = [](std::string_view run) { return run == "killed"; }});
  EXPECT_EQ(wait(later->sweep()).value(), 1u);
  EXPECT_GT(stale, 0);
  Outcome<Reply> left = wait(client_.get(resource, "", "guard"));
  ASSERT_EQ(left->value["webhooks"].items().size(), 1u);
  EXPECT_EQ(left->value["webhooks"].item(0)["name"].string_or(""), "guard.example.com");
}

TEST_F(ShadowTest, ARunThatIsCancelledLeavesNothing) {
  sandbox_.core().options.delays.mutating_webhooks = 1h;
  auto prove = prover();
  auto run = [&]() -> Task<void> {
    Scope scope(loop_, co_await current_cancel());
    auto one = [&](Task<Outcome<Proof>> task) -> Task<void> {
      Outcome<Proof> proof = co_await std::move(task);
      EXPECT_FALSE(proof);
    };
    scope.spawn(one(prove->mirror(target("a"), 0)));
    scope.spawn(one(prove->mirror(target("b"), 0)));
    scope.spawn(one(prove->created_in_effect(GuardKind::mutating_webhooks, 0)));
    (void)co_await sleep_for(loop_, 100ms);
    scope.cancel();
    co_await scope.join();
    CancelSource cancelled;
    cancelled.cancel();
    co_await prove->clean_up().governed_by(&cancelled);
  };
  loop_.run(run());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, OneThatMayHaveBeenMadeIsTakenAway) {
  front_.loses_answer = [](const http::Request& request) {
    return request.method == "POST" && request.target.contains("/validatingwebhookconfigurations") &&
           !request.target.contains("dryRun");
  };
  auto prove = prover();
  Proof proof = proof_of(prove->created_in_effect(GuardKind::validating_webhooks, 0));
  EXPECT_FALSE(proof.proved);
  EXPECT_FALSE(proof.hopeless);
  loop_.run(prove->clean_up());
  EXPECT_THAT(shadows(), IsEmpty());
}

TEST_F(ShadowTest, AMarkerThatCouldNotBeTakenOutAtOnceIsTakenOutAtTheEnd) {
  make(path_of(false), guard("guard").dump());
  pass(1s);
  sandbox_.core().options.delays.validating_webhooks = 1h;
  auto prove = prover();
  auto run = [&]() -> Task<void> {
    Scope scope(loop_, co_await current_cancel());
    auto one = [&]() -> Task<void> {
      Outcome<Proof> proof = co_await prove->updated_in_effect(
          {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"}, 0);
      EXPECT_FALSE(proof && proof->proved);
    };
    scope.spawn(one());
    (void)co_await sleep_for(loop_, 500ms);
    sandbox_.set_down(0, true);
    scope.cancel();
    co_await scope.join();
    (void)co_await sleep_for(loop_, 5min);
    sandbox_.set_down(0, false);
  };
  loop_.run(run());
  EXPECT_EQ(loop_.run(client_.get(*configurations_of("ValidatingWebhookConfiguration"), "", "guard"))
                ->value["webhooks"]
                .items()
                .size(),
            2u);
  loop_.run(prove->clean_up());
  Outcome<Reply> left = wait(client_.get(*configurations_of("ValidatingWebhookConfiguration"), "", "guard"));
  EXPECT_EQ(left->value["webhooks"].items().size(), 1u);
  EXPECT_GT(front_.count("PATCH", "/guard?"), 0u) << "there was no marker in it";
}

TEST_F(ShadowTest, CleaningUpEndsEvenIfNobodyAnswers) {
  auto prove = prover();
  EXPECT_TRUE(proof_of(prove->mirror(target("a"), 0)).proved);
  sandbox_.set_down(0, true);
  TimePoint started = loop_.now();
  loop_.run(prove->clean_up());
  EXPECT_LE(loop_.now() - started, 15s);
  EXPECT_EQ(shadows().size(), 1u);
  sandbox_.set_down(0, false);
  auto later = prover("later");
  pass(2h);
  EXPECT_EQ(wait(later->sweep()).value(), 1u);
  EXPECT_THAT(shadows(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::readiness
