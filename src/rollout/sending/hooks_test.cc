// Hooks of Helm: when they run, and when they are deleted.
#include <gmock/gmock.h>

#include "base/base64.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using testing::HasSubstr;

constexpr std::string_view kJobs = "/apis/batch/v1/namespaces/default/jobs/";

std::string job(std::string_view name, std::string_view annotations, std::string_view image = "job:1",
                std::string_view exit_code = "0") {
  return fmt::format(R"(---
apiVersion: batch/v1
kind: Job
metadata: {{name: {}, annotations: {{{}}}}}
spec:
  backoffLimit: 0
  template:
    metadata: {{annotations: {{sandbox.fairlead.dev/runs-for: 1s, sandbox.fairlead.dev/exit-code: "{}"}}}}
    spec: {{restartPolicy: Never, containers: [{{name: main, image: "{}"}}]}}
)",
                     name, annotations, exit_code, image);
}

constexpr std::string_view kMain = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: main}}\n";
constexpr std::string_view kHook = "helm.sh/hook: 'pre-install,pre-upgrade'";

class HooksTest : public RolloutTest {
 protected:
  Json find_job(std::string_view name) { return get(std::string(kJobs).append(name)); }
  // What the image of the Job `patch` would do.
  Task<void> inject_certificate() {
    while (true) {
      auto patch = co_await client_.request({.target = "/apis/batch/v1/namespaces/web/jobs/patch"});
      if (patch && patch->value["status"]["succeeded"].int_or(0) > 0) break;
      if (!co_await sleep_for(loop_, std::chrono::milliseconds(50))) co_return;
    }
    std::string body = fmt::format(R"({{"webhooks":[{{"name":"v.example.com","clientConfig":{{"caBundle":"{}"}}}}]}})",
                                   to_base64(kCertificate));
    (void)co_await client_.request(
        {.method = "PATCH",
         .target = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/admission",
         .content_type = "application/strategic-merge-patch+json",
         .body = std::move(body)});
  }
  // Once it is being deleted, and then not at once.
  Task<void> remove_finalizers(std::string target) {
    while (true) {
      auto there = co_await client_.request({.target = target});
      if (there && there->value["metadata"].contains("deletionTimestamp")) break;
      if (!co_await sleep_for(loop_, std::chrono::milliseconds(50))) co_return;
    }
    (void)co_await sleep_for(loop_, std::chrono::seconds(20));
    (void)co_await client_.request({.verb = "patch",
                                    .method = "PATCH",
                                    .target = target,
                                    .content_type = "application/merge-patch+json",
                                    .body = R"({"metadata":{"finalizers":null}})"});
  }
  std::string uid(std::string_view name) { return std::string(find_job(name)["metadata"]["uid"].string_or("")); }
};

// The default policy, before-hook-creation.
class HooksOfBundles : public HooksTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Names, HooksOfBundles, testing::Values("shop", ""));

TEST_P(HooksOfBundles, AJobRunsAgainInEveryRun) {
  Options options{.name = GetParam()};
  std::string bundle = job("prepare", kHook) + std::string(kMain);
  ASSERT_EQ(apply(bundle, options).how, Ending::How::done);
  std::string first = uid("prepare");
  Ending same = apply(bundle, options);
  ASSERT_EQ(same.how, Ending::How::done) << reports(same);
  std::string second = uid("prepare");
  EXPECT_NE(first, second);
  // A Job's pods cannot be changed: Helm deletes it.
  Ending changed = apply(job("prepare", kHook, "job:2") + std::string(kMain), options);
  ASSERT_EQ(changed.how, Ending::How::done) << reports(changed);
  Json now = find_job("prepare");
  EXPECT_NE(now["metadata"]["uid"].string_or(""), second);
  EXPECT_EQ(now["spec"]["template"]["spec"]["containers"].items()[0]["image"].string_or(""), "job:2");
  EXPECT_EQ(now["status"]["succeeded"].int_or(0), 1);
}

TEST_F(HooksTest, OneThatIsNotOursIsLeftAlone) {
  auto made = loop_.run(
      client_.request({.method = "POST",
                       .target = "/apis/batch/v1/namespaces/default/jobs",
                       .content_type = "application/json",
                       .body = R"({"metadata":{"name":"prepare"},"spec":{"template":{"spec":{"restartPolicy":"Never",
                  "containers":[{"name":"main","image":"theirs:1"}]}}}})"}));
  ASSERT_TRUE(made);
  std::string theirs = uid("prepare");
  ASSERT_NE(theirs, "");
  Ending ending = apply(job("prepare", kHook) + std::string(kMain), {.name = "shop"});
  EXPECT_NE(ending.how, Ending::How::done);
  EXPECT_EQ(uid("prepare"), theirs);
}

TEST_F(HooksTest, OneThatSomebodyElseAppliedIsLeftAloneIfTheBundleHasNoName) {
  auto made = loop_.run(client_.request(
      {.verb = "apply",
       .method = "PATCH",
       .target = std::string(kJobs) + "prepare?fieldManager=somebody",
       .content_type = "application/apply-patch+yaml",
       .body = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"prepare"},"spec":{"template":{"spec":{
                  "restartPolicy":"Never","containers":[{"name":"main","image":"theirs:1"}]}}}})"}));
  ASSERT_TRUE(made);
  std::string theirs = uid("prepare");
  ASSERT_NE(theirs, "");
  Ending ending = apply(job("prepare", kHook) + std::string(kMain));
  EXPECT_NE(ending.how, Ending::How::done) << events();
  EXPECT_EQ(uid("prepare"), theirs);
}

// Whoever owns it may need its result, although we applied it.
TEST_F(HooksTest, OneThatHasAnOwnerIsLeftAlone) {
  std::string bundle = job("prepare", kHook) + std::string(kMain);
  ASSERT_EQ(apply(bundle).how, Ending::How::done);
  std::string first = uid("prepare");
  Json owner = get("/api/v1/namespaces/default/configmaps/main");
  ASSERT_TRUE(loop_.run(client_.request(
      {.verb = "patch",
       .method = "PATCH",
       .target = std::string(kJobs) + "prepare",
       .content_type = "application/merge-patch+json",
       .body = fmt::format(
           R"({{"metadata":{{"ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"main","uid":"{}"}}]}}}})",
           owner["metadata"]["uid"].string_or(""))})));
  EXPECT_EQ(apply(bundle).how, Ending::How::done) << events();
  EXPECT_EQ(uid("prepare"), first);
}

// A changed Job would be refused while the former one exists, even if that is being deleted: its pods cannot be
// changed.
TEST_F(HooksTest, OneThatLingersIsWaitedFor) {
  auto lingering = [](std::string_view image) {
    std::string text = job("prepare", kHook, image);
    return text.replace(text.find("{name: prepare,"), 15, "{name: prepare, finalizers: [example.com/slow],");
  };
  ASSERT_EQ(apply(lingering("job:1"), {.name = "shop"}).how, Ending::How::done);
  std::string first = uid("prepare");
  injector_.spawn(remove_finalizers(std::string(kJobs) + "prepare"));
  Ending ending = apply(lingering("job:2"), {.name = "shop"});
  loop_.run(injector_.join());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_NE(uid("prepare"), first);
}

TEST_F(HooksTest, OneWithAnotherPolicyIsNotDeletedBeforehand) {
  std::string bundle = job("prepare", std::string(kHook) + ", helm.sh/hook-delete-policy: hook-failed");
  ASSERT_EQ(apply(bundle, {.name = "shop"}).how, Ending::How::done);
  std::string first = uid("prepare");
  ASSERT_EQ(apply(bundle, {.name = "shop"}).how, Ending::How::done);
  EXPECT_EQ(uid("prepare"), first);
}

// As Helm does if the annotation says so. Without it, pods may use a ServiceAccount that a former run created.
TEST_F(HooksTest, OneOfAnotherKindIsMadeAnewIfItsPolicySaysSo) {
  auto config_map = [](std::string_view name, std::string_view policy) {
    return fmt::format("---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}, annotations: {{{}{}}}}}}}\n",
                       name, kHook, policy);
  };
  std::string bundle = config_map("said", ", helm.sh/hook-delete-policy: before-hook-creation") +
                       config_map("default", "") + std::string(kMain);
  auto uids = [&] {
    std::vector<std::string> found;
    for (std::string_view name : {"said", "default"})
      found.emplace_back(
          get(fmt::format("/api/v1/namespaces/default/configmaps/{}", name))["metadata"]["uid"].string_or(""));
    return found;
  };
  ASSERT_EQ(apply(bundle, {.name = "shop"}).how, Ending::How::done);
  std::vector<std::string> before = uids();
  Ending again = apply(bundle, {.name = "shop"});
  EXPECT_EQ(states(again),
            "ConfigMap default/said created\nConfigMap default/default unchanged\nConfigMap default/main unchanged\n");
  EXPECT_NE(uids()[0], before[0]);
  EXPECT_NE(uids()[0], "");
  EXPECT_EQ(uids()[1], before[1]);
}

TEST_F(HooksTest, NamespacesAreNeverDeleted) {
  std::string bundle = fmt::format(
      "{{apiVersion: v1, kind: Namespace, metadata: {{name: team, annotations: {{{}, helm.sh/hook-delete-policy: "
      "'before-hook-creation,hook-succeeded'}}}}}}\n{}",
      kHook, kMain);
  ASSERT_EQ(apply(bundle, {.name = "shop"}).how, Ending::How::done);
  std::string before(get("/api/v1/namespaces/team")["metadata"]["uid"].string_or(""));
  EXPECT_NE(before, "");
  ASSERT_EQ(apply(bundle, {.name = "shop"}).how, Ending::How::done);
  EXPECT_EQ(get("/api/v1/namespaces/team")["metadata"]["uid"].string_or(""), before);
}

// Nobody waits for a server that does not answer the deletion at the end.
TEST_F(HooksTest, ADeletionThatIsNotAnsweredDoesNotHoldTheRun) {
  class Unanswered final : public http::Transport {
   public:
    Unanswered(Loop& loop, http::Transport& inner) : loop_(loop), inner_(inner) {}
    Task<Result<http::Answer>> open(http::Request request) override {
      if (request.method == "DELETE" && request.target.contains("/jobs/"))
        CO_TRY(co_await sleep_for(loop_, std::chrono::hours(1)));
      co_return co_await inner_.open(std::move(request));
    }

   private:
    Loop& loop_;
    http::Transport& inner_;
  } unanswered(loop_, sandbox_.api_server());
  std::string bundle = job("prepare", std::string(kHook) + ", helm.sh/hook-delete-policy: hook-succeeded");
  Ending ending = apply_through(unanswered, bundle, {.run = "r"});
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_LT(ending.took, std::chrono::seconds(25)) << "10 s for the deletion";
  EXPECT_NE(events().find("could not be deleted, although its hook-delete-policy is hook-succeeded"), std::string::npos)
      << events();
}

TEST_F(HooksTest, OneThatSucceededIsDeletedWhereThatIsAskedFor) {
  std::string policy = std::string(kHook) + ", helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'";
  std::string account = fmt::format(
      "---\n{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: helper, annotations: {{{}}}}}}}\n", policy);
  std::string bundle = job("prepare", policy) + job("stays", kHook) + account + std::string(kMain);
  for (int round = 0; round < 2; ++round) {
    Ending ending = apply(bundle, {.name = "shop", .prune = true});
    ASSERT_EQ(ending.how, Ending::How::done) << reports(ending);
    EXPECT_EQ(uid("prepare"), "");
    EXPECT_EQ(get("/api/v1/namespaces/default/serviceaccounts/helper")["metadata"]["name"].string_or(""), "");
    EXPECT_NE(uid("stays"), "");
    EXPECT_THAT(events(), HasSubstr("deleted because of its hook-delete-policy: hook-succeeded"));
  }
}

// What a Job has used until now is deleted after it.
TEST_F(HooksTest, WhatRunsIsDeletedBeforeWhatItUses) {
  std::string policy = std::string(kHook) + ", helm.sh/hook-delete-policy: hook-succeeded";
  std::string settings = fmt::format(
      "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: settings, annotations: {{{}}}}}}}\n", policy);
  for (const std::string& bundle : {settings + job("prepare", policy), job("prepare", policy) + settings}) {
    ASSERT_EQ(apply(bundle + std::string(kMain)).how, Ending::How::done) << events();
    std::vector<std::string> deleted;
    for (const journal::Event& event : events_)
      if (event.state == "deleted") deleted.push_back(event.key.text());
    EXPECT_EQ(deleted, (std::vector<std::string>{"Job default/prepare", "ConfigMap default/settings"}));
  }
}

// What runs has not succeeded yet.
TEST_F(HooksTest, OneThatNobodyWaitsForIsNotDeleted) {
  std::string after = job("after", "helm.sh/hook: post-install, helm.sh/hook-delete-policy: hook-succeeded");
  Options options;
  options.wait = false;
  ASSERT_EQ(apply(std::string(kMain) + after, std::move(options)).how, Ending::How::done) << events();
  EXPECT_NE(uid("after"), "");
}

// In a bundle without a name, nothing says whose it is.
TEST_F(HooksTest, OneThatWasThereBeforeStaysIfTheBundleHasNoName) {
  std::string account = fmt::format(
      "---\n{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: helper, annotations: {{{}, {}}}}}}}\n", kHook,
      "helm.sh/hook-delete-policy: hook-succeeded");
  std::string bundle = account + std::string(kMain);
  auto find_uid = [&] {
    return std::string(get("/api/v1/namespaces/default/serviceaccounts/helper")["metadata"]["uid"].string_or(""));
  };
  EXPECT_EQ(apply(bundle).how, Ending::How::done);
  EXPECT_EQ(find_uid(), "") << "the run created it";
  ASSERT_TRUE(loop_.run(client_.request({.method = "POST",
                                         .target = "/api/v1/namespaces/default/serviceaccounts",
                                         .content_type = "application/json",
                                         .body = R"({"metadata":{"name":"helper"}})"})));
  std::string theirs = find_uid();
  ASSERT_NE(theirs, "");
  Ending ending = apply(bundle);
  EXPECT_EQ(states(ending), "ServiceAccount default/helper changed\nConfigMap default/main unchanged\n")
      << reports(ending);
  EXPECT_EQ(find_uid(), theirs) << events();
}

TEST_F(HooksTest, OneThatFailedIsDeletedWhereThatIsAskedFor) {
  std::string failed = std::string(kHook) + ", helm.sh/hook-delete-policy: hook-failed";
  std::string succeeded = std::string(kHook) + ", helm.sh/hook-delete-policy: hook-succeeded";
  Ending ending = apply(job("gone", failed, "job:1", "1") + job("kept", succeeded, "job:1", "1") + std::string(kMain),
                        {.name = "shop"});
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(uid("gone"), "");
  EXPECT_NE(uid("kept"), "");
  // Neither went before its hook.
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/main")["metadata"]["name"].string_or(""), "");
}

TEST_F(HooksTest, InstallationsAndUpgradesHaveTheirOwn) {
  std::string bundle = job("first", "helm.sh/hook: pre-install") + job("later", "helm.sh/hook: post-upgrade") +
                       job("try", "helm.sh/hook: test") + std::string(kMain);
  // A run that does not come to its end is no installation.
  ASSERT_EQ(apply(bundle + job("fails", "helm.sh/hook: post-install", "job:1", "1"), {.name = "shop"}).how,
            Ending::How::failed);
  std::string failed = uid("first");
  EXPECT_NE(failed, "");
  Ending installed = apply(bundle, {.name = "shop"});
  ASSERT_EQ(installed.how, Ending::How::done) << reports(installed);
  std::string first = uid("first");
  EXPECT_NE(first, failed);
  EXPECT_EQ(uid("later"), "");

  Ending upgraded = apply(bundle, {.name = "shop", .prune = true});
  ASSERT_EQ(upgraded.how, Ending::How::done) << reports(upgraded);
  EXPECT_EQ(uid("first"), first);
  EXPECT_NE(uid("later"), "");
  EXPECT_EQ(uid("try"), "");
  EXPECT_THAT(
      events(),
      HasSubstr(
          "Job default/first is skipped: it is a Helm hook for pre-install, and the bundle is already installed"));
}

TEST_F(HooksTest, ADryRunDeletesNothing) {
  std::string bundle = job("prepare", std::string(kHook)) + std::string(kMain);
  ASSERT_EQ(apply(bundle, {.name = "shop"}).how, Ending::How::done);
  std::string before = uid("prepare");
  Ending ending = apply(bundle, {.name = "shop", .dry_run = true});
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_EQ(states(ending), "Job default/prepare not checked\nConfigMap default/main unchanged\n");
  EXPECT_EQ(uid("prepare"), before);
}

// The shape of ingress-nginx's chart. The Job that writes the certificate into the configuration is played here.
TEST_F(HooksTest, AWebhookWhoseCertificateIsMadeAfterTheInstallation) {
  serve("web/hook");
  std::string policy = "helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'";
  std::string bundle = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: web}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: web}, spec: {selector: {app: hook}, ports: [{port: 443, targetPort: 8443}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hook, namespace: web}
spec:
  selector: {matchLabels: {app: hook}}
  template:
    metadata: {labels: {app: hook}}
    spec: {containers: [{name: main, image: "main:1"}]}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: site}, spec: {controller: example.com/web}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: admission}
webhooks:
- name: v.example.com
  clientConfig: {service: {namespace: web, name: hook}}
  rules: [{operations: [CREATE, UPDATE], apiGroups: [networking.k8s.io], apiVersions: [v1], resources: [ingressclasses]}]
  sideEffects: None
  admissionReviewVersions: [v1]
)" + job("create", fmt::format("helm.sh/hook: 'pre-install,pre-upgrade', {}", policy), "certgen:1") +
                       job("patch", fmt::format("helm.sh/hook: 'post-install,post-upgrade', {}", policy), "certgen:1");
  for (std::string_view line : {"create", "patch"}) {
    std::string name = fmt::format("name: {}, ", line);
    bundle.replace(bundle.find(name), name.size(), name + "namespace: web, ");
  }
  std::string_view main = "{name: main, image: \"certgen:1\"}";
  bundle.replace(bundle.rfind(main), main.size(),
                 "{name: main, image: \"certgen:1\", args: [--webhook-name=admission]}");
  for (int round = 0; round < 2; ++round) {
    if (round == 0) injector_.spawn(inject_certificate());
    Ending ending = apply(bundle, {.name = "shop"});
    ASSERT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
    injector_.cancel();
    loop_.run(injector_.join());
    EXPECT_THAT(seen_, testing::Contains("site"));
    EXPECT_EQ(get("/apis/batch/v1/namespaces/web/jobs/patch")["metadata"]["uid"].string_or(""), "");
  }
}

}  // namespace
}  // namespace fairlead::rollout
