// Objects of kinds that a controller defines for other objects of the bundle.
#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

std::string definition(std::string_view plural, std::string_view group, std::string_view kind) {
  return fmt::format(R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{{"name":"{0}.{1}"}},"spec":{{"group":"{1}","scope":"Cluster",
"names":{{"plural":"{0}","singular":"{3}","kind":"{2}","listKind":"{2}List"}},"versions":[{{"name":"v1","served":true,"storage":true,
"schema":{{"openAPIV3Schema":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}]}}}})",
                     plural, group, kind, plural.substr(0, plural.size() - 1));
}

constexpr std::string_view kConstraint = R"(
---
{apiVersion: constraints.gatekeeper.sh/v1, kind: NeedsLabel, metadata: {name: owner}, spec: {label: owner}}
)";
constexpr std::string_view kTemplate = R"(
---
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: needslabel}
spec: {crd: {spec: {names: {kind: NeedsLabel}}}}
)";

class MadeKindsTest : public RolloutTest {
 protected:
  std::string templates() { return definition("constrainttemplates", "templates.gatekeeper.sh", "ConstraintTemplate"); }

  // What Gatekeeper would do.
  Task<void> define_constraint() {
    while (true) {
      auto there =
          co_await client_.request({.target = "/apis/templates.gatekeeper.sh/v1/constrainttemplates/needslabel"});
      if (there) break;
      if (!co_await sleep_for(loop_, std::chrono::milliseconds(500))) co_return;
    }
    if (!co_await sleep_for(loop_, std::chrono::seconds(2))) co_return;
    (void)co_await client_.request({.method = "POST",
                                    .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                    .content_type = "application/json",
                                    .body = definition("needslabels", "constraints.gatekeeper.sh", "NeedsLabel")});
  }
};

TEST_F(MadeKindsTest, AnObjectWaitsForTheKindThatAnotherOneOfTheBundleMakes) {
  injector_.spawn(define_constraint());
  std::string bundle = templates() + std::string(kConstraint) + std::string(kTemplate);
  Ending ending = apply(bundle, {.name = "policies"});
  loop_.run(injector_.join());
  ASSERT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_EQ(get("/apis/constraints.gatekeeper.sh/v1/needslabels/owner")["spec"]["label"].string_or(""), "owner");
  EXPECT_THAT(events(), testing::HasSubstr("the cluster does not serve kind NeedsLabel of constraints.gatekeeper.sh/v1 "
                                           "yet: a controller has to define it for ConstraintTemplate needslabel"));
  Ending again = apply(bundle, {.name = "policies", .prune = true});
  EXPECT_EQ(states(again),
            "CustomResourceDefinition constrainttemplates.templates.gatekeeper.sh unchanged\n"
            "NeedsLabel owner unchanged\nConstraintTemplate needslabel unchanged\n");
}

TEST_F(MadeKindsTest, AKindThatNeverComesIsToldWithItsMaker) {
  Ending ending = apply(templates() + std::string(kConstraint) + std::string(kTemplate));
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_EQ(
      reports(ending),
      "error: NeedsLabel owner was not accepted within 5m\n"
      "  because   the cluster does not serve kind NeedsLabel of constraints.gatekeeper.sh/v1 yet: a controller has "
      "to define it for ConstraintTemplate needslabel, which is ready\n"
      "  from      bundle.yaml:6\n"
      "  next      kubectl describe ConstraintTemplate needslabel\n");
}

TEST_F(MadeKindsTest, ItsMakerMayBeInTheClusterAlready) {
  ASSERT_EQ(apply(templates() + std::string(kTemplate)).how, Ending::How::done);
  injector_.spawn(define_constraint());
  Ending ending = apply(kConstraint);
  loop_.run(injector_.join());
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
}

TEST_F(MadeKindsTest, WithoutAMakerItIsRefusedBeforeAnythingIsSent) {
  Ending ending = apply(templates() + std::string(kConstraint));
  EXPECT_EQ(ending.how, Ending::How::failed);
  for (const ObjectEnding& object : ending.objects) EXPECT_EQ(object.state, ObjectEnding::State::not_sent);
  EXPECT_EQ(reports(ending),
            "error: NeedsLabel owner cannot be applied\n"
            "  because   the cluster does not serve kind NeedsLabel in constraints.gatekeeper.sh/v1\n"
            "  because   it serves nothing of group constraints.gatekeeper.sh\n"
            "  from      bundle.yaml:6\n"
            "  next      add its CRD to the bundle, or mark the object that makes it with the annotation "
            "fairlead.dev/makes: NeedsLabel.constraints.gatekeeper.sh\n");
}

TEST_F(MadeKindsTest, AVersionThatItsDefinitionDoesNotServeIsRefusedBeforeAnythingIsSent) {
  std::string odd = "\n---\n{apiVersion: templates.gatekeeper.sh/v9, kind: ConstraintTemplate, metadata: {name: t}}\n";
  Ending ending = apply(templates() + odd);
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(reports(ending),
            "error: ConstraintTemplate t cannot be applied\n"
            "  because   its CRD serves templates.gatekeeper.sh/v1, not templates.gatekeeper.sh/v9\n"
            "  from      bundle.yaml:6\n"
            "  next      change its apiVersion, or the CRD\n");
}

TEST_F(MadeKindsTest, ADryRunDoesNotCheckIt) {
  Ending ending = apply(templates() + std::string(kConstraint) + std::string(kTemplate), {.dry_run = true});
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_THAT(states(ending), testing::HasSubstr("NeedsLabel owner not checked\n"));
}

}  // namespace
}  // namespace fairlead::rollout
