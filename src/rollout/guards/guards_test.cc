// For which connection and configuration a proof is valid.
#include "rollout/guards/guards.h"

#include <algorithm>

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
    co_return co_await sandbox_.api_server(moved ? 1 : 0).open(std::move(request));
  }

  bool moved = false;

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
  kube::Client client(loop_, network, nullptr, {});
  kube::Discovery discovery(client);
  Ending ending = loop_.run(roll_out(client, discovery, bundle_of(yaml), {}, journal_, nullptr));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_TRUE(network.moved);
  // Controllers make ConfigMaps as well.
  std::erase_if(seen_, [](const std::string& name) { return !name.starts_with("map-"); });
  std::ranges::sort(seen_);
  EXPECT_EQ(seen_, names) << events();
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

}  // namespace
}  // namespace fairlead::rollout
