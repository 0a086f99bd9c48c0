// Webhooks that work, and webhooks that only look as if they did.
#include "base/base64.h"
#include "wait/wait_testing.h"

namespace fairlead::wait {
namespace {

using sandbox::LocalWebhooks;

constexpr std::string_view kAnotherCertificate = "-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n";
constexpr const char* kConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

// Denies objects with the label `bad`.
LocalWebhooks::Handler judging() {
  return [](http::Request request) -> Task<Result<http::Response>> {
    Json review = Json::parse(request.body).value();
    const Json& asked = review["request"];
    bool bad = asked["object"]["metadata"]["labels"].contains("bad");
    Json response(Json::Object{{"uid", asked["uid"]}, {"allowed", !bad}});
    if (bad) response.make("status").make("message") = "it is bad";
    Json answer(Json::Object{
        {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
    co_return http::Response{200, {{"Content-Type", "application/json"}}, answer.dump(), 0};
  };
}

class WebhooksTest : public WaitTest {
 protected:
  // A Service, and pods behind it that are Ready before they listen.
  void run_operator(std::string_view listens_after, Duration delay = 0s, std::string_view name = "operator") {
    if (name == "operator")
      send(
          "POST", "/api/v1/namespaces/default/services",
          R"({"metadata":{"name":"webhook"},"spec":{"selector":{"app":"operator"},"ports":[{"port":443,"targetPort":8443}]}})",
          delay);
    send("POST", "/apis/apps/v1/namespaces/default/deployments",
         fmt::format(
             R"({{"metadata":{{"name":"{1}"}},"spec":{{"selector":{{"matchLabels":{{"app":"operator","of":"{1}"}}}},
           "template":{{"metadata":{{"labels":{{"app":"operator","of":"{1}"}},"annotations":{{"sandbox.fairlead.dev/listens-after":"{0}"}}}},
           "spec":{{"containers":[{{"name":"x","image":"x","ports":[{{"containerPort":8443}}]}}]}}}}}}}})",
             listens_after, name),
         delay);
    sandbox_.webhooks().serve("default/webhook", judging(), std::string(kCertificate));
  }
  void configure(std::string_view policy = "Fail", std::string_view certificate = kCertificate, Duration delay = 0s) {
    send("POST", kConfigurations,
         fmt::format(R"({{"metadata":{{"name":"config"}},"webhooks":[{{"name":"v.example.com","sideEffects":"None",
           "admissionReviewVersions":["v1"],"failurePolicy":"{}",
           "clientConfig":{{"caBundle":"{}","service":{{"namespace":"default","name":"webhook"}}}},
           "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"]}}]}}]}})",
                     policy, to_base64(certificate)),
         delay);
  }
  // A patch of that configuration.
  static std::string with_bundle(std::string_view certificate) {
    return fmt::format(R"({{"webhooks":[{{"name":"v.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
         "clientConfig":{{"caBundle":"{}","service":{{"namespace":"default","name":"webhook"}}}},
         "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"]}}]}}]}})",
                       to_base64(certificate));
  }
  // "configuration ok: registered and in effect", one line per layer.
  static std::string layers(const Ending& ending) {
    std::string text;
    for (const ObjectEnding& object : ending.objects)
      for (const WebhookEnding& webhook : object.webhooks)
        for (const Layer& layer : webhook.layers)
          text += fmt::format("{} {}: {}\n", layer.name, name_of(layer.state), layer.text);
    return text;
  }
  static object::Object probe(std::string_view labels) {
    return object::Object::from(
               Json::parse(
                   fmt::format(R"({{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"probe","labels":{}}}}})",
                               labels))
                   .value(),
               {.file = "probe.yaml", .line = 1})
        .value();
  }
};

TEST_F(WebhooksTest, OneThatComesLate) {
  configure("Fail", kCertificate, 20s);
  run_operator("15s", 10s);
  Ending ending = wait({"webhook/config"});
  EXPECT_EQ(shown(ending),
            "done\nWebhook config met: every ready endpoint answers, and the configuration is in effect\n")
      << events();
  EXPECT_EQ(layers(ending), R"(configuration ok: registered and in effect
caBundle ok: filled in
service ok: service default/webhook, port 443
endpoints ok: 1 of 1 ready
pods ok: 1 ready
TLS ok: its certificate is trusted
answer ok: it answers
)");
  EXPECT_EQ(ending.objects.front().webhooks.front().rung, readiness::Rung::answering);
  // It listens 15 s after its pod is Ready, and is seen within a second of it.
  EXPECT_GE(ending.took, 25s);
  EXPECT_LE(ending.took, 30s);
  EXPECT_EQ(shadows(), std::vector<std::string>());
}

TEST_F(WebhooksTest, ByItsConfigurationOrItsOwnName) {
  configure();
  run_operator("0s");
  for (std::string_view name :
       {"webhook/v.example.com", "webhook/config/v.example.com", "validatingwebhookconfiguration/config"}) {
    Ending ending = wait({std::string(name)});
    EXPECT_EQ(ending.how, Ending::How::done) << name << shown(ending) << layers(ending);
  }
  EXPECT_EQ(wait({"webhook"}, "ready", {}, {.all = true}).how, Ending::How::done);
  Ending other = wait({"webhook/config/other.example.com"}, "ready", {.existence_timeout = 5s});
  EXPECT_EQ(other.how, Ending::How::timed_out);
  EXPECT_EQ(other.objects.front().reason, "the configuration has no webhook other.example.com");
}

TEST_F(WebhooksTest, OneThatIsMissing) {
  EXPECT_EQ(shown(wait({"webhook/config"}, "functional", {.existence_timeout = 1min})), R"(timed out
Webhook config timed out: there is no webhook and no webhook configuration config
error: Webhook config does not exist after 1m
  because   there is no webhook and no webhook configuration config
  next      kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
)");
}

// With Ignore and a backend that is not there, every write gets in: that is not a webhook that works.
TEST_F(WebhooksTest, OneThatFailsOpen) {
  configure("Ignore");
  Ending ending = wait({"webhook/config"}, "functional", {.timeout = 30s});
  EXPECT_EQ(shown(ending), R"(timed out
Webhook config timed out: service default/webhook does not exist
error: Webhook config is not functional after 30s
  because   service default/webhook does not exist
  next      kubectl -n default get service webhook
)");
  run_operator("100s");
  Ending late = wait({"webhook/config"}, "functional", {.timeout = 30s});
  EXPECT_EQ(late.how, Ending::How::timed_out) << shown(late);
  EXPECT_TRUE(layers(late).contains("endpoints failing: ")) << layers(late);
  EXPECT_EQ(shadows(), std::vector<std::string>());
}

TEST_F(WebhooksTest, OneWithTheWrongAuthority) {
  configure("Ignore", kAnotherCertificate);
  run_operator("0s");
  Ending ending = wait({"webhook/config"}, "functional", {.timeout = 40s});
  EXPECT_EQ(ending.how, Ending::How::timed_out) << shown(ending);
  EXPECT_TRUE(layers(ending).contains("TLS failing: ")) << layers(ending);
  EXPECT_EQ(ending.objects.front().webhooks.front().rung, readiness::Rung::reachable);
  // An injector writes the right one.
  send("PATCH", std::string(kConfigurations) + "/config", with_bundle(kCertificate), 10s);
  Ending right = wait({"webhook/config"});
  EXPECT_EQ(right.how, Ending::How::done) << shown(right) << events();
  EXPECT_EQ(shadows(), std::vector<std::string>());
}

// Somebody writes another authority while the webhook is called for the first time.
TEST_F(WebhooksTest, OneThatIsChangedWhileItIsProvedIsProvedAgain) {
  configure();
  run_operator("0s");
  int calls = 0;
  auto judge = judging();
  auto change_and_judge = [&](http::Request request) -> Task<Result<http::Response>> {
    if (calls++ == 0)
      co_await send_after(0s, "PATCH", std::string(kConfigurations) + "/config", with_bundle(kAnotherCertificate));
    co_return co_await judge(std::move(request));
  };
  sandbox_.webhooks().serve("default/webhook", change_and_judge, std::string(kCertificate));
  Ending ending = wait({"webhook/config"}, "functional", {.timeout = 40s});
  EXPECT_EQ(ending.how, Ending::How::timed_out) << shown(ending) << events();
  EXPECT_TRUE(layers(ending).contains("TLS failing: ")) << layers(ending);
}

TEST_F(WebhooksTest, AnEmptyBundleIsNotCalled) {
  configure("Fail", "\n");
  run_operator("0s");
  Ending ending = wait({"webhook/config"}, "ready", {.timeout = 30s});
  EXPECT_EQ(ending.objects.front().reason, "the caBundle is still to be filled in");
  EXPECT_EQ(ending.how, Ending::How::timed_out);
}

TEST_F(WebhooksTest, EveryEndpointHasToListen) {
  configure();
  run_operator("0s");
  run_operator("60s", 0s, "second");
  Ending ending = wait({"webhook/config"});
  EXPECT_EQ(ending.how, Ending::How::done) << shown(ending);
  EXPECT_GE(ending.took, 60s) << layers(ending);
  EXPECT_TRUE(layers(ending).contains("answer ok: it answers, and each of 2 endpoints listens\n")) << layers(ending);
}

TEST_F(WebhooksTest, AProbeIsDecidedOn) {
  configure("Ignore");
  run_operator("0s");
  Ending allowed = wait({"webhook/config"}, "functional", {.probe = probe("{}")});
  EXPECT_EQ(allowed.how, Ending::How::done) << shown(allowed);
  EXPECT_TRUE(layers(allowed).contains("probe ok: webhook v.example.com (config) allows Secret default/probe\n"))
      << layers(allowed);
  Ending denied = wait({"webhook/config"}, "functional", {.probe = probe(R"({"bad":"yes"})")});
  EXPECT_EQ(denied.how, Ending::How::done) << shown(denied);
  EXPECT_TRUE(
      layers(denied).contains("probe ok: webhook v.example.com (config) denies Secret default/probe: it is bad\n"))
      << layers(denied);
  object::Object map =
      object::Object::from(Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"s"}})").value(),
                           {.file = "probe.yaml", .line = 1})
          .value();
  EXPECT_EQ(shown(wait({"webhook/config"}, "functional", {.probe = map})), R"(failed
Webhook config failed: 
error: webhook v.example.com (ValidatingWebhookConfiguration config) is not asked about ConfigMap s
  because   its rules and selectors do not match the object of --probe-with
  from      probe.yaml:1
  next      kubectl get ValidatingWebhookConfiguration config -o yaml
)");
  EXPECT_EQ(shadows(), std::vector<std::string>());
}

TEST_F(WebhooksTest, AProbeInANamespaceThatIsLeftOutIsNotDecidedOn) {
  configure();
  run_operator("0s");
  send("PATCH", std::string(kConfigurations) + "/config",
       fmt::format(R"({{"webhooks":[{{"name":"v.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
         "namespaceSelector":{{"matchLabels":{{"kubernetes.io/metadata.name":"app"}}}},
         "clientConfig":{{"caBundle":"{}","service":{{"namespace":"default","name":"webhook"}}}},
         "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"]}}]}}]}})",
                   to_base64(kCertificate)));
  EXPECT_EQ(shown(wait({"webhook/config"}, "functional", {.probe = probe("{}")})), R"(failed
Webhook config failed: 
error: webhook v.example.com (ValidatingWebhookConfiguration config) is not asked about Secret probe
  because   its rules and selectors do not match the object of --probe-with
  from      probe.yaml:1
  next      kubectl get ValidatingWebhookConfiguration config -o yaml
)");
  send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"app"}})");
  Ending in_app = wait({"webhook/config"}, "functional", {.default_namespace = "app", .probe = probe("{}")});
  EXPECT_EQ(in_app.how, Ending::How::done) << shown(in_app);
}

TEST_F(WebhooksTest, ADefinitionWithoutAConversionWebhookFailsAtOnce) {
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
       R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"kind":"Widget","plural":"widgets","singular":"widget","listKind":"WidgetList"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  for (bool all : {false, true}) {
    Ending ending = wait({all ? "crd" : "crd/widgets.example.com"}, "functional", {}, {.all = all});
    EXPECT_EQ(ending.how, Ending::How::failed);
    EXPECT_EQ(ending.took, 0s);
    EXPECT_EQ(ending.causes.front().error.report(),
              R"(error: CustomResourceDefinition widgets.example.com has no conversion webhook that could be functional
  next      fairlead wait crd/widgets.example.com --for ready
)");
  }
}

TEST_F(WebhooksTest, AConfigurationWithoutWebhooksExists) {
  send("POST", kConfigurations, R"({"metadata":{"name":"empty"}})");
  for (std::string_view word : {"webhook/empty", "validatingwebhookconfiguration/empty"}) {
    std::string report = shown(wait({std::string(word)}, "functional", {.timeout = 30s}));
    EXPECT_TRUE(report.contains("empty is not functional after 30s\n")) << report;
    EXPECT_TRUE(report.contains("has no webhooks\n")) << report;
  }
}

TEST_F(WebhooksTest, AShortTimeoutIsRaised) {
  configure();
  Ending ending = wait({"webhook/config"}, "ready", {.timeout = 5s});
  EXPECT_EQ(ending.took, 30s);
  EXPECT_TRUE(events().contains("--timeout 5s is too short for a webhook: 30s are used; --allow-short allows it"));
  EXPECT_EQ(wait({"webhook/config"}, "ready", {.timeout = 5s, .allow_short = true}).took, 5s);
  EXPECT_LE(wait({"webhook/config"}, "ready", {.timeout = 0s, .allow_short = true}).took, 1s);
  // The time that one may take to exist is bounded by the same.
  EXPECT_EQ(wait({"webhook/nope"}, "ready", {.timeout = 5s}).took, 30s);
  EXPECT_EQ(wait({"webhook/nope"}, "ready", {.timeout = 5s, .allow_short = true}).took, 5s);
  EXPECT_EQ(wait({"webhook/nope"}, "ready", {.existence_timeout = 2s, .timeout = 5s}).took, 2s);
}

TEST_F(WebhooksTest, AnInterruptionRemovesTheShadows) {
  configure("Ignore", kAnotherCertificate);
  run_operator("0s");
  loop_.call_after(20s, [this] { stop_.cancel(); });
  EXPECT_EQ(wait({"webhook/config"}).how, Ending::How::interrupted);
  EXPECT_EQ(shadows(), std::vector<std::string>());
}

// Refuses to create webhook configurations.
class NoShadows final : public http::Transport {
 public:
  explicit NoShadows(sandbox::Sandbox& sandbox) : sandbox_(sandbox) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_shadow = request.method == "POST" && request.target.contains("webhookconfigurations");
    if (!is_shadow) co_return co_await sandbox_.api_server().open(std::move(request));
    co_return http::Answer{403,
                           {{"Content-Type", "application/json"}},
                           http::body_of(R"({"kind":"Status",
      "apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"mutatingwebhookconfigurations.admissionregistration.k8s.io is forbidden: User \"ann\" cannot create resource \"mutatingwebhookconfigurations\" in API group \"admissionregistration.k8s.io\" at the cluster scope",
      "details":{"group":"admissionregistration.k8s.io","kind":"mutatingwebhookconfigurations"}})"),
                           1};
  }

 private:
  sandbox::Sandbox& sandbox_;
};

TEST_F(WebhooksTest, WithoutTheRightToProveItFailsAtOnce) {
  configure();
  run_operator("0s");
  (void)loop_.run(sleep_for(loop_, 1min));
  NoShadows network(sandbox_);
  kube::Client client(loop_, network, nullptr, {});
  kube::Discovery discovery(client);
  Ending ending =
      loop_.run(wait_for(client, discovery, read_targets({"webhook/config"}, {}).value(), {}, journal_, nullptr));
  EXPECT_EQ(ending.how, Ending::How::failed) << shown(ending);
  EXPECT_LE(ending.took, 1s);
  std::string report = ending.causes.front().error.report();
  EXPECT_TRUE(report.starts_with(
      "error: webhook v.example.com (ValidatingWebhookConfiguration config) cannot be proved to work\n"))
      << report;
  EXPECT_TRUE(report.contains("kubectl auth can-i create mutatingwebhookconfigurations")) << report;
}

}  // namespace
}  // namespace fairlead::wait
