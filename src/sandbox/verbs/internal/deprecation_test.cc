#include <gmock/gmock.h>

#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DeprecationTest : public SandboxTest {
 protected:
  void define() {
    Got made = post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
                 "versions": [
                   {"name": "v1alpha1", "served": true, "storage": false, "deprecated": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}},
                   {"name": "v1beta1", "served": true, "storage": false, "deprecated": true,
                    "deprecationWarning": "leave v1beta1 alone", "schema": {"openAPIV3Schema": {"type": "object"}}},
                   {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
                   {"name": "v2", "served": false, "storage": false,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]}})");
    EXPECT_EQ(made.status, 201) << made.text;
    pass(std::chrono::minutes(1));
  }
};

TEST_F(DeprecationTest, ClientsAreWarnedOfVersionsThatADefinitionDeprecates) {
  define();
  EXPECT_THAT(get("/apis/example.com/v1/widgets").warnings, IsEmpty());
  EXPECT_EQ(get("/metrics").text, "");
  EXPECT_THAT(get("/apis/example.com/v1alpha1/widgets").warnings,
              ElementsAre(R"(299 - "example.com/v1alpha1 Widget is deprecated; use example.com/v1 Widget")"));
  EXPECT_THAT(get("/apis/example.com/v1beta1/namespaces/default/widgets/none").warnings,
              ElementsAre(R"(299 - "leave v1beta1 alone")"));
  (void)get("/apis/example.com/v1beta1/widgets");
  EXPECT_EQ(get("/metrics").text, R"(# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="example.com",removed_release="",resource="widgets",subresource="",version="v1alpha1"} 1
apiserver_requested_deprecated_apis{group="example.com",removed_release="",resource="widgets",subresource="",version="v1beta1"} 1
)");
}

// The sandbox itself keeps Endpoints, which is nobody's doing.
TEST_F(DeprecationTest, ClientsAreWarnedOfEndpoints) {
  post("/api/v1/namespaces/default/services", R"({"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}],
                                                  "selector": {"app": "web"}}})");
  pass(std::chrono::minutes(1));
  EXPECT_EQ(get("/metrics").text, "");
  Got got = get("/api/v1/namespaces/default/endpoints/web");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(got.warnings,
              ElementsAre(R"(299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")"));
  EXPECT_EQ(get("/metrics").text, R"(# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1
)");
}

}  // namespace
}  // namespace fairlead::sandbox
