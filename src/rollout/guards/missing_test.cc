// Pods that cannot start: found for every kind of workload, and what they miss is named.
#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string workload(std::string_view kind, std::string_view pod) {
  bool is_job = kind == "Job";
  return fmt::format(R"(
apiVersion: {}/v1
kind: {}
metadata: {{name: web}}
spec:
  {}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{{} {}}}
)",
                     is_job ? "batch" : "apps", kind,
                     is_job ? "backoffLimit: 3" : "selector: {matchLabels: {app: web}}",
                     is_job ? "restartPolicy: Never," : "", pod);
}

constexpr std::string_view kVolume =
    "containers: [{name: web, image: web}], volumes: [{name: v, secret: {secretName: keys}}]";
constexpr std::string_view kEnvironment =
    "containers: [{name: web, image: web, envFrom: [{configMapRef: {name: settings}}]}]";

struct MissingTest : RolloutTest, testing::WithParamInterface<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Kinds, MissingTest, testing::Values("Deployment", "StatefulSet", "DaemonSet", "Job"));

TEST_P(MissingTest, ASecretThatAVolumeNeeds) {
  std::string said = reports(apply(workload(GetParam(), kVolume), {.timeout = seconds(20)}));
  EXPECT_THAT(said, HasSubstr("cannot start: Secret default/keys does not exist\n")) << events();
  EXPECT_THAT(said, HasSubstr("next      add Secret default/keys to the manifests, or create it\n"));
  EXPECT_THAT(events(), HasSubstr(R"("state":"trouble")"));
}

TEST_P(MissingTest, AConfigMapThatTheEnvironmentNeeds) {
  std::string said = reports(apply(workload(GetParam(), kEnvironment), {.timeout = seconds(20)}));
  EXPECT_THAT(said, HasSubstr("is waiting: CreateContainerConfigError (container web)\n"
                              "  because   ConfigMap default/settings does not exist\n"))
      << events();
}

}  // namespace
}  // namespace fairlead::rollout
