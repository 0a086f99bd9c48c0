// No proof is false: what a prover says to be in effect guards the very next write over the same connection, and what
// it says to be gone does not. On every API server of the cluster, and for a user who may send only ConfigMaps as
// probes.
//
// FAIRLEAD_PROOFS=N makes N rounds of six proofs at each place, for figures.
#include "readiness/shadow.h"
#include "real_cluster_testing.h"

namespace fairlead::kube {
namespace {

using readiness::GuardKind, readiness::Proof, readiness::Prover, readiness::Rung;

constexpr int kRounds = 5;
constexpr std::string_view kGroup = "admissionregistration.k8s.io";

object::Resource registration(bool mutating) {
  return {.group = std::string(kGroup),
          .version = "v1",
          .kind = mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
          .plural = mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations"};
}
object::Resource rbac(std::string kind, std::string plural) {
  return {.group = "rbac.authorization.k8s.io", .version = "v1", .kind = std::move(kind), .plural = std::move(plural)};
}

class RealProofs : public RealCluster {
 protected:
  // Somebody who proves and writes: one API server, one user.
  struct Seat {
    std::string name;
    Client* client = nullptr;
    uint64_t connection = 0;
    std::unique_ptr<Prover> prover;
  };

  RealProofs() {
    run_ = fmt::format("p{}-{}", ::getpid(), loop_.now().time_since_epoch().count() % 1000000007);
    std::istringstream servers(variable("FAIRLEAD_CLUSTER_SERVERS"));
    for (std::string server; servers >> server;)
      add_seat(
          fmt::format("admin at {}", server),
          connect_as_user(fmt::format("{{tokenFile: '{}'}}", variable("FAIRLEAD_CLUSTER_ADMIN_TOKEN_FILE")), server)
              ->client(),
          {});
    add_seat("a user without RuntimeClasses", few_rights(), {"forbidden", probes_});
  }
  ~RealProofs() override {
    for (Seat& seat : seats_) loop_.run(seat.prover->clean_up());
    for (bool mutating : {false, true}) {
      (void)wait(admin().remove(registration(mutating), "", run_));
      Outcome<List> left = wait(admin().list(registration(mutating), {.label_selector = "fairlead.dev/shadow"}));
      expect_ok(left);
      for (const Json& one : left->items)
        EXPECT_THAT(one["metadata"]["name"].string_or(""), testing::Not(testing::HasSubstr(run_)));
    }
    (void)wait(admin().remove(namespaces(), "", probes_));
    (void)wait(admin().remove(rbac("ClusterRoleBinding", "clusterrolebindings"), "", run_));
    (void)wait(admin().remove(rbac("ClusterRole", "clusterroles"), "", run_));
  }

  void add_seat(std::string name, Client& client, std::vector<std::string> places) {
    uint64_t connection = wait(client.request({.target = "/version"}))->connection;
    std::string run = fmt::format("{}-{}", run_, seats_.size());
    Prover::Options options{.run = run, .namespaces = std::move(places)};
    seats_.push_back({std::move(name), &client, connection, std::make_unique<Prover>(client, std::move(options))});
  }

  // May register webhooks and write in two namespaces, and nothing else.
  Client& few_rights() {
    probes_ = ns_ + "-probes";
    Json space(
        Json::Object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::Object{{"name", probes_}}}});
    expect_ok(wait(admin().apply(namespaces(), "", probes_, space)));
    std::string user = "plain-user";
    grant(user);
    std::swap(ns_, probes_);
    grant(user);
    std::swap(ns_, probes_);
    Json role = *Json::parse(fmt::format(
        R"({{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{{"name":"{}"}},"rules":[{{
            "apiGroups":["{}"],"verbs":["get","create","delete","patch"],
            "resources":["mutatingwebhookconfigurations","validatingwebhookconfigurations"]}}]}})",
        run_, kGroup));
    Json binding = *Json::parse(fmt::format(
        R"({{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{{"name":"{0}"}},
            "roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"{0}"}},
            "subjects":[{{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"{1}"}}]}})",
        run_, user));
    expect_ok(wait(admin().apply(rbac("ClusterRole", "clusterroles"), "", run_, role)));
    expect_ok(wait(admin().apply(rbac("ClusterRoleBinding", "clusterrolebindings"), "", run_, binding)));
    Client& client = connect_with(variable("FAIRLEAD_CLUSTER_USER_KUBECONFIG"))->client();
    // The API server learns of rights in its own time: until then a look at something that is not there is forbidden.
    auto knows = [&](const object::Resource& resource, const std::string& ns) {
      return wait(client.get(resource, ns, "none")).error().is(FaultKind::not_found);
    };
    while (!knows(registration(false), "") || !knows(config_maps(), ns_) || !knows(config_maps(), probes_))
      (void)wait(sleep_for(loop_, 10ms));
    return client;
  }

  Json guard(bool strict) const {
    return *Json::parse(fmt::format(
        R"({{"webhooks":[{{"name":"guard.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
            "failurePolicy":"{0}","clientConfig":{{"service":{{"namespace":"{1}","name":"none"}}}},
            "namespaceSelector":{{"matchLabels":{{"kubernetes.io/metadata.name":"{1}"}}}},
            "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}}]}}]}})",
        strict ? "Fail" : "Ignore", ns_));
  }

  // One proof, and a write that tells whether it was true.
  void check(Seat& seat, Task<Outcome<Proof>> task, bool guarded, std::string_view what) {
    Outcome<Proof> proof = wait(std::move(task));
    ASSERT_TRUE(proof) << proof.error().error().report();
    ASSERT_TRUE(proof->reached(Rung::in_effect)) << seat.name << ", " << what << ": " << proof->why_not;
    ASSERT_EQ(proof->connection, seat.connection);
    ++proofs_;
    WriteOptions options;
    options.dry_run = true;
    options.connection = seat.connection;
    bool stored = wait(seat.client->create(config_maps(), ns_, config_map("x"), options)).has_value();
    false_ += stored == guarded ? 1 : 0;
    EXPECT_EQ(stored, !guarded) << seat.name << ", " << what;
  }

  void round(Seat& seat, bool mutating) {
    object::Resource resource = registration(mutating);
    GuardKind kind = mutating ? GuardKind::mutating_webhooks : GuardKind::validating_webhooks;
    object::Key key{resource.group, resource.kind, "", run_};
    Json configuration = guard(true);
    configuration.make("apiVersion") = resource.api_version();
    configuration.make("kind") = resource.kind;
    configuration.make("metadata").make("name") = fmt::format("{}-{}", run_, ++made_);
    key.name = configuration["metadata"]["name"].string_or("");
    expect_ok(wait(admin().create(resource, "", configuration)));
    check(seat, seat.prover->created_in_effect(kind, seat.connection), true, "created");
    for (bool strict : {false, true, false, true}) {
      expect_ok(wait(admin().patch(resource, "", key.name, PatchType::merge, guard(strict))));
      check(seat, seat.prover->updated_in_effect(key, seat.connection), strict, "updated");
    }
    expect_ok(wait(admin().remove(resource, "", key.name)));
    check(seat, seat.prover->created_in_effect(kind, seat.connection), false, "removed");
  }

  void round_of_policies(Seat& seat) {
    object::Resource policies{.group = std::string(kGroup),
                              .version = "v1",
                              .kind = "ValidatingAdmissionPolicy",
                              .plural = "validatingadmissionpolicies"};
    object::Resource bindings{.group = std::string(kGroup),
                              .version = "v1",
                              .kind = "ValidatingAdmissionPolicyBinding",
                              .plural = "validatingadmissionpolicybindings"};
    std::string name = fmt::format("{}-{}", run_, ++made_);
    Json policy = *Json::parse(fmt::format(
        R"({{"apiVersion":"{0}/v1","kind":"ValidatingAdmissionPolicy","metadata":{{"name":"{1}"}},"spec":{{
            "matchConstraints":{{"namespaceSelector":{{"matchLabels":{{"kubernetes.io/metadata.name":"{2}"}}}},
            "resourceRules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
            "resources":["configmaps"]}}]}},"validations":[{{"expression":"false"}}]}}}})",
        kGroup, name, ns_));
    Json binding = *Json::parse(fmt::format(
        R"({{"apiVersion":"{0}/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{{"name":"{1}"}},"spec":{{
            "policyName":"{1}","validationActions":["Deny"]}}}})",
        kGroup, name));
    expect_ok(wait(admin().create(policies, "", policy)));
    expect_ok(wait(admin().create(bindings, "", binding)));
    check(seat, seat.prover->created_in_effect(GuardKind::validating_policies, seat.connection), true, "a policy");
    expect_ok(wait(admin().remove(bindings, "", name)));
    expect_ok(wait(admin().remove(policies, "", name)));
    check(seat, seat.prover->created_in_effect(GuardKind::validating_policies, seat.connection), false, "no policy");
  }

  static int rounds() {
    const char* asked = std::getenv("FAIRLEAD_PROOFS");
    return asked ? std::atoi(asked) : kRounds;
  }
  void report() const { fmt::print("{} proofs at {} places, {} false\n", proofs_, seats_.size(), false_); }

  std::string run_;
  std::string probes_;
  std::vector<Seat> seats_;
  size_t made_ = 0;
  size_t proofs_ = 0;
  size_t false_ = 0;
};

TEST_F(RealProofs, NoneOfWebhooksIsFalse) {
  for (int i = 0; i < rounds() && !HasFatalFailure(); ++i)
    for (Seat& seat : seats_) round(seat, i % 2 == 1);
  report();
}

// An API server learns of policies once a second, so there are fewer of these.
TEST_F(RealProofs, NoneOfPoliciesIsFalse) {
  seats_.pop_back();  // may not register policies
  for (int i = 0; i < (rounds() + 9) / 10 && !HasFatalFailure(); ++i)
    for (Seat& seat : seats_) round_of_policies(seat);
  report();
}

}  // namespace
}  // namespace fairlead::kube
