// Troubles of CRDs, conversion webhooks and APIServices.
#include "doctor/doctor_testing.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]
  conversion: {strategy: None}
status:
  storedVersions: [v1]
  conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com}
spec: {group: metrics.example.com, version: v1, insecureSkipTLSVerify: true, service: {namespace: operator, name: hook}}
status: {conditions: [{type: Available, status: "True"}]}
)";

class DefinitionsTest : public DoctorTest {
 protected:
  DefinitionsTest() { add(kDefinition); }
  Json& definition() { return object("CustomResourceDefinition", "widgets.example.com"); }
};

TEST_F(DefinitionsTest, NothingIsWrong) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(DefinitionsTest, ConversionDead) {
  set(definition(), {"spec", "conversion"},
      R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"namespace": "operator", "name": "other"}}}})");
  definition().make("spec").make("conversion").make("webhook").make("clientConfig").make("caBundle") =
      to_base64(ca_.certificate.to_pem());
  EXPECT_EQ(only(),
            "error conversion-dead: the conversion webhook of widgets.example.com cannot be called\n"
            "because service operator/other does not exist\n"
            "blocks reading widgets.example.com in versions other than the stored one, garbage collection, and the "
            "deletion of namespaces\n"
            "next kubectl -n operator get services");
  set(definition(), {"spec", "conversion", "webhook", "clientConfig", "service", "name"}, R"("hook")");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DefinitionsTest, AConversionThatWasTriedAndFailed) {
  set(definition(), {"spec", "conversion"},
      R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"namespace": "operator", "name": "hook"}}}})");
  definition().make("spec").make("conversion").make("webhook").make("clientConfig").make("caBundle") =
      to_base64(ca_.certificate.to_pem());
  Snapshot tried = snapshot();
  tried.failed_conversions["widgets.example.com"] = "it answered 404";
  Findings all = check_all(tried);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, "conversion-dead");
  EXPECT_EQ(all[0].what, "the conversion webhook of widgets.example.com does not work");
  EXPECT_THAT(all[0].causes, ElementsAre("it answered 404"));
  EXPECT_EQ(all[0].next, "fairlead wait crd/widgets.example.com --for functional --layers --timeout 30s");
}

TEST_F(DefinitionsTest, CrdNamesConflict) {
  set(definition(), {"status", "conditions"},
      R"([{"type": "NamesAccepted", "status": "False", "reason": "PluralConflict", "message": "in use"}])");
  EXPECT_EQ(
      only(),
      "error crd-names-conflict: CustomResourceDefinition widgets.example.com is not served: its names are in use\n"
      "because PluralConflict: in use\n"
      "next kubectl describe customresourcedefinition widgets.example.com");
}

TEST_F(DefinitionsTest, CrdStoredVersionGone) {
  set(definition(), {"status", "storedVersions"}, R"(["v1alpha1", "v1"])");
  EXPECT_EQ(only(),
            "error crd-stored-version-gone: objects of CustomResourceDefinition widgets.example.com may be stored in a "
            "version that it no longer has: v1alpha1\n"
            "because status.storedVersions names it, and spec.versions does not\n"
            "next kubectl get customresourcedefinition widgets.example.com -o yaml");
}

TEST_F(DefinitionsTest, CrdStoredVersionUnserved) {
  set(definition(), {"spec", "versions"},
      R"([{"name": "v1", "served": false, "storage": false}, {"name": "v2", "served": true, "storage": true}])");
  set(definition(), {"status", "storedVersions"}, R"(["v1", "v2"])");
  EXPECT_EQ(
      only(),
      "info crd-stored-version-unserved: objects of CustomResourceDefinition widgets.example.com may be stored in "
      "a version that is not served: v1\n"
      "because status.storedVersions names it, and spec.versions has it with served: false\n"
      "next kubectl get customresourcedefinition widgets.example.com -o yaml");
}

TEST_F(DefinitionsTest, CrdNotEstablished) {
  constexpr std::string_view kConditions =
      R"([{{"type": "NamesAccepted", "status": "True"}}, {{"type": "Established", "status": "False",
           "reason": "Installing", "message": "the initial names have been accepted", "lastTransitionTime": "{}"}}])";
  set(definition(), {"status", "conditions"}, fmt::format(kConditions, "2030-02-28T23:59:30Z"));
  EXPECT_THAT(found(), IsEmpty()) << "it may still become so";
  set(definition(), {"status", "conditions"}, fmt::format(kConditions, "2030-02-28T23:00:00Z"));
  EXPECT_EQ(only(),
            "error crd-not-established: CustomResourceDefinition widgets.example.com is not served: it is not "
            "established\n"
            "because Installing: the initial names have been accepted\n"
            "blocks every object of its kind\n"
            "next kubectl describe customresourcedefinition widgets.example.com");
}

TEST_F(DefinitionsTest, ApiServiceUnavailable) {
  set(object("APIService", "v1.metrics.example.com"), {"status", "conditions"},
      R"([{"type": "Available", "status": "False", "reason": "FailedDiscoveryCheck", "message": "no answer"}])");
  EXPECT_EQ(only(),
            "error apiservice-unavailable: APIService v1.metrics.example.com is not available\n"
            "because FailedDiscoveryCheck: no answer\n"
            "blocks requests for v1 in metrics.example.com, and the deletion of every namespace\n"
            "next kubectl delete apiservice v1.metrics.example.com, if that API is no longer served");
  set(object("APIService", "v1.metrics.example.com"), {"spec", "service", "name"}, R"("none")");
  EXPECT_EQ(findings().at(0).causes.at(1), "service operator/none does not exist");
}

}  // namespace
}  // namespace fairlead::doctor
