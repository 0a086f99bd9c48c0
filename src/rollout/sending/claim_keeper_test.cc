// A bundle's claim: what blocks it, and how long it is valid.
#include <algorithm>
#include <deque>

#include "base/base64.h"
#include "inventory/applyset.h"
#include "inventory/membership.h"
#include "rollout/rollout_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

const object::Resource kConfigMaps{
    .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "", .namespaced = true};

// An operator that guards ConfigMaps, except those of its own namespace; its pods have these annotations.
std::string guard_of_config_maps(std::string_view annotations = "") {
  return operator_with(annotations, "replicas: 1\n  strategy: {type: Recreate}") + fmt::format(R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: maps}}
webhooks:
- name: v.maps.example.com
  clientConfig: {{caBundle: {}, service: {{name: webhook, namespace: operator}}}}
  rules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}}]
  namespaceSelector:
    matchExpressions: [{{key: kubernetes.io/metadata.name, operator: NotIn, values: [operator]}}]
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
---
)",
                                                                                               to_base64(kCertificate));
}

std::string config_map(std::string_view name) {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\n---\n", name);
}
constexpr std::string_view kSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n";

class ClaimKeeperTest : public RolloutTest {
 protected:
  ClaimKeeperTest() { serve("operator/webhook", std::string(kCertificate)); }

  Options named() {
    Options options;
    options.name = "shop";
    options.holder = "ann";
    return options;
  }
  // Deletes its pods, so that its Service has no endpoints.
  void break_operator() {
    auto scaled = loop_.run(client_.patch(kDeployments, "operator", "operator", kube::PatchType::merge,
                                          *Json::parse(R"({"spec":{"replicas":0}})"),
                                          {.field_manager = "kubectl-client-side-apply"}));
    ASSERT_TRUE(scaled);
    (void)loop_.run(sleep_for(loop_, seconds(5)));
  }
  Json record() { return get("/api/v1/namespaces/default/configmaps/fairlead-shop"); }
  std::string texts(journal::EventKind kind) const {
    std::string text;
    for (const journal::Event& event : events_)
      if (event.kind == kind) text += event.text + "\n";
    return text;
  }
  // Does that in the cluster a while after now.
  void later(Duration after, std::function<Task<void>()> work) {
    // Kept: a coroutine does not own what its lambda captures.
    works_.push_back(std::move(work));
    loop_.call_after(after, [this, kept = &works_.back()] { injector_.spawn((*kept)()); });
  }
  // What another run does: it writes the record as well, while the webhook answers for a moment.
  Task<void> add_secret() {
    inventory::BundleName shop{.name = "shop", .home = "default"};
    Json secret = *Json::parse(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"added"}})");
    secret.make("metadata").make("labels").make(inventory::kPartOfLabel) = shop.label_value();
    const object::Resource secrets{
        .group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .singular = "", .namespaced = true};
    EXPECT_TRUE(co_await client_.apply(secrets, "default", "added", secret, {{.field_manager = shop.field_manager()}}));
    sandbox::Core& core = sandbox_.core();
    Json record = *core.find("", "configmaps", "default", shop.record());
    Json& annotations = record.make("metadata").make("annotations");
    inventory::Coverage coverage = inventory::Coverage::read(annotations, "default");
    coverage.kinds.insert({"", "Secret"});
    coverage.write(annotations, "default");
    core.store.put({"", "configmaps"}, {"default", shop.record()}, record);
  }

  std::deque<std::function<Task<void>()>> works_;
};

TEST_F(ClaimKeeperTest, AnOperatorInTheWayOfItsOwnRecordIsRepaired) {
  EXPECT_EQ(apply(guard_of_config_maps() + config_map("a") + config_map("old"), named()).how, Ending::How::done);
  break_operator();
  Options options = named();
  options.prune = true;
  Ending ending = apply(guard_of_config_maps() + config_map("a"), options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending),
            "Namespace operator unchanged\nService operator/webhook unchanged\nDeployment operator/operator changed\n"
            "ValidatingWebhookConfiguration maps unchanged\nConfigMap default/a unchanged\n"
            "ConfigMap default/old removed\n");
  EXPECT_EQ(
      texts(journal::EventKind::warning),
      "webhook v.maps.example.com (ValidatingWebhookConfiguration maps) intercepts the inventory of the bundle, "
      "ConfigMap default/fairlead-shop: its failurePolicy is Fail: while it does not answer, no run can claim the "
      "bundle or add objects to its inventory\n"
      "the bundle is not claimed, and other runs are not kept out, until webhook v.maps.example.com answers: webhook "
      "v.maps.example.com cannot be called: nothing listens behind service operator/webhook:443 (dial "
      "tcp 10.96.7.243:443: connect: connection refused). The webhook is part of this bundle, so objects that the "
      "inventory already covers are applied anyway\n");
  EXPECT_NE(texts(journal::EventKind::note).find("the bundle is now claimed\n"), std::string::npos) << events();
  EXPECT_FALSE(record()["metadata"]["annotations"].contains("fairlead.dev/claim"));
}

TEST_F(ClaimKeeperTest, WhatAnotherRunAddedBeforeALateClaimIsPruned) {
  std::string bundle = guard_of_config_maps("sandbox.fairlead.dev/ready-after: 30s") + std::string(kSecret);
  EXPECT_EQ(apply(bundle, named()).how, Ending::How::done);
  break_operator();
  later(seconds(15), [this] { return add_secret(); });
  Options options = named();
  options.prune = true;
  Ending ending = apply(bundle, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(texts(journal::EventKind::note).find("the bundle is now claimed\n"), std::string::npos) << events();
  EXPECT_NE(states(ending).find("Secret default/added removed\n"), std::string::npos) << states(ending);
  loop_.run(injector_.join());
}

TEST_F(ClaimKeeperTest, WhatAnotherRunAddedBeforeALateClaimStaysRecorded) {
  std::string bundle = guard_of_config_maps("sandbox.fairlead.dev/ready-after: 30s");
  EXPECT_EQ(apply(bundle, named()).how, Ending::How::done);
  break_operator();
  later(seconds(15), [this] { return add_secret(); });
  Ending ending = apply(bundle, named());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(texts(journal::EventKind::note).find("the bundle is now claimed\n"), std::string::npos) << events();
  loop_.run(injector_.join());
  // Only what is recorded can be found.
  Options options = named();
  options.prune = true;
  ending = apply(bundle, options);
  EXPECT_NE(states(ending).find("Secret default/added removed\n"), std::string::npos) << states(ending);
}

// It works on the bundle from when the webhook answers again, just before this run can claim it.
TEST_F(ClaimKeeperTest, AnotherRunThatClaimsTheBundleFirstKeepsIt) {
  std::string bundle = guard_of_config_maps("sandbox.fairlead.dev/ready-after: 30s") + std::string(kSecret);
  EXPECT_EQ(apply(bundle + config_map("old"), named()).how, Ending::How::done);
  break_operator();
  later(seconds(15), [this]() -> Task<void> {
    sandbox::Core& core = sandbox_.core();
    for (int renewals = 0; renewals < 30; ++renewals) {
      Json record = *core.find("", "configmaps", "default", "fairlead-shop");
      record.make("metadata").make("annotations").make("fairlead.dev/claim") =
          Json(Json::Object{{"holder", "ben"}, {"renewals", renewals}, {"leaseMilliseconds", 30000}}).dump();
      core.store.put({"", "configmaps"}, {"default", "fairlead-shop"}, record);
      (void)co_await sleep_for(loop_, seconds(5));
    }
  });
  Options options = named();
  options.prune = true;
  Ending ending = apply(bundle, options);
  EXPECT_NE(ending.how, Ending::How::done) << events();
  EXPECT_NE(reports(ending).find("error: bundle shop in namespace default is claimed by another run\n"
                                 "  because   ben claimed it, and that run is still alive\n"),
            std::string::npos)
      << reports(ending);
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/old").is_null());
  loop_.run(injector_.join());
  Json claim = record()["metadata"]["annotations"]["fairlead.dev/claim"];
  EXPECT_TRUE(claim.string_or("").contains("ben")) << claim.dump();
}

TEST_F(ClaimKeeperTest, WhatTheRecordDoesNotCoverWaitsForTheClaim) {
  EXPECT_EQ(apply(guard_of_config_maps(), named()).how, Ending::How::done);
  break_operator();
  Ending ending = apply(guard_of_config_maps() + std::string(kSecret), named());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  size_t claimed = events().find("the bundle is now claimed");
  size_t stored =
      events().find(R"("kind":"Secret","namespace":"default","name":"s","source":"bundle.yaml:40"},"state":"created")");
  EXPECT_LT(claimed, stored) << events();
  EXPECT_NE(stored, std::string::npos) << events();
  EXPECT_EQ(record()["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"].string_or(""),
            "Deployment.apps,Namespace,Secret,Service,ValidatingWebhookConfiguration.admissionregistration.k8s.io");
}

TEST_F(ClaimKeeperTest, ARecordThatCannotBeMadeIsReportedWithItsCauseAndAWayOut) {
  EXPECT_EQ(apply(guard_of_config_maps()).how, Ending::How::done);
  break_operator();
  Ending ending = apply(guard_of_config_maps(), named());
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_EQ(reports(ending),
            "error: bundle shop in namespace default could not be claimed within 5m\n"
            "  because   webhook v.maps.example.com (ValidatingWebhookConfiguration maps) blocks writes to its "
            "inventory, ConfigMap "
            "default/fairlead-shop\n"
            "  because   webhook v.maps.example.com cannot be called: nothing listens behind service "
            "operator/webhook:443 (dial tcp 10.96.7.243:443: connect: connection refused)\n"
            "  because   service operator/webhook has no endpoints\n"
            "  because   no pod has the labels that it selects: app=operator\n"
            "  next      fairlead apply … without --name and --prune writes no inventory and can repair the webhook; "
            "then run this again\n");
  EXPECT_LT(ending.requests, 250u);
  // About every 30 s.
  EXPECT_GE(std::ranges::count(events_, journal::EventKind::waiting, &journal::Event::kind), 7);
  EXPECT_EQ(ending.took, std::chrono::minutes(5));
  EXPECT_EQ(apply(guard_of_config_maps()).how, Ending::How::done);
  EXPECT_EQ(apply(guard_of_config_maps(), named()).how, Ending::How::done) << events();
}

TEST_F(ClaimKeeperTest, TheTimeForAllOfItCountsForTheClaimToo) {
  EXPECT_EQ(apply(guard_of_config_maps()).how, Ending::How::done);
  break_operator();
  Options options = named();
  options.timeout = seconds(40);
  Ending ending = apply(guard_of_config_maps(), options);
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_EQ(ending.took, seconds(40));
  EXPECT_NE(reports(ending).find("could not be claimed within 40s"), std::string::npos) << reports(ending);
}

// The webhook is part of the bundle, and the Deployment behind it is not: nothing repairs it.
TEST_F(ClaimKeeperTest, NothingIsPrunedWithoutTheClaim) {
  std::string all = guard_of_config_maps();
  size_t begin = all.find("apiVersion: apps/v1"), end = all.find("apiVersion: admissionregistration");
  std::string pods = all.substr(begin, end - begin);
  std::string bundle = all.substr(0, begin) + all.substr(end);
  EXPECT_EQ(apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: operator}\n---\n" + pods).how, Ending::How::done);
  EXPECT_EQ(apply(bundle + std::string(kSecret), named()).how, Ending::How::done) << events();
  break_operator();
  Options options = named();
  options.prune = true;
  Ending ending = apply(bundle, options);
  EXPECT_EQ(ending.how, Ending::How::timed_out) << events();
  EXPECT_EQ(states(ending),
            "Namespace operator unchanged\nService operator/webhook unchanged\n"
            "ValidatingWebhookConfiguration maps unchanged\n");
  EXPECT_TRUE(
      reports(ending).starts_with("error: objects that left the bundle were not deleted\n"
                                  "  because   bundle shop in namespace default could not be claimed within 5m\n"))
      << reports(ending);
  EXPECT_FALSE(get("/api/v1/namespaces/default/secrets/s").is_null());
  // Once it answers again, the claim is taken and the object is found.
  ASSERT_TRUE(loop_.run(client_.patch(kDeployments, "operator", "operator", kube::PatchType::merge,
                                      *Json::parse(R"({"spec":{"replicas":1}})"))));
  (void)loop_.run(sleep_for(loop_, seconds(30)));
  ending = apply(bundle, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(states(ending).find("Secret default/s removed\n"), std::string::npos) << states(ending);
}

TEST_F(ClaimKeeperTest, AClaimThatCannotBeGivenBackIsToldOf) {
  EXPECT_EQ(apply(guard_of_config_maps(), named()).how, Ending::How::done);
  // Somebody stops the operator while the run waits for something else.
  later(seconds(20), [this]() -> Task<void> {
    (void)co_await client_.patch(kDeployments, "operator", "operator", kube::PatchType::merge,
                                 *Json::parse(R"({"spec":{"replicas":0}})"));
  });
  Ending ending = apply(guard_of_config_maps() +
                            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: slow}\nspec:\n  template:\n"
                            "    metadata: {annotations: {sandbox.fairlead.dev/runs-for: 40s}}\n"
                            "    spec: {restartPolicy: Never, containers: [{name: x, image: x}]}\n",
                        named());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(texts(journal::EventKind::warning).find("the claim of the bundle could not be released: "),
            std::string::npos)
      << events();
  loop_.run(injector_.join());
}

TEST_F(ClaimKeeperTest, WhoMayBeAliveIsNotPassedBy) {
  EXPECT_EQ(apply(guard_of_config_maps(), named()).how, Ending::How::done);
  std::string claim = Json(Json::Object{{"holder", "ben"}, {"renewed", "2030-01-01T00:00:00Z"}}).dump();
  Json patch(Json::Object{});
  patch.make("metadata").make("annotations").make("fairlead.dev/claim") = claim;
  ASSERT_TRUE(loop_.run(client_.patch(kConfigMaps, "default", "fairlead-shop", kube::PatchType::merge, patch)));
  break_operator();
  Ending ending = apply(guard_of_config_maps(), named());
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_NE(reports(ending).find("ben has claimed it, and could not renew its claim either"), std::string::npos)
      << reports(ending);
  EXPECT_EQ(states(ending).find("unchanged"), std::string::npos) << states(ending);
}

TEST_F(ClaimKeeperTest, AnOperatorThatIsReplacedMayTakeLongerThanAClaimLives) {
  EXPECT_EQ(apply(guard_of_config_maps() + config_map("a"), named()).how, Ending::How::done);
  Ending ending =
      apply(guard_of_config_maps("sandbox.fairlead.dev/ready-after: 2m") + config_map("a") + config_map("b"), named());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_GT(ending.took, std::chrono::minutes(2));
  EXPECT_NE(
      texts(journal::EventKind::warning)
          .find("the claim of the bundle cannot be renewed until webhook v.maps.example.com answers, but stays valid, "
                "because no other run can write the inventory either: webhook v.maps.example.com cannot be called: "
                "nothing listens"),
      std::string::npos)
      << texts(journal::EventKind::warning);
  EXPECT_FALSE(record()["metadata"]["annotations"].contains("fairlead.dev/claim"));
}

// A ConfigMap with a finalizer that somebody removes after a while.
constexpr std::string_view kSlow =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: slow, finalizers: [example.com/later]}\n---\n";

TEST_F(ClaimKeeperTest, TheClaimIsKeptWhilePruningTakesItsTime) {
  Options options = named();
  EXPECT_EQ(apply(config_map("a") + std::string(kSlow), options).how, Ending::How::done);
  options.prune = true;
  std::string claim;
  later(seconds(55), [&]() -> Task<void> {
    auto read = co_await client_.get(kConfigMaps, "default", "fairlead-shop");
    if (read) claim = read->value["metadata"]["annotations"]["fairlead.dev/claim"].string_or("");
  });
  later(seconds(60), [&]() -> Task<void> {
    (void)co_await client_.patch(kConfigMaps, "default", "slow", kube::PatchType::merge,
                                 *Json::parse(R"({"metadata":{"finalizers":null}})"));
  });
  Ending ending = apply(config_map("a"), options);
  EXPECT_EQ(states(ending), "ConfigMap default/a unchanged\nConfigMap default/slow removed\n") << reports(ending);
  EXPECT_NE(claim.find(R"("renewals":5)"), std::string::npos) << claim;
  EXPECT_FALSE(record()["metadata"]["annotations"].contains("fairlead.dev/claim"));
  loop_.run(injector_.join());
}

TEST_F(ClaimKeeperTest, PruningEndsWithTheClaim) {
  Options options = named();
  EXPECT_EQ(apply(config_map("a") + std::string(kSlow), options).how, Ending::How::done);
  options.prune = true;
  later(seconds(15), [&]() -> Task<void> {
    (void)co_await client_.patch(kConfigMaps, "default", "fairlead-shop", kube::PatchType::merge,
                                 *Json::parse(R"({"metadata":{"annotations":{"fairlead.dev/claim":null}}})"));
  });
  Ending ending = apply(config_map("a"), options);
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_LT(ending.took, seconds(25));
  EXPECT_NE(reports(ending).find("error: bundle shop in namespace default is no longer claimed by this run\n"
                                 "  because   somebody removed the claim from ConfigMap default/fairlead-shop\n"
                                 "  next      run again when no other run is working on it\n"),
            std::string::npos)
      << reports(ending);
  loop_.run(injector_.join());
}

}  // namespace
}  // namespace fairlead::rollout
