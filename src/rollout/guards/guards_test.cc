// For which connection and configuration a proof is valid.
#include "rollout/guards/guards.h"

#include <algorithm>
#include <map>

#include "base/base64.h"
#include "rollout/rollout_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

// Leads to the first API server until a guarded object is sent. Then that connection is lost, and all requests go to
// the second one.
class MovesOn final : public http::Transport {
 public:
  explicit MovesOn(sandbox::Sandbox& sandbox) : sandbox_(sandbox) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_guarded = request.method == "PATCH" && request.target.find("/configmaps/map-") != std::string::npos;
    if (is_guarded && !std::exchange(moved, true))
      co_return fail(http::may_have_been_processed(Error(ErrorKind::unavailable, "the connection was reset")));
    // The second server uses a configuration this much later.
    if (!late.empty())
      sandbox_.core().options.api_server_skew = request.target.contains(late) ? seconds(20) : Duration::zero();
    co_return co_await sandbox_.api_server(moved ? 1 : 0).open(std::move(request));
  }

  bool moved = false;
  // If not empty, the second server is late only with what has this in its path.
  std::string late;

 private:
  sandbox::Sandbox& sandbox_;
};

sandbox::Options two_servers() {
  sandbox::Options options;
  options.api_servers = 2;
  // The second one uses a configuration this much later.
  options.api_server_skew = seconds(5);
  return options;
}

struct ConnectionTest : RolloutTest, testing::WithParamInterface<std::string_view> {
  ConnectionTest() : RolloutTest(two_servers()) {}

  // Counts for each guarded object how often a webhook is asked about it.
  void serve_counting(std::map<std::string, int>& asked) {
    auto answer = [&asked](http::Request request) -> Task<Result<http::Response>> {
      Result<Json> review = Json::parse(request.body);
      const Json& about = (*review)["request"];
      std::string name(about["name"].string_or(""));
      if (!about["dryRun"].bool_or(false) && name.starts_with("map-")) ++asked[name];
      Json body(Json::Object{{"apiVersion", "admission.k8s.io/v1"},
                             {"kind", "AdmissionReview"},
                             {"response", Json::Object{{"uid", about["uid"]}, {"allowed", true}}}});
      http::Response reply{.status = 200, .body = body.dump()};
      reply.headers.set("Content-Type", "application/json");
      co_return reply;
    };
    sandbox_.webhooks().serve("operator/webhook", answer, std::string(kCertificate));
  }
  void take_away_webhooks() {
    for (std::string_view kind : {"validating", "mutating"})
      EXPECT_TRUE(loop_.run(client_.request(
          {.method = "DELETE",
           .target = fmt::format("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/configmaps", kind)})));
    (void)loop_.run(sleep_for(loop_, seconds(60)));
  }
};
INSTANTIATE_TEST_SUITE_P(Policies, ConnectionTest, testing::Values("Fail", "Ignore"));

// A webhook for that resource in the namespace default.
std::string hook(std::string_view resource, std::string_view policy, std::string_view annotations = "") {
  return fmt::format(R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {0}, annotations: {{{3}}}}}
webhooks:
- name: v.{0}.example.com
  clientConfig: {{caBundle: {1}, service: {{name: webhook, namespace: operator}}}}
  rules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [{0}]}}]
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: default}}}}
  failurePolicy: {2}
  sideEffects: None
  admissionReviewVersions: [v1]
)",
                     resource, to_base64(kCertificate), policy, annotations);
}

TEST_P(ConnectionTest, ANewOneNeedsANewProof) {
  serve("operator/webhook", std::string(kCertificate));
  std::string yaml = operator_that_listens_after("1s") + hook("configmaps", GetParam());
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) names.push_back(fmt::format("map-{}", i));
  for (const std::string& name : names)
    yaml += fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\n", name);
  MovesOn network(sandbox_);
  Ending ending = apply_through(network, yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_TRUE(network.moved);
  // Controllers make ConfigMaps as well.
  std::erase_if(seen_, [](const std::string& name) { return !name.starts_with("map-"); });
  std::ranges::sort(seen_);
  EXPECT_EQ(seen_, names) << events();
}

// The second server is late with configurations of one kind only, whichever of the two is proved first.
TEST_P(ConnectionTest, ANewOneNeedsANewProofOfEachGuard) {
  for (std::string_view late : {"validatingwebhook", "mutatingwebhook"}) {
    std::map<std::string, int> asked;
    serve_counting(asked);
    std::string yaml = operator_that_listens_after("1s") + hook("configmaps", GetParam());
    std::string mutating = hook("configmaps", GetParam());
    mutating.replace(mutating.find("Validating"), std::string_view("Validating").size(), "Mutating");
    yaml += mutating;
    for (int i = 0; i < 3; ++i)
      yaml += fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{}-{}}}\n", late, i);
    MovesOn network(sandbox_);
    network.late = late;
    Ending ending = apply_through(network, yaml);
    EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
    EXPECT_TRUE(network.moved);
    EXPECT_EQ(asked.size(), 3u);
    for (const auto& [name, times] : asked) EXPECT_EQ(times, 2) << name << events();
    take_away_webhooks();
  }
}

TEST_F(RolloutTest, AProofThatIsUnderWayDoesNotCountForAGuardThatCameSince) {
  serve("operator/webhook", std::string(kCertificate));
  // The second configuration is stored while the first one is being proved, and is in effect that much later.
  sandbox_.core().options.delays.validating_webhooks = std::chrono::milliseconds(2500);
  Ending ending = apply(operator_that_listens_after("0s") + hook("secrets", "Fail") + R"(---
apiVersion: v1
kind: Secret
metadata: {name: guarded-first}
---
apiVersion: batch/v1
kind: Job
metadata: {name: between}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: x, image: x}]}}}
)" + hook("configmaps", "Fail", "config.kubernetes.io/depends-on: batch/namespaces/default/Job/between") +
                        R"(---
apiVersion: v1
kind: ConfigMap
metadata: {name: guarded-second}
)");
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_, (std::vector<std::string>{"guarded-first", "guarded-second"})) << events();
}

// The run that changed it has ended, and the API server does not use the new form yet.
TEST_F(RolloutTest, AConfigurationThatWasChangedAMomentAgoIsProvedAgain) {
  serve("operator/webhook", std::string(kCertificate));
  std::string rest = operator_that_listens_after("0s");
  auto guarding = [](std::string resource) {
    std::string yaml = hook("configmaps", "Fail");
    std::string_view rule = "resources: [configmaps]";
    return yaml.replace(yaml.find(rule), rule.size(), "resources: [" + resource + "]");
  };
  EXPECT_EQ(apply(rest + guarding("secrets")).how, Ending::How::done);
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(1)));
  sandbox_.core().options.delays.validating_webhooks = seconds(20);
  EXPECT_EQ(apply(rest + guarding("configmaps")).how, Ending::How::done);
  Ending ending = apply(rest + guarding("configmaps") + R"(---
apiVersion: v1
kind: ConfigMap
metadata: {name: guarded}
)");
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_, std::vector<std::string>{"guarded"}) << events();
}

}  // namespace
}  // namespace fairlead::rollout
