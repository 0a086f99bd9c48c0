// Shadows on a real API server: what they prove is so, and nothing is left behind.
#include "readiness/shadow.h"

#include "base/base64.h"
#include "http/server/server.h"
#include "readiness/shadow_objects.h"
#include "real_cluster_testing.h"
#include "x509/x509.h"

namespace fairlead::kube {
namespace {

using readiness::Endpoint, readiness::GuardKind, readiness::Proof, readiness::Prover, readiness::Rung,
    readiness::Target;

object::Resource registration(std::string kind, std::string plural) {
  return {
      .group = "admissionregistration.k8s.io", .version = "v1", .kind = std::move(kind), .plural = std::move(plural)};
}
object::Resource validating() {
  return registration("ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
}
object::Resource mutating() { return registration("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"); }
object::Resource policies() { return registration("ValidatingAdmissionPolicy", "validatingadmissionpolicies"); }
object::Resource bindings() {
  return registration("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
}
object::Resource services() { return {.version = "v1", .kind = "Service", .plural = "services", .namespaced = true}; }

class RealShadow : public RealCluster {
 protected:
  RealShadow() {
    run_ = "t" + std::to_string(::getpid()) + "-" + std::to_string(loop_.now().time_since_epoch().count() % 1000000007);
    prover_ = std::make_unique<Prover>(admin(), Prover::Options{.run = run_});
    connection_ = wait(admin().request({.target = "/version"}))->connection;
  }
  ~RealShadow() override {
    loop_.run(prover_->clean_up());
    for (const object::Resource& resource : {validating(), mutating(), policies(), bindings()}) {
      Outcome<List> left = wait(admin().list(resource, {.label_selector = "fairlead.dev/shadow=" + run_}));
      expect_ok(left);
      if (left) EXPECT_THAT(left->items, testing::IsEmpty()) << resource.kind;
    }
    for (const auto& [resource, name] : made_) (void)wait(admin().remove(resource, "", name));
    if (server_) loop_.run(server_->close());
  }

  Proof proof_of(Task<Outcome<Proof>> task) {
    Outcome<Proof> proof = wait(std::move(task));
    expect_ok(proof);
    if (!proof) return {};
    EXPECT_EQ(proof->connection, proof->connection == 0 ? 0 : connection_);
    return *std::move(proof);
  }

  void make(const object::Resource& resource, std::string_view name, Json object) {
    object.make("apiVersion") = resource.api_version();
    object.make("kind") = resource.kind;
    object.make("metadata").make("name") = name;
    made_.emplace_back(resource, name);
    expect_ok(wait(admin().create(resource, "", object)));
  }
  Json guard(std::string_view policy) {
    return *Json::parse(fmt::format(
        R"({{"webhooks":[{{"name":"guard.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
            "failurePolicy":"{0}","clientConfig":{{"service":{{"namespace":"{1}","name":"none"}}}},
            "namespaceSelector":{{"matchLabels":{{"kubernetes.io/metadata.name":"{1}"}}}},
            "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}}]}}]}})",
        policy, ns_));
  }
  // Whether the guard, and nothing else, keeps a ConfigMap out.
  bool is_guarded() {
    WriteOptions options;
    options.dry_run = true;
    options.connection = connection_;
    Outcome<Reply> reply = wait(admin().create(config_maps(), ns_, config_map("x"), options));
    if (reply) return false;
    const Fault* fault = reply.error().fault();
    bool by_guard = fault && (fault->kind == FaultKind::policy_denied ||
                              (fault->webhook && fault->webhook->name == "guard.example.com"));
    EXPECT_TRUE(by_guard) << reply.error().error().report();
    return true;
  }

  // A Service whose address is this machine's, so that a server of the test can stand behind it.
  std::string make_service(std::string_view name, int port) {
    Json service = *Json::parse(fmt::format(
        R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}"}},"spec":{{"ports":[{{"port":{}}}]}}}})", name,
        port));
    Outcome<Reply> reply = wait(admin().create(services(), ns_, service));
    expect_ok(reply);
    return reply ? std::string(reply->value["spec"]["clusterIP"].string_or("")) : "";
  }
  Target target(std::string_view service, int port) {
    Target target;
    target.name = fmt::format("webhook {}.example.com", service);
    target.client_config = Json::Object{
        {"service", Json::Object{{"namespace", ns_}, {"name", service}, {"path", "/validate"}, {"port", port}}}};
    return target;
  }
  Task<http::Answer> answer(http::Request request) {
    Json asked = Json::parse(request.body).value_or(Json());
    Json response = Json::Object{{"uid", asked["request"]["uid"]}, {"allowed", allow_}};
    Json review =
        Json::Object{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", response}};
    co_return http::Answer{200, {{"Content-Type", "application/json"}}, http::body_of(review.dump()), 0};
  }
  void listen(std::string address, uint16_t port, const x509::KeyPair& leaf) {
    auto server = http::Server::listen(
        loop_, {.address = std::move(address), .port = port, .identity = http::Identity{{leaf.certificate}, leaf.key}},
        [this](http::Request request, const http::Peer&) { return answer(std::move(request)); });
    ASSERT_TRUE(server) << server.error().report();
    server_ = *std::move(server);
  }

  std::string run_;
  std::unique_ptr<Prover> prover_;
  uint64_t connection_ = 0;
  std::vector<std::pair<object::Resource, std::string>> made_;
  std::unique_ptr<http::Server> server_;
  bool allow_ = true;
};

TEST_F(RealShadow, CreatedConfigurationsAreInEffect) {
  for (int i = 0; i < 20; ++i) {
    object::Resource resource = i % 2 == 1 ? mutating() : validating();
    GuardKind kind = i % 2 == 1 ? GuardKind::mutating_webhooks : GuardKind::validating_webhooks;
    std::string name = fmt::format("{}-{}", run_, i);
    make(resource, name, guard("Fail"));
    Proof proof = proof_of(prover_->created_in_effect(kind, connection_));
    EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
    EXPECT_TRUE(is_guarded()) << "round " << i;
    // A removal is learned of in the same order.
    expect_ok(wait(admin().remove(resource, "", name)));
    EXPECT_TRUE(proof_of(prover_->created_in_effect(kind, connection_)).proved);
    EXPECT_FALSE(is_guarded()) << "round " << i;
  }
}

TEST_F(RealShadow, UpdatedConfigurationsAreInEffect) {
  make(validating(), run_, guard("Ignore"));
  bool strict = false;
  for (int i = 0; i < 20; ++i) {
    strict = !strict;
    Json changed = guard(strict ? "Fail" : "Ignore");
    expect_ok(wait(admin().patch(validating(), "", run_, PatchType::merge, changed)));
    Proof proof = proof_of(prover_->updated_in_effect({validating().group, validating().kind, "", run_}, connection_));
    EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
    EXPECT_EQ(is_guarded(), strict) << "round " << i;
  }
  loop_.run(prover_->clean_up());
  Outcome<Reply> left = wait(admin().get(validating(), "", run_));
  expect_ok(left);
  EXPECT_EQ(left->value["webhooks"].items().size(), 1u);
  EXPECT_THAT(left->value["metadata"]["managedFields"].dump(), testing::Not(testing::HasSubstr("fairlead-marker")));
  // One that is gone is not made again by its marker.
  expect_ok(wait(admin().remove(validating(), "", run_)));
  EXPECT_EQ(proof_of(prover_->updated_in_effect({validating().group, validating().kind, "", run_}, connection_)).rung,
            Rung::nothing);
  expect_fault(wait(admin().get(validating(), "", run_)), FaultKind::not_found);
}

TEST_F(RealShadow, AMirrorClimbsTheLadder) {
  WallTime now = loop_.clock().wall_now();
  x509::KeyPair ca = x509::make_ca("test", 24h, now).value(), other = x509::make_ca("other", 24h, now).value();
  x509::KeyPair leaf = x509::make_leaf(ca, {.dns_names = {fmt::format("hook.{}.svc", ns_)}}, now).value();
  constexpr int kPort = 8443;
  auto ask = [&](const Target& whom) { return proof_of(prover_->mirror(whom, connection_)); };
  auto kind = [](const Proof& proof) { return proof.fault ? name_of(proof.fault->kind) : "none"; };

  Target hook = target("hook", kPort);
  hook.client_config.make("caBundle") = to_base64(other.certificate.to_pem());
  Proof proof = ask(hook);
  EXPECT_TRUE(proof.proved) << proof.why_not;
  EXPECT_EQ(name_of(proof.rung), "in effect");
  EXPECT_EQ(kind(proof), name_of(FaultKind::webhook_service_missing));

  std::string address = make_service("hook", kPort);
  ASSERT_TRUE(address.starts_with("127.")) << address;
  // The API server learns of the Service in its own time.
  for (int i = 0; i < 100 && kind(proof) == name_of(FaultKind::webhook_service_missing); ++i) {
    (void)wait(sleep_for(loop_, 10ms));
    proof = ask(hook);
  }
  EXPECT_EQ(name_of(proof.rung), "in effect");
  EXPECT_EQ(kind(proof), name_of(FaultKind::webhook_refused));
  Proof endpoint = proof_of(prover_->mirror_endpoints(hook, {{address, kPort}}, connection_));
  EXPECT_EQ(kind(endpoint), name_of(FaultKind::webhook_refused));
  EXPECT_FALSE(endpoint.reached(Rung::reachable));

  listen(address, kPort, leaf);
  proof = ask(hook);
  EXPECT_EQ(name_of(proof.rung), "reachable");
  EXPECT_EQ(kind(proof), name_of(FaultKind::webhook_untrusted));
  EXPECT_TRUE(proof_of(prover_->mirror_endpoints(hook, {{address, kPort}}, connection_)).reached(Rung::reachable));

  hook.client_config.make("caBundle") = to_base64(ca.certificate.to_pem());
  proof = ask(hook);
  EXPECT_TRUE(proof.reached(Rung::answering)) << proof.evidence;
  allow_ = false;
  proof = ask(hook);
  EXPECT_TRUE(proof.reached(Rung::answering)) << proof.evidence;
}

TEST_F(RealShadow, PoliciesAreInEffect) {
  make(
      policies(), run_,
      *Json::parse(fmt::format(
          R"({{"spec":{{"matchConstraints":{{"namespaceSelector":{{"matchLabels":{{"kubernetes.io/metadata.name":"{}"}}}},
               "resourceRules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
               "resources":["configmaps"]}}]}},"validations":[{{"expression":"false"}}]}}}})",
          ns_)));
  make(bindings(), run_,
       *Json::parse(fmt::format(R"({{"spec":{{"policyName":"{}","validationActions":["Deny"]}}}})", run_)));
  Proof proof = proof_of(prover_->created_in_effect(GuardKind::validating_policies, connection_));
  EXPECT_TRUE(proof.reached(Rung::in_effect)) << proof.why_not;
  EXPECT_TRUE(is_guarded());
}

// Not all servers serve them: 1.36 is the first that does so by default.
TEST_F(RealShadow, MutatingPoliciesAreProvedWhereTheyAreServed) {
  bool served = false;
  for (std::string_view version : {"v1", "v1beta1", "v1alpha1"}) {
    Outcome<Reply> list =
        wait(admin().request({.target = fmt::format("/apis/admissionregistration.k8s.io/{}", version)}));
    served = served || (list && list->value.dump().contains("\"mutatingadmissionpolicies\""));
  }
  Proof proof = proof_of(prover_->created_in_effect(GuardKind::mutating_policies, connection_));
  EXPECT_EQ(proof.proved, served) << proof.why_not;
  EXPECT_EQ(proof.hopeless, !served);
}

TEST_F(RealShadow, WithoutThePermissionNothingIsProved) {
  Client& user = connect_with(variable("FAIRLEAD_CLUSTER_USER_KUBECONFIG"))->client();
  Prover prover(user, {.run = run_ + "-user"});
  for (GuardKind kind :
       {GuardKind::validating_webhooks, GuardKind::mutating_webhooks, GuardKind::validating_policies}) {
    Outcome<Proof> proof = wait(prover.created_in_effect(kind, 0));
    expect_ok(proof);
    EXPECT_FALSE(proof->proved);
    EXPECT_TRUE(proof->hopeless);
    // Whoever could not remove a shadow makes none: that is asked first.
    EXPECT_THAT(proof->why_not, testing::HasSubstr("cannot delete resource"));
  }
  loop_.run(prover.clean_up());
}

TEST_F(RealShadow, WhatAKilledRunLeavesIsSwept) {
  make(mutating(), run_, guard("Ignore"));
  auto killed = std::make_unique<Prover>(admin(), Prover::Options{.run = run_ + "-killed", .life = -1h});
  EXPECT_TRUE(wait(killed->mirror(target("none", 443), connection_)));
  killed.reset();
  std::string uid(wait(admin().get(mutating(), "", run_))->value["metadata"]["uid"].string_or(""));
  readiness::Stamp stamp{run_ + "-killed", 9, loop_.clock().wall_now() - 1h};
  expect_ok(wait(
      admin().apply(mutating(), "", run_, readiness::guest_patch(mutating(), run_, uid, /*mutating=*/true, stamp))));
  Outcome<size_t> swept = wait(prover_->sweep());
  expect_ok(swept);
  EXPECT_GE(*swept, 2u);
  EXPECT_EQ(wait(admin().get(mutating(), "", run_))->value["webhooks"].items().size(), 1u);
  Outcome<List> left = wait(admin().list(mutating(), {.label_selector = "fairlead.dev/shadow=" + run_ + "-killed"}));
  expect_ok(left);
  EXPECT_THAT(left->items, testing::IsEmpty());
}

}  // namespace
}  // namespace fairlead::kube
