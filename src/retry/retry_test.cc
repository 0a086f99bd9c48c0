// The loop, on a sandbox under a virtual clock. The commands are scripted.
#include "retry/retry.h"

#include "retry/internal/waiting.h"
#include "wait/wait_testing.h"

namespace fairlead::retry {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRace =
    "Error: UPGRADE FAILED: Internal error occurred: failed calling webhook \"v.example.com\": failed to call webhook: "
    "Post "
    "\"https://webhook.default.svc:443/?timeout=10s\": dial tcp 10.96.0.7:443: connect: connection refused\n";
constexpr std::string_view kCause =
    "webhook v.example.com cannot be called: nothing listens behind service default/webhook:443 (dial tcp "
    "10.96.0.7:443: "
    "connect: connection refused)";

class RetryTest : public wait::WaitTest {
 protected:
  struct Run {
    int exit_status = 0;
    std::string_view output = {};
    int signal = 0;
    Duration takes = 1s;
  };

  Ending retry(std::vector<Run> script, Options options = {}) {
    script_ = std::move(script);
    runs_of_command_.clear();
    events_.clear();
    if (options.command.empty()) options.command = {"/usr/bin/helm", "upgrade", "--install", "shop", "./chart"};
    World world{
        .loop = loop_, .run_command = [this] { return run_command(); }, .connect = [this] { return connect(); }};
    return loop_.run(retry::retry(std::move(world), std::move(options), journal_, &stop_));
  }
  // How it ended, the errors, and what people are told.
  std::string shown(const Ending& ending) const {
    std::string text = fmt::format("{} after {} runs\n", name_of(ending.how), ending.attempts.size());
    for (const journal::Event& event : events_)
      if (event.kind == journal::EventKind::note || event.kind == journal::EventKind::warning)
        text += event.text + "\n";
    for (const journal::Cause& cause : ending.causes) text += cause.error.report();
    return text;
  }

  // A Service with a pod behind it that listens late, and a webhook that calls it.
  void install_webhook(std::string_view listens_after, std::string_view hook = "v.example.com") {
    send(
        "POST", "/api/v1/namespaces/default/services",
        R"({"metadata":{"name":"webhook"},"spec":{"selector":{"app":"operator"},"ports":[{"port":443,"targetPort":8443}]}})");
    send("POST", "/apis/apps/v1/namespaces/default/deployments",
         fmt::format(R"({{"metadata":{{"name":"operator"}},"spec":{{"selector":{{"matchLabels":{{"app":"operator"}}}},
           "template":{{"metadata":{{"labels":{{"app":"operator"}},"annotations":{{"sandbox.fairlead.dev/listens-after":"{}"}}}},
           "spec":{{"containers":[{{"name":"x","image":"x","ports":[{{"containerPort":8443}}]}}]}}}}}}}})",
                     listens_after));
    sandbox_.webhooks().serve("default/webhook", allowing(), std::string(wait::kCertificate));
    register_webhook("config", hook, "webhook");
  }
  void register_webhook(std::string_view name, std::string_view hook, std::string_view service) {
    send("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         fmt::format(R"({{"metadata":{{"name":"{}"}},"webhooks":[{{"name":"{}","sideEffects":"None",
           "admissionReviewVersions":["v1"],"clientConfig":{{"caBundle":"{}","service":{{"namespace":"default","name":"{}"}}}},
           "rules":[{{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["widgets"]}}]}}]}})",
                     name, hook, to_base64(wait::kCertificate), service));
  }
  void record_release(std::string_view ns, std::string_view name, std::string_view status, int64_t modified,
                      std::string_view driver = "secrets") {
    send("POST", fmt::format("/api/v1/namespaces/{}/{}", ns, driver),
         fmt::format(
             R"({{"metadata":{{"name":"sh.helm.release.v1.{0}.v1","labels":{{"owner":"helm","name":"{0}","status":"{1}",
           "version":"1","modifiedAt":"{2}"}}}}}})",
             name, status, modified));
  }
  int64_t wall_seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(loop_.clock().wall_now().time_since_epoch()).count();
  }

  bool is_unreachable_ = false;
  // Has the rights that the test says; null for one that has all.
  kube::Client* clients_ = nullptr;
  // When the command was started.
  std::vector<TimePoint> runs_of_command_;

 private:
  static sandbox::LocalWebhooks::Handler allowing() {
    return [](http::Request request) -> Task<Result<http::Response>> {
      Json review = Json::parse(request.body).value();
      Json answer(Json::Object{{"apiVersion", "admission.k8s.io/v1"},
                               {"kind", "AdmissionReview"},
                               {"response", Json::Object{{"uid", review["request"]["uid"]}, {"allowed", true}}}});
      co_return http::Response{200, {{"Content-Type", "application/json"}}, answer.dump(), 0};
    };
  }
  Task<Result<CommandEnding>> run_command() {
    size_t number = runs_of_command_.size();
    runs_of_command_.push_back(loop_.now());
    if (number >= script_.size()) co_return fail(ErrorKind::internal, "the command was run too often");
    const Run& run = script_[number];
    CO_TRY(co_await sleep_for(loop_, run.takes));
    if (run.signal) co_return CommandEnding{.signal = run.signal, .output = std::string(run.output)};
    co_return CommandEnding{.exit_status = run.exit_status, .output = std::string(run.output)};
  }
  Result<Cluster> connect() {
    if (is_unreachable_) return fail(ErrorKind::not_found, "context \"nope\" not found");
    return Cluster{.client = clients_ ? clients_ : &client_,
                   .discovery = &discovery_,
                   .default_namespace = "default",
                   .text = "context test"};
  }

  std::vector<Run> script_;
};

TEST_F(RetryTest, ACommandThatWorksIsRunOnce) {
  is_unreachable_ = true;
  EXPECT_EQ(shown(retry({{}})), "done after 1 runs\n");
}

TEST_F(RetryTest, ItGoesOnAsSoonAsTheWebhookWorks) {
  install_webhook("12s");
  Ending ending = retry({{.exit_status = 1, .output = kRace}, {}}, {.delay = 5min});
  EXPECT_EQ(ending.attempts.size(), 2u) << events();
  EXPECT_TRUE(ending.attempts[0].is_proved);
  EXPECT_LT(ending.attempts[0].waited, 15s);
  std::string text = shown(ending);
  EXPECT_TRUE(
      text.starts_with(fmt::format("done after 2 runs\nhelm failed with exit status 1: {}\n"
                                   "waiting up to 5m for webhook v.example.com in context test\n"
                                   "webhook v.example.com works after ",
                                   kCause)))
      << text;
  EXPECT_TRUE(text.ends_with("s: running helm again (retry 1 of 3)\n")) << text;
  EXPECT_TRUE(shadows().empty());
}

TEST_F(RetryTest, TheDelayIsAnUpperBound) {
  install_webhook("5m");
  Ending ending = retry({{.exit_status = 1, .output = kRace}, {.exit_status = 1, .output = kRace}, {}}, {.delay = 10s});
  EXPECT_EQ(name_of(ending.how), "done");
  ASSERT_EQ(runs_of_command_.size(), 3u);
  EXPECT_FALSE(ending.attempts[0].is_proved);
  EXPECT_NE(shown(ending).find("webhook v.example.com does not work after 10s (webhook v.example.com cannot be called: "
                               "nothing listens behind service default/webhook:443 ("),
            std::string::npos)
      << shown(ending);
}

TEST_F(RetryTest, RetriesAreCountedAndNotAttempts) {
  install_webhook("0s");
  Run lost{.exit_status = 7, .output = kRace};
  Ending ending = retry({lost, lost, lost}, {.retries = 2});
  EXPECT_EQ(ending.attempts.size(), 3u);
  EXPECT_EQ(ending.attempts.back().ending.exit_code(), 7);
  EXPECT_EQ(
      ending.causes.front().error.report(),
      fmt::format("error: helm failed 3 times\n  because   {}\n  next      fairlead doctor webhook v.example.com\n",
                  kCause));
  EXPECT_EQ(shown(retry({lost}, {.retries = 0})),
            fmt::format("failed after 1 runs\nerror: helm failed with exit status 7\n  because   {}\n"
                        "  next      fairlead doctor webhook v.example.com\n",
                        kCause));
}

TEST_F(RetryTest, OnlyTheWebhookBehindThatServiceCounts) {
  register_webhook("other", "v.example.com", "nobody");
  install_webhook("0s");
  EXPECT_TRUE(retry({{.exit_status = 1, .output = kRace}, {}}).attempts[0].is_proved) << events();
}

// The API server names no Service for it.
TEST(Registered, AWebhookThatIsCalledByItsUrlIsFoundByItsName) {
  Json configuration = Json::parse(R"({"metadata":{"name":"outside"},"webhooks":[
      {"name":"v.example.com","clientConfig":{"url":"https://hooks.example.com/validate"}},
      {"name":"w.example.com","clientConfig":{"url":"https://hooks.example.com/validate"}}]})")
                           .value();
  std::vector<wait::Target> targets = registered({.name = "v.example.com"}, {configuration});
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].text(), "webhook/outside/v.example.com");
}

TEST_F(RetryTest, AnythingElseFailsAtOnce) {
  EXPECT_EQ(shown(retry({{.exit_status = 2, .output = "make: *** [all] Error 2\n"}})),
            "failed after 1 runs\nerror: helm failed with exit status 2, and is not retried\n"
            "  because   its output names no webhook, CRD or API that is not there yet\n");
  EXPECT_EQ(
      shown(retry({{.exit_status = 1, .output = "admission webhook \"v.example.com\" denied the request: too big\n"}})),
      "failed after 1 runs\nerror: helm failed with exit status 1, and is not retried\n"
      "  because   webhook v.example.com denied the request: too big\n");
  EXPECT_EQ(shown(retry({{.output = kRace, .signal = 9}})),
            "failed after 1 runs\nerror: helm failed with signal 9 (Killed), and is not retried\n"
            "  because   it was killed from outside; the kernel does that when memory runs out\n");
  EXPECT_EQ(shown(retry({{.output = kRace, .signal = 15}})),
            "failed after 1 runs\nerror: helm failed with signal 15 (Terminated), and is not retried\n"
            "  because   it was stopped from outside\n");
  EXPECT_EQ(
      shown(retry({{.exit_status = 137, .output = "Killed\n"}})),
      "failed after 1 runs\nerror: helm failed with exit status 137, and is not retried\n"
      "  because   a program in it was killed, which exit status 137 stands for; the kernel does that when memory "
      "runs out\n");
  // Lines of programs are cut.
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = "Error: failed calling webhook \"v.example.com\"\n"}})),
            "failed after 1 runs\nerror: helm failed with exit status 1, and is not retried\n"
            "  because   webhook v.example.com could not be called, and the output does not say why\n"
            "  next      fairlead doctor webhook v.example.com\n");
}

TEST_F(RetryTest, AnOrphanedWebhookIsNotWaitedFor) {
  register_webhook("config", "v.example.com", "webhook");
  std::string race(kRace);
  constexpr std::string_view kService = "webhook.default.svc";
  race.replace(race.find(kService), kService.size(), "webhook.lost.svc");
  send("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/config");
  send("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
       R"({"metadata":{"name":"config"},"webhooks":[{"name":"v.example.com","sideEffects":"None",
           "admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"lost","name":"webhook"}},
           "rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["widgets"]}]}]})");
  Ending ending = retry({{.exit_status = 1, .output = race}, {}});
  EXPECT_EQ(ending.attempts.size(), 1u);
  EXPECT_LT(ending.took, 2s) << "the command takes one of them";
  std::string text = shown(ending);
  EXPECT_TRUE(
      text.contains("error: webhook v.example.com is registered, and cannot come back\n"
                    "  because   namespace lost of its service webhook does not exist: nobody is left that could "
                    "answer\n"))
      << text;
  EXPECT_TRUE(text.ends_with("  next      fairlead doctor webhook v.example.com\n")) << text;
}

TEST_F(RetryTest, AKindThatComesLate) {
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
       R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
         "names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,
         "schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
       4s);
  Ending ending = retry(
      {{.exit_status = 1, .output = "error: no matches for kind \"Widget\" in version \"example.com/v1\"\n"}, {}});
  EXPECT_TRUE(ending.attempts[0].is_proved) << events();
  EXPECT_LT(ending.attempts[0].waited, 6s);
}

TEST_F(RetryTest, AConversionIsWaitedForBesideTheWebhookThatWorks) {
  install_webhook("0s");
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
       fmt::format(R"({{"metadata":{{"name":"convs.example.com"}},"spec":{{"group":"example.com","scope":"Namespaced",
         "names":{{"kind":"Conv","plural":"convs"}},"versions":[
           {{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object"}}}}}},
           {{"name":"v2","served":true,"storage":false,"schema":{{"openAPIV3Schema":{{"type":"object"}}}}}}],
         "conversion":{{"strategy":"Webhook","webhook":{{"conversionReviewVersions":["v1"],"clientConfig":
           {{"caBundle":"{}","service":{{"namespace":"default","name":"guard"}}}}}}}}}}}})",
                   to_base64(wait::kCertificate)));
  (void)loop_.run(sleep_for(loop_, 30s));
  EXPECT_TRUE(retry({{.exit_status = 1, .output = kRace}, {}}).attempts[0].is_proved) << events();
  std::string both = fmt::format(
      "{}Error from server: conversion webhook for example.com/v1, Kind=Conv failed: Post "
      "\"https://guard.default.svc:443/convert?timeout=30s\": dial tcp 10.96.0.8:443: connect: "
      "connection refused\n",
      kRace);
  Ending ending = retry({{.exit_status = 1, .output = both}, {}}, {.delay = 10s});
  EXPECT_FALSE(ending.attempts[0].is_proved) << events();
  EXPECT_EQ(ending.attempts[0].waited, 10s);
}

TEST_F(RetryTest, ADefinitionThatNeverComes) {
  Run lost{.exit_status = 1, .output = "customresourcedefinitions.apiextensions.k8s.io \"w.example.com\" not found\n"};
  Ending ending = retry({lost, lost}, {.retries = 1, .delay = 10s});
  EXPECT_EQ(shown(ending),
            "failed after 2 runs\nhelm failed with exit status 1: CRD w.example.com does not exist\n"
            "waiting up to 10s for CRD w.example.com in context test\n"
            "CRD w.example.com is not served after 10s (it does not exist yet): running helm again (retry 1 of 1)\n"
            "error: helm failed 2 times\n  because   CRD w.example.com does not exist\n  next      fairlead doctor\n");
}

// Forbids requests whose target has this in it.
class Forbidding final : public http::Transport {
 public:
  Forbidding(http::Transport& to, std::string part) : to_(to), part_(std::move(part)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (!request.target.contains(part_)) co_return co_await to_.open(std::move(request));
    co_return http::Answer{.status = 403,
                           .headers = {{"Content-Type", "application/json"}},
                           .body = http::body_of(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                                 R"("reason":"Forbidden","message":"may not","code":403})")};
  }

 private:
  http::Transport& to_;
  std::string part_;
};

TEST_F(RetryTest, WithoutTheRightToSeeItTheWholeDelayIsWaited) {
  Forbidding network(sandbox_.api_server(), "/customresourcedefinitions");
  kube::Client client(loop_, network, nullptr, {});
  clients_ = &client;
  Run lost{.exit_status = 1, .output = "customresourcedefinitions.apiextensions.k8s.io \"w.example.com\" not found\n"};
  Ending ending = retry({lost, {}}, {.retries = 1, .delay = 10s});
  std::string text = shown(ending);
  EXPECT_TRUE(text.contains("it cannot be found out when CRD w.example.com works, so the whole delay is waited: "))
      << text;
  EXPECT_TRUE(text.contains("10s are over: running helm again (retry 1 of 1)\n")) << text;
  EXPECT_EQ(ending.attempts.front().waited, 10s);
}

TEST_F(RetryTest, WhatMayNotBeSeenIsNotThereBecauseSomethingElseWorks) {
  install_webhook("0s");
  (void)loop_.run(sleep_for(loop_, 30s));
  Forbidding network(sandbox_.api_server(), "/customresourcedefinitions");
  kube::Client client(loop_, network, nullptr, {});
  Cluster cluster{.client = &client, .discovery = &discovery_, .default_namespace = "default", .text = {}};
  Awaited awaited;
  awaited.functional.push_back({.kinds = {"webhook"}, .name = "config", .is_webhook = true});
  auto waited = [&] { return loop_.run(wait_for(cluster, awaited, {}, loop_.now() + 10s, journal_, &stop_)).how; };
  EXPECT_EQ(waited(), Waited::How::there);
  awaited.ready.push_back({.kinds = {"customresourcedefinitions.apiextensions.k8s.io"}, .name = "w.example.com"});
  EXPECT_EQ(waited(), Waited::How::unknown);
}

TEST_F(RetryTest, WithoutAClusterTheWholeDelayIsWaited) {
  is_unreachable_ = true;
  Ending ending = retry({{.exit_status = 1, .output = kRace}, {}}, {.delay = 7s});
  EXPECT_EQ(
      shown(ending),
      fmt::format("done after 2 runs\nhelm failed with exit status 1: {}\n"
                  "it cannot be found out when webhook v.example.com works, so the whole delay is waited: context "
                  "\"nope\" not found\n"
                  "7s are over: running helm again (retry 1 of 3)\n",
                  kCause));
}

TEST_F(RetryTest, TheTimeIsOver) {
  install_webhook("5m");
  EXPECT_EQ(shown(retry({{.takes = 1h}}, {.timeout = 1min})),
            "timed out after 0 runs\nerror: helm was stopped after 1m (--timeout)\n");
  Ending ending = retry({{.exit_status = 1, .output = kRace}}, {.timeout = 20s});
  EXPECT_EQ(name_of(ending.how), "timed out");
  EXPECT_TRUE(ending.causes.front().error.report().starts_with(
      "error: webhook v.example.com does not work after 20s (--timeout)\n  because   "));
}

TEST_F(RetryTest, AnInterruptionEndsTheWait) {
  install_webhook("5m");
  Loop::TimerId timer = loop_.call_after(5s, [this] { stop_.cancel(); });
  Ending ending = retry({{.exit_status = 1, .output = kRace}});
  loop_.cancel_timer(timer);
  EXPECT_EQ(name_of(ending.how), "interrupted");
  EXPECT_EQ(ending.attempts.size(), 1u);
  EXPECT_TRUE(shadows().empty());
}

TEST_F(RetryTest, ARunningCommandIsLeftAloneByAnInterruption) {
  stop_.cancel();
  EXPECT_EQ(shown(retry({{}})), "done after 1 runs\n");
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = kRace}})), "interrupted after 1 runs\n");
}

TEST_F(RetryTest, AReleaseThatIsLeftPending) {
  record_release("default", "other", "deployed", 0);
  record_release("default", "shop", "pending-upgrade", 0);
  std::string_view pending = "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n";
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = pending}})),
            "failed after 1 runs\nerror: helm failed with exit status 1, and is not run again\n"
            "  because   Helm release default/shop is pending-upgrade (revision 1)\n"
            "  next      helm -n default rollback shop; but only if no other helm is working on it\n");
  // A script does not tell the name. One that is pending must be it; two could both be it.
  EXPECT_NE(shown(retry({{.exit_status = 1, .output = pending}}, {.command = {"./install.sh"}})).find("default/shop"),
            std::string::npos);
  record_release("default", "cart", "pending-install", 0);
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = pending}}, {.command = {"./install.sh"}})),
            "failed after 1 runs\nerror: install.sh failed with exit status 1, and is not retried\n"
            "  because   an earlier operation on the Helm release has not ended\n"
            "  next      helm list --all-namespaces --pending\n");
}

TEST_F(RetryTest, AReleaseThatIsRecordedInAConfigMap) {
  record_release("default", "shop", "pending-upgrade", 0, "configmaps");
  std::string_view pending = "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n";
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = pending}})),
            "failed after 1 runs\nerror: helm failed with exit status 1, and is not run again\n"
            "  because   Helm release default/shop is pending-upgrade (revision 1)\n"
            "  next      helm -n default rollback shop; but only if no other helm is working on it\n");
}

TEST_F(RetryTest, ANameThatIsInUse) {
  std::string_view in_use = "Error: INSTALLATION FAILED: cannot re-use a name that is still in use\n";
  std::vector<std::string> install = {"helm", "install", "shop", "./chart"};
  record_release("default", "shop", "deployed", 0);
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = in_use}}, {.command = install})),
            "failed after 1 runs\nerror: helm failed with exit status 1, and is not run again\n"
            "  because   Helm release default/shop is deployed (revision 1)\n"
            "  next      helm -n default upgrade --install shop\n");
}

TEST_F(RetryTest, AnInstallationIsNotRetriedIntoItsOwnRelease) {
  install_webhook("0s");
  std::string lost = "Error: INSTALLATION FAILED: " + std::string(kRace.substr(kRace.find("Internal")));
  std::vector<std::string> install = {"helm", "install", "shop", "./chart"};
  record_release("default", "older", "failed", wall_seconds() - 1000);
  record_release("default", "shop", "failed", wall_seconds());
  EXPECT_EQ(
      shown(retry({{.exit_status = 1, .output = lost}}, {.command = install})),
      fmt::format("failed after 1 runs\nerror: helm failed with exit status 1, and is not run again\n"
                  "  because   Helm release default/shop is left failed, so its name is in use\n  because   {}\n"
                  "  next      helm -n default upgrade --install shop instead of helm install; or helm -n default "
                  "uninstall shop first\n",
                  kCause));
  install.emplace_back("--replace");
  EXPECT_EQ(retry({{.exit_status = 1, .output = lost}, {}}, {.command = install}).attempts.size(), 2u);
}

// Such as one of the same name in another namespace.
TEST_F(RetryTest, AReleaseThatFailedBeforeThisRunIsNoneOfItsOwn) {
  install_webhook("0s");
  std::string lost = "Error: INSTALLATION FAILED: " + std::string(kRace.substr(kRace.find("Internal")));
  for (std::string_view status : {"failed", "pending-install"}) {
    record_release("kube-public", fmt::format("shop-{}", status), status, wall_seconds() - 1000);
    Ending ending = retry({{.exit_status = 1, .output = lost}, {}},
                          {.command = {"helm", "install", fmt::format("shop-{}", status), "./chart"}});
    EXPECT_EQ(ending.how, Ending::How::done) << shown(ending);
    EXPECT_EQ(ending.attempts.size(), 2u) << shown(ending);
  }
}

TEST_F(RetryTest, WhatTakesItselfBackCannotBeRetried) {
  std::string lost =
      "Error: INSTALLATION FAILED: release shop failed, and has been uninstalled due to atomic being set: " +
      std::string(kRace.substr(kRace.find("Internal")));
  EXPECT_EQ(shown(retry({{.exit_status = 1, .output = lost}})),
            fmt::format("failed after 1 runs\nhelm failed with exit status 1: {0}\n"
                        "error: helm takes back what it installs, so it cannot be retried\n"
                        "  because   webhook v.example.com is not registered any more\n  because   {0}\n"
                        "  next      leave out --atomic or --rollback-on-failure\n",
                        kCause));
  // A webhook of an earlier release is still there.
  install_webhook("0s");
  EXPECT_EQ(retry({{.exit_status = 1, .output = lost}, {}}).attempts.size(), 2u);
}

}  // namespace
}  // namespace fairlead::retry
