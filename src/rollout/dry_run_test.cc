// A dry run writes nothing, and says what it could not check.
#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

// Writes down every request that would change something.
class Recorder : public http::Transport {
 public:
  explicit Recorder(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    // A review is a question, although it is sent by POST.
    bool reads = request.method == "GET" || request.method == "HEAD" ||
                 request.target == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    bool is_dry = request.target.find("dryRun=All") != std::string::npos;
    if (!reads && !is_dry) writes.push_back(request.method + " " + request.target);
    return to_.open(std::move(request));
  }
  std::vector<std::string> writes;

 private:
  http::Transport& to_;
};

class DryRunTest : public RolloutTest {
 protected:
  Ending rehearse(std::string_view yaml, Options options = {}) {
    return rehearse_through(recorder_, yaml, std::move(options));
  }

  Recorder recorder_{sandbox_.api_server()};
};

constexpr std::string_view kHook = R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard}
webhooks:
- name: guard.example.com
  clientConfig: {caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=, service: {name: webhook, namespace: operator}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}]
  failurePolicy: FAILURE
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: Secret
metadata: {name: guarded, namespace: default}
)";

std::string with_hook(std::string_view policy) {
  std::string text = operator_that_listens_after("1s") + std::string(kHook);
  return text.replace(text.find("FAILURE"), 7, policy);
}

TEST_F(DryRunTest, NothingIsWrittenToProveAWebhook) {
  for (std::string_view policy : {"Fail", "Ignore"}) {
    Ending ending = rehearse(with_hook(policy), {.name = "shop"});
    EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
    EXPECT_THAT(recorder_.writes, testing::IsEmpty()) << policy;
    EXPECT_EQ(states(ending),
              "Namespace operator created\nService operator/webhook not checked\n"
              "Deployment operator/operator not checked\nValidatingWebhookConfiguration guard created\n"
              "Secret default/guarded created\n");
    EXPECT_THAT(events(), testing::HasSubstr("not checked: whether webhook guard.example.com "
                                             "(ValidatingWebhookConfiguration guard), which this bundle creates or "
                                             "changes, admits the object that it guards"));
  }
}

TEST_F(DryRunTest, NothingIsWrittenForWebhooksThatAreThere) {
  serve("operator/webhook");
  EXPECT_EQ(apply(with_hook("Ignore"), {.name = "shop"}).how, Ending::How::done) << events();
  std::string more = with_hook("Ignore") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: another}\n";
  Ending ending = rehearse(more, {.name = "shop", .prune = true, .ignore_policy = IgnorePolicy::wait});
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_THAT(recorder_.writes, testing::IsEmpty());
  EXPECT_THAT(states(ending), testing::HasSubstr("Secret default/another created\n"));
}

TEST_F(DryRunTest, NothingIsRecreated) {
  auto job = [](std::string_view image) {
    return fmt::format(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: once, annotations: {{fairlead.dev/on-immutable: "
        "recreate}}}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: x, image: {}}}]}}}}}}\n",
        image);
  };
  EXPECT_EQ(apply(job("a:1"), {.wait = false}).how, Ending::How::done) << events();
  std::string uid(get("/apis/batch/v1/namespaces/default/jobs/once")["metadata"]["uid"].string_or(""));
  Ending ending = rehearse(job("a:2"));
  EXPECT_EQ(states(ending), "Job default/once not checked\n") << reports(ending) << events();
  EXPECT_THAT(recorder_.writes, testing::IsEmpty());
  EXPECT_EQ(get("/apis/batch/v1/namespaces/default/jobs/once")["metadata"]["uid"].string_or(""), uid);
}

}  // namespace
}  // namespace fairlead::rollout
