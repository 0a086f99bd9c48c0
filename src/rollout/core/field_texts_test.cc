// What is said about single fields: who owns them, and what may have been meant.
#include "rollout/core/field_texts.h"

#include <gmock/gmock.h>

#include "base/temp_folder_testing.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(FieldTexts, WhoOwnsWhat) {
  kube::Fault fault;
  auto owned = [&](std::string field, std::string message) {
    fault.causes.push_back(
        {.reason = "FieldManagerConflict", .message = std::move(message), .field = std::move(field)});
  };
  owned(".spec.replicas", R"(conflict with "kubectl" with subresource "scale" using apps/v1)");
  EXPECT_THAT(owner_lines(fault), ElementsAre(".spec.replicas is owned by kubectl (scale)"));
  EXPECT_EQ(conflict_advice(fault),
            "fairlead apply … --force-conflicts takes it over; or leave .spec.replicas out of the manifest");
  owned(".data.a", R"(conflict with "helm" using v1 at 2026-11-15T08:00:00Z)");
  owned(".data.b", R"(conflict with "helm" using v1 at 2026-11-15T08:00:00Z)");
  EXPECT_THAT(owner_lines(fault),
              ElementsAre(".spec.replicas is owned by kubectl (scale)", ".data.a and .data.b are owned by helm"));
}

class FieldTextsTest : public RolloutTest {
 protected:
  std::string said_about(const std::string& yaml) {
    TempFolder folder;
    std::string file = folder.write("field_texts.yaml", yaml);
    discovery_known();
    std::string text =
        reports(loop_.run(roll_out(client_, discovery_, bundle_of(yaml, file), {.run = "x"}, journal_, nullptr)));
    return folder.hide_in(std::move(text), "DIR");
  }
};

TEST_F(FieldTextsTest, AFieldThatThereIsNotHasItsLineAndWhatWasMeant) {
  EXPECT_EQ(said_about(R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  replica: 3
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        imag: web
)"),
            "error: Deployment default/web was not accepted\n"
            "  because   unknown field spec.replica; did you mean spec.replicas?\n"
            "  because   unknown field spec.template.spec.containers[0].imag (DIR/field_texts.yaml:12); did you mean "
            "spec.template.spec.containers[0].image?\n"
            "  from      DIR/field_texts.yaml:6\n"
            "  next      kubectl explain deployment.spec\n");
}

TEST_F(FieldTextsTest, OfACustomResourceToo) {
  EXPECT_THAT(said_about(R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec:
  siz: 1
)"),
              HasSubstr("because   unknown field spec.siz; did you mean spec.size?\n"
                        "  from      DIR/field_texts.yaml:18\n"));
}

// A field that somebody scaled belongs to whoever scaled it.
TEST_F(FieldTextsTest, AFieldThatSomebodyElseOwns) {
  auto web = [](int replicas) {
    return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: web}}]}}
)",
                       replicas);
  };
  ASSERT_EQ(said_about(web(1)), "");
  Json scale = get("/apis/apps/v1/namespaces/default/deployments/web/scale");
  scale.make("spec").make("replicas") = 2;
  ASSERT_TRUE(loop_.run(
      client_.request({.verb = "update",
                       .method = "PUT",
                       .target = "/apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=kubectl",
                       .content_type = "application/json",
                       .body = scale.dump()})));
  EXPECT_EQ(
      said_about(web(3)),
      "error: Deployment default/web was not accepted\n"
      "  because   .spec.replicas is owned by kubectl (scale)\n"
      "  from      DIR/field_texts.yaml:1\n"
      "  next      fairlead apply … --force-conflicts takes it over; or leave .spec.replicas out of the manifest\n");
}

}  // namespace
}  // namespace fairlead::rollout
