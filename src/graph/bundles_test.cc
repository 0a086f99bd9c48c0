// Bundles of real operators, where FAIRLEAD_BUNDLES names a folder that has them.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Bundles : public testing::Test {
 protected:
  // Nothing, and the test is skipped, where the file is not there.
  std::optional<Graph> read(std::initializer_list<std::string_view> files) {
    const char* folder = std::getenv("FAIRLEAD_BUNDLES");
    if (folder == nullptr) return std::nullopt;
    manifest::Bundle bundle;
    for (std::string_view file : files) {
      std::ifstream in(std::filesystem::path(folder) / file);
      if (!in) return std::nullopt;
      std::stringstream text;
      text << in.rdbuf();
      for (object::Object& object : bundle_of(text.str(), std::string(file)).objects)
        bundle.objects.push_back(std::move(object));
    }
    return Graph::build(bundle, {});
  }
};

TEST_F(Bundles, CertManager) {
  std::optional<Graph> graph = read({"cert-manager/bundle.yaml"});
  if (!graph) GTEST_SKIP();
  EXPECT_FALSE(graph->has_errors()) << reports_of(*graph);
  EXPECT_TRUE(has_order(*graph));
  std::vector<std::string> needs = needs_of(*graph);
  EXPECT_THAT(needs, Contains(HasSubstr("(ValidatingWebhookConfiguration cert-manager-webhook) -> Deployment "
                                        "cert-manager/cert-manager-webhook ready: answers behind Service")));
  EXPECT_THAT(needs, Contains(testing::AllOf(testing::StartsWith("Certificate "), HasSubstr("guards that it meets"))));
}

TEST_F(Bundles, ExternalSecrets) {
  std::optional<Graph> graph = read({"external-secrets/bundle.yaml"});
  if (!graph) GTEST_SKIP();
  EXPECT_FALSE(graph->has_errors()) << reports_of(*graph);
  EXPECT_TRUE(has_order(*graph));
  EXPECT_THAT(needs_of(*graph),
              Contains("ExternalSecret default/es1 -> webhook validate.externalsecret.external-secrets.io "
                       "(ValidatingWebhookConfiguration externalsecret-validate) ready: webhook "
                       "validate.externalsecret.external-secrets.io guards it"));
  EXPECT_THAT(needs_of(*graph), Contains("ExternalSecret default/es1 -> ClusterSecretStore fake soft: its store"));
}

TEST_F(Bundles, IngressNginxAndMetalLb) {
  for (std::string_view file : {"ingress-nginx.yaml", "metallb-native.yaml"}) {
    std::optional<Graph> graph = read({file});
    if (!graph) GTEST_SKIP();
    EXPECT_FALSE(graph->has_errors()) << reports_of(*graph);
    EXPECT_TRUE(has_order(*graph));
    for (const Guard& guard : graph->guards()) EXPECT_FALSE(guard.stands_on.empty()) << guard.text();
  }
}

TEST_F(Bundles, AllAtOnce) {
  std::optional<Graph> graph =
      read({"cert-manager/bundle.yaml", "external-secrets/bundle.yaml", "ingress-nginx.yaml", "metallb-native.yaml"});
  if (!graph) GTEST_SKIP();
  EXPECT_FALSE(graph->has_errors()) << reports_of(*graph);
  EXPECT_TRUE(has_order(*graph));
}

}  // namespace
}  // namespace fairlead::graph
