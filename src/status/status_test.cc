#include "status/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/manifest_testing.h"
#include "rollout/rollout.h"
#include "sandbox/sandbox.h"
#include "status/bundles.h"
#include "status/show.h"
#include "status/table.h"
#include "status/trace.h"

namespace fairlead::status {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kWeb = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {password: hunter2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1", resources: {requests: {cpu: 1000m}}}]
)";

class StatusTest : public testing::Test {
 protected:
  StatusTest()
      : sandbox_(loop_, options()),
        client_(loop_, sandbox_.api_server(), nullptr, {}),
        discovery_(client_),
        journal_(loop_.clock()) {}
  ~StatusTest() override { loop_.run(sandbox_.stop()); }

  sandbox::Options options() {
    sandbox::Options options;
    options.forbids = [this](auto, std::string_view verb, auto, std::string_view resource, std::string_view ns, auto) {
      return forbids_ && forbids_(verb, resource, ns);
    };
    return options;
  }

  rollout::Ending apply(std::string_view yaml, std::string name = "shop", Duration timeout = std::chrono::minutes(15)) {
    rollout::Options options;
    options.name = std::move(name);
    options.holder = "ann@laptop, process 7";
    options.timeout = timeout;
    options.run = fmt::format("run{}", ++runs_);
    return loop_.run(rollout::roll_out(client_, discovery_, manifest::bundle_of(yaml, "k8s/web.yaml"),
                                       std::move(options), journal_, nullptr));
  }
  BundleStatus status(std::string name = "shop") {
    auto read = loop_.run(read_status(client_, discovery_, std::move(name), "default"));
    EXPECT_TRUE(read) << read.error().report();
    return read ? *std::move(read) : BundleStatus();
  }
  std::string text() { return text_of(status(), {.now = loop_.clock().wall_now()}); }
  void patch(std::string_view plural, std::string_view group, std::string_view name, std::string_view patch) {
    object::Resource resource{
        .group = std::string(group), .version = "v1", .kind = "X", .plural = std::string(plural), .namespaced = true};
    auto done = loop_.run(client_.patch(resource, "default", name, kube::PatchType::merge, *Json::parse(patch),
                                        {.field_manager = "kubectl-edit"}));
    ASSERT_TRUE(done) << done.error().error().report();
  }
  void remove(std::string_view plural, std::string_view name) {
    object::Resource resource{
        .group = "", .version = "v1", .kind = "X", .plural = std::string(plural), .namespaced = true};
    ASSERT_TRUE(loop_.run(client_.remove(resource, "default", name)));
  }

  VirtualLoop loop_;
  std::function<bool(std::string_view verb, std::string_view resource, std::string_view ns)> forbids_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  kube::Discovery discovery_;
  journal::Journal journal_;
  int runs_ = 0;
};

TEST_F(StatusTest, EverythingIsReadyAndAsItWasApplied) {
  ASSERT_EQ(apply(kWeb).how, rollout::Ending::How::done);
  EXPECT_TRUE(status().is_ready());
  EXPECT_EQ(text(),
            "bundle shop, namespace default, revision 1; last run done 0s ago by ann@laptop, process 7\n"
            "3 of 3 objects ready\n"
            "├─ ConfigMap default/settings   ready\n"
            "├─ Secret default/key           ready\n"
            "└─ Deployment default/web       ready\n");
}

TEST_F(StatusTest, FieldsThatOthersChangedAreDrift) {
  (void)apply(kWeb);
  patch("configmaps", "", "settings", R"({"data":{"a":"2","more":"3"}})");
  patch("secrets", "", "key", R"({"data":{"password":"bmV3"}})");
  patch("deployments", "apps", "web", R"({"spec":{"replicas":2,"minReadySeconds":1}})");
  BundleStatus now = status();
  EXPECT_EQ(now.drifted(), 3u);
  EXPECT_THAT(now.objects[0].fields, ElementsAre("data.a"));
  EXPECT_THAT(now.objects[1].fields, ElementsAre("data.password"));
  EXPECT_THAT(now.objects[2].fields, ElementsAre("spec.replicas"));
  EXPECT_THAT(text(), HasSubstr("├─ ConfigMap default/settings   ready; drifted: data.a\n"));
}

TEST_F(StatusTest, ASecretThatLostAValueHasDrifted) {
  (void)apply(kWeb);
  patch("secrets", "", "key", R"({"data":{"password":null}})");
  BundleStatus now = status();
  EXPECT_EQ(now.objects[1].drift, ObjectStatus::Drift::changed);
  EXPECT_THAT(now.objects[1].fields, ElementsAre("data.password"));
}

// The cluster still has what an earlier run applied.
TEST_F(StatusTest, WhatTheLastRunCouldNotApplyIsNotDrift) {
  (void)apply(kWeb);
  std::string second(kWeb);
  second.replace(second.find("hunter2"), 7, "hunter3");
  second.replace(second.find("web:1"), 5, "web:2");
  forbids_ = [](std::string_view verb, std::string_view resource, auto) {
    return verb == "patch" && resource == "secrets";
  };
  EXPECT_EQ(apply(second).how, rollout::Ending::How::failed);
  BundleStatus now = status();
  EXPECT_EQ(now.objects[1].not_applied, "refused");
  EXPECT_TRUE(now.objects[1].fields.empty());
  EXPECT_EQ(now.drifted(), 0u);
}

// Nobody has looked for it, so that it may be there.
TEST_F(StatusTest, WhatTheRecordDoesNotCoverIsNotGone) {
  (void)apply(kWeb);
  patch("configmaps", "", "fairlead-shop",
        R"({"metadata":{"annotations":{"applyset.kubernetes.io/contains-group-kinds":"ConfigMap,Deployment.apps"}}})");
  remove("configmaps", "settings");
  BundleStatus now = status();
  EXPECT_EQ(now.objects[0].drift, ObjectStatus::Drift::gone);
  EXPECT_EQ(now.objects[1].drift, ObjectStatus::Drift::unknown);
  EXPECT_EQ(now.drifted(), 1u);
  EXPECT_THAT(text(), HasSubstr("1 of 3 objects ready, 1 drifted\n"
                                "├─ ConfigMap default/settings   gone: it was applied, and is not in the cluster\n"
                                "├─ Secret default/key           unknown: not looked for, because the bundle's record "
                                "does not cover it\n"));
}

TEST_F(StatusTest, WhoHoldsTheBundleIsToldUnlessThatRunIsDead) {
  (void)apply(kWeb);
  auto opened = loop_.run(
      inventory::Inventory::open(client_, discovery_, {.name = "shop", .ns = "default", .holder = "bob@server"}));
  ASSERT_TRUE(opened);
  ASSERT_TRUE(loop_.run((*opened)->claim({})));
  EXPECT_EQ(status().held_by, "bob@server");
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  EXPECT_EQ(status().held_by, "");
}

TEST_F(StatusTest, WhatBlocksAnObjectIsFoundBehindWhatIsReady) {
  (void)apply(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second, annotations: {fairlead.dev/needs: ConfigMap/first}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: third, annotations: {fairlead.dev/needs: ConfigMap/second}}
)");
  remove("configmaps", "first");
  remove("configmaps", "third");
  BundleStatus now = status();
  ASSERT_EQ(now.objects.size(), 3u);
  ASSERT_EQ(now.objects[2].blocked_by.size(), 1u);
  EXPECT_EQ(now.objects[2].blocked_by[0].text(), "ConfigMap default/first");
}

TEST_F(StatusTest, WhatWasDeletedIsGoneAndWhatNeedsItSaysSo) {
  (void)apply(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: later, annotations: {fairlead.dev/needs: ConfigMap/settings}}
)");
  remove("configmaps", "settings");
  remove("configmaps", "later");
  BundleStatus now = status();
  EXPECT_FALSE(now.is_ready());
  EXPECT_EQ(text(),
            "bundle shop, namespace default, revision 1; last run done 0s ago by ann@laptop, process 7\n"
            "0 of 2 objects ready, 2 drifted\n"
            "├─ ConfigMap default/settings   gone: it was applied, and is not in the cluster\n"
            "└─ ConfigMap default/later      gone: it was applied, and is not in the cluster\n"
            "   └─ waits for ConfigMap default/settings\n");
}

TEST_F(StatusTest, AWorkloadThatIsNotReadyShowsItsPods) {
  (void)apply(kWeb);
  patch("deployments", "apps", "web", R"({"spec":{"template":{"spec":{"nodeSelector":{"no":"such-node"}}}}})");
  BundleStatus now = status();
  EXPECT_FALSE(now.is_ready());
  ASSERT_EQ(now.objects.size(), 3u);
  EXPECT_EQ(now.objects[2].key.kind, "Deployment");
  EXPECT_EQ(now.objects[2].verdict.state, readiness::State::in_progress);
  EXPECT_FALSE(now.objects[2].pods.empty());
  EXPECT_THAT(text(), HasSubstr("2 of 3 objects ready\n"));
}

TEST_F(StatusTest, WhatLeftTheManifestsIsMarked) {
  (void)apply(kWeb);
  (void)apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '9'}}");
  BundleStatus now = status();
  ASSERT_EQ(now.objects.size(), 3u);
  EXPECT_FALSE(now.objects[0].left);
  EXPECT_TRUE(now.objects[1].left);
  EXPECT_THAT(text(), HasSubstr("Deployment default/web       ready; no longer in the manifests\n"));
}

TEST_F(StatusTest, WithoutTheManifestsDriftIsNotKnown) {
  (void)apply(kWeb);
  forbids_ = [](std::string_view verb, std::string_view resource, auto) {
    return resource == "secrets" && verb == "get";
  };
  BundleStatus now = status();
  EXPECT_TRUE(now.is_ready());
  EXPECT_EQ(now.drifted(), 0u);
  ASSERT_EQ(now.notes.size(), 1u);
  EXPECT_THAT(now.notes[0], HasSubstr("drift is not known: the manifests of revision 1 cannot be read: "));
  // Nor what left them.
  ASSERT_EQ(now.objects.size(), 3u);
  for (const ObjectStatus& object : now.objects) EXPECT_FALSE(object.left) << object.key.text();
}

TEST_F(StatusTest, AHookForUpgradesIsNotMissingAfterAnInstallation) {
  std::string hook = R"(
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}
)";
  ASSERT_EQ(apply(std::string(kWeb) + hook).how, rollout::Ending::How::done);
  BundleStatus now = status();
  EXPECT_EQ(now.objects.size(), 3u);
  EXPECT_EQ(now.drifted(), 0u);
}

TEST_F(StatusTest, AClaimThatWaitsForItsFirstPodIsReady) {
  ASSERT_EQ(apply(R"(
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: lazy}
provisioner: example.com/disks
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: lazy, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)")
                .how,
            rollout::Ending::How::done);
  EXPECT_THAT(text(), HasSubstr("PersistentVolumeClaim default/data   ready"));
}

TEST_F(StatusTest, ABundleThatIsNotThereIsAnError) {
  auto read = loop_.run(read_status(client_, discovery_, "nope", "default"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().report(),
            "error: there is no bundle nope in namespace default\n  next      fairlead list -A\n");
}

TEST_F(StatusTest, BundlesAreListedWithWhoAppliedThem) {
  (void)apply(kWeb);
  (void)apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}", "other");
  auto bundles = loop_.run(read_bundles(client_, discovery_, "", "default"));
  ASSERT_TRUE(bundles) << bundles.error().report();
  EXPECT_EQ(text_of(*bundles, {.now = loop_.clock().wall_now()}),
            "NAMESPACE   NAME    OBJECTS   READY   REVISION   LAST RUN      BY                      AGE\n"
            "default     other   1         1       1          done 0s ago   ann@laptop, process 7   0s\n"
            "default     shop    3         3       1          done 0s ago   ann@laptop, process 7   0s\n");
}

TEST_F(StatusTest, AUserOfOneNamespaceSeesItsBundles) {
  (void)apply(kWeb);
  forbids_ = [](auto, auto, std::string_view ns) { return ns.empty(); };
  auto bundles = loop_.run(read_bundles(client_, discovery_, "", "default"));
  ASSERT_TRUE(bundles) << bundles.error().report();
  ASSERT_EQ(bundles->bundles.size(), 1u);
  EXPECT_EQ(bundles->bundles[0].objects, 3u);
  EXPECT_THAT(
      bundles->notes,
      ElementsAre("this user may not list ConfigMaps in all namespaces: only those of namespace default are shown"));
}

TEST_F(StatusTest, AnObjectIsFollowedToItsManifestAndRun) {
  (void)apply(kWeb);
  std::string second(kWeb);
  second.replace(second.find("a: \"1\""), 6, "a: \"2\"");
  (void)apply(second);
  auto found = loop_.run(trace(client_, discovery_, "deploy/web", "default"));
  ASSERT_TRUE(found) << found.error().report();
  EXPECT_EQ(found->source, "k8s/web.yaml:12");
  EXPECT_EQ(found->applied->number, 2);
  EXPECT_EQ(found->changed->number, 1);
  found = loop_.run(trace(client_, discovery_, "configmap/settings", "default"));
  EXPECT_EQ(text_of(*found, {.now = loop_.clock().wall_now()}),
            "ConfigMap default/settings\n"
            "  bundle    shop, namespace default\n"
            "  from      k8s/web.yaml:2\n"
            "  applied   revision 2, done, 0s ago by ann@laptop, process 7\n"
            "  changed   revision 2, done, 0s ago by ann@laptop, process 7\n");
}

TEST_F(StatusTest, APodIsFollowedThroughItsOwners) {
  (void)apply(kWeb);
  auto pods = loop_.run(client_.request({.target = "/api/v1/namespaces/default/pods"}));
  std::string name(pods->value["items"].item(0)["metadata"]["name"].string_or(""));
  auto found = loop_.run(trace(client_, discovery_, "pod/" + name, "default"));
  ASSERT_TRUE(found) << found.error().report();
  ASSERT_EQ(found->chain.size(), 3u);
  EXPECT_EQ(found->chain[1].kind, "ReplicaSet");
  EXPECT_EQ(found->chain[2].text(), "Deployment default/web");
  EXPECT_EQ(found->bundle->name, "shop");
  EXPECT_EQ(found->source, "k8s/web.yaml:12");
}

TEST_F(StatusTest, OfSeveralOwnersTheControllerIsFollowed) {
  (void)apply(kWeb);
  Json::Array owners;
  auto add = [&](std::string target, std::string_view api_version, std::string_view kind, bool controls) {
    Json owner = loop_.run(client_.request({.target = std::move(target)}))->value;
    owners.emplace_back(Json::Object{{"apiVersion", api_version},
                                     {"kind", kind},
                                     {"name", owner["metadata"]["name"]},
                                     {"uid", owner["metadata"]["uid"]},
                                     {"controller", controls}});
  };
  add("/api/v1/namespaces/default/configmaps/settings", "v1", "ConfigMap", false);
  add("/apis/apps/v1/namespaces/default/deployments/web", "apps/v1", "Deployment", true);
  Json owned(Json::Object{{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", Json::Object{{"name", "owned"}, {"ownerReferences", std::move(owners)}}}});
  object::Resource maps{.group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true};
  ASSERT_TRUE(loop_.run(client_.create(maps, "default", owned)));
  auto found = loop_.run(trace(client_, discovery_, "configmap/owned", "default"));
  ASSERT_TRUE(found) << found.error().report();
  ASSERT_EQ(found->chain.size(), 2u);
  EXPECT_EQ(found->chain[1].text(), "Deployment default/web");
}

TEST_F(StatusTest, WhatBelongsToNoBundleSaysSo) {
  auto found = loop_.run(trace(client_, discovery_, "ns/default", "default"));
  ASSERT_TRUE(found) << found.error().report();
  EXPECT_EQ(text_of(*found, {}), "Namespace default\n  bundle    none: it belongs to no bundle\n");
  EXPECT_EQ(loop_.run(trace(client_, discovery_, "default", "default")).error().report(),
            "error: \"default\" names no object\n"
            "  next      write it as KIND/NAME, such as deployment/web, with -n for its namespace\n");
  EXPECT_EQ(loop_.run(trace(client_, discovery_, "gadget/x", "default")).error().report(),
            "error: the cluster serves no kind gadget\n  next      kubectl api-resources\n");
}

TEST(Table, ColumnsAreAlignedAndHarmless) {
  EXPECT_EQ(table({{"A", "B"}, {"long", "x\x1b[31m"}, {"ü", "y"}}), "A      B\nlong   x\\x1b[31m\nü      y\n");
}

TEST(Table, Ages) {
  WallTime now = WallTime(std::chrono::sys_days(std::chrono::January / 10 / 2030));
  EXPECT_EQ(age("2030-01-09T23:59:15Z", now), "45s");
  EXPECT_EQ(age("2030-01-09T23:55:00Z", now), "5m");
  EXPECT_EQ(age("2030-01-09T20:00:00Z", now), "4h");
  EXPECT_EQ(age("2030-01-01T00:00:00Z", now), "9d");
  EXPECT_EQ(age("2031-01-01T00:00:00Z", now), "0s");
  EXPECT_EQ(age("nonsense", now), "?");
}

}  // namespace
}  // namespace fairlead::status
