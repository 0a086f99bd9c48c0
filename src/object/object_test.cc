#include "object/object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unordered_set>

#include "object/name.h"
#include "object/resource.h"

namespace fairlead::object {
namespace {

Result<Object> from(std::string_view json, Source source = {}) {
  return Object::from(*Json::parse(json), std::move(source));
}

std::string problem(std::string_view json) {
  Result<Object> object = from(json);
  return object ? "no error" : object.error().message();
}

TEST(Object, KnowsItsKeyAndSource) {
  Object object = *from(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"team-a",
      "labels":{"app":"web"},"annotations":{"example.com/x":"y"}}})",
                        {.file = "k8s/web.yaml", .line = 41});
  EXPECT_EQ(object.key(), (Key{.group = "apps", .kind = "Deployment", .ns = "team-a", .name = "web"}));
  EXPECT_EQ(object.version(), "v1");
  EXPECT_EQ(object.key().text(), "Deployment team-a/web");
  EXPECT_EQ(object.key().text_with_group(), "Deployment.apps team-a/web");
  EXPECT_EQ(object.source().text(), "k8s/web.yaml:41");
  EXPECT_EQ(object.label("app"), "web");
  EXPECT_EQ(object.label("tier"), "");
  EXPECT_EQ(object.annotation("example.com/x"), "y");

  Object role = *from(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}})");
  EXPECT_EQ(role.key().text(), "Node a");
  EXPECT_EQ(role.key().text_with_group(), "Node a");
  EXPECT_EQ(role.source().text(), "");
}

TEST(Object, SetsItsNamespace) {
  Object object = *from(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
  object.set_namespace("x");
  EXPECT_EQ(object.value().dump(), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x"}})");
  EXPECT_EQ(object.key().text(), "Pod x/a");
  object.set_namespace("");
  EXPECT_EQ(object.value().dump(), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
  EXPECT_EQ(object.ns(), "");
}

TEST(Object, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(problem("[]"), "this document is an array, it must be an object with apiVersion and kind");
  EXPECT_EQ(problem("\"x\""), "this document is a string, it must be an object with apiVersion and kind");
  EXPECT_EQ(problem("{}"), "apiVersion is missing");
  EXPECT_EQ(problem(R"({"apiVersion":1})"), "apiVersion is an integer, it must be a string: put it in quotes");
  EXPECT_EQ(problem(R"({"apiVersion":"a/b/c"})"), "apiVersion \"a/b/c\" is not of the form GROUP/VERSION or VERSION");
  EXPECT_EQ(problem(R"({"apiVersion":"../v1"})"), "apiVersion \"../v1\" is not of the form GROUP/VERSION or VERSION");
  EXPECT_EQ(problem(R"({"apiVersion":"v1"})"), "kind is missing");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":""})"), "kind is missing");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod"})"), "metadata.name is missing");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":[]})"), "metadata is an array, it must be an object");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":7}})"),
            "metadata.name is an integer, it must be a string: put it in quotes");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"x-"}})"),
            "it has metadata.generateName and no metadata.name: it cannot be applied twice, since each time would make "
            "another object");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":".."}})"), "metadata.name may not be \"..\"");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a/b"}})"),
            "metadata.name \"a/b\" may not contain '/'");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a%2fb"}})"),
            "metadata.name \"a%2fb\" may not contain '%'");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a\nb"}})"),
            "metadata.name \"a\\nb\" may not contain control characters");
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":true}})"),
            "metadata.namespace is a boolean, it must be a string: put it in quotes");
  EXPECT_EQ(
      problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x/y"}})"),
      "metadata.namespace \"x/y\" is no namespace: it has at most 63 lower-case letters, digits and '-', and starts "
      "and ends with a letter or digit");
  EXPECT_THAT(problem(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x.y"}})"),
              testing::HasSubstr("is no namespace"));
  EXPECT_EQ(problem(R"({"apiVersion":"v1","kind":"Po d","metadata":{"name":"a"}})"),
            "kind \"Po d\" is no kind: it has at most 63 letters and digits");
}

TEST(Key, IsAKey) {
  Key a{.group = "", .kind = "Pod", .ns = "x", .name = "a"};
  Key b{.group = "", .kind = "Pod", .ns = "x", .name = "b"};
  Key swapped{.group = "", .kind = "Pod", .ns = "a", .name = "x"};
  EXPECT_LT(a, b);
  std::unordered_set<Key> keys{a, b, swapped, a};
  EXPECT_EQ(keys.size(), 3u);
  EXPECT_NE(std::hash<Key>()(a), std::hash<Key>()(swapped));
}

TEST(ApiVersion, HasAGroupOrNot) {
  EXPECT_EQ(*ApiVersion::parse("v1"), (ApiVersion{.group = "", .version = "v1"}));
  EXPECT_EQ(*ApiVersion::parse("cert-manager.io/v1beta1"),
            (ApiVersion{.group = "cert-manager.io", .version = "v1beta1"}));
  EXPECT_EQ(ApiVersion::parse("apps/v1")->text(), "apps/v1");
  EXPECT_EQ(ApiVersion::parse("v1")->text(), "v1");
  for (std::string_view bad : {"", "/v1", "apps/", "a/b/c", "..", "v1?x", "a b/v1"})
    EXPECT_FALSE(ApiVersion::parse(bad)) << bad;
}

TEST(Resource, BuildsPaths) {
  Resource deployments{.group = "apps",
                       .version = "v1",
                       .kind = "Deployment",
                       .plural = "deployments",
                       .singular = "deployment",
                       .namespaced = true,
                       .short_names = {"deploy"},
                       .verbs = {"get", "patch"}};
  EXPECT_EQ(*deployments.path("x", "y"), "/apis/apps/v1/namespaces/x/deployments/y");
  EXPECT_EQ(*deployments.path("x", "y", "status"), "/apis/apps/v1/namespaces/x/deployments/y/status");
  EXPECT_EQ(*deployments.list_path("x"), "/apis/apps/v1/namespaces/x/deployments");
  EXPECT_EQ(*deployments.list_path(), "/apis/apps/v1/deployments");
  EXPECT_EQ(deployments.name_with_group(), "deployments.apps");
  EXPECT_EQ(deployments.api_version(), "apps/v1");
  EXPECT_TRUE(deployments.can("patch"));
  EXPECT_FALSE(deployments.can("watch"));
  EXPECT_EQ(deployments.path("", "y").error().message(), "Deployment \"y\" needs a namespace");

  Resource roles{
      .group = "rbac.authorization.k8s.io", .version = "v1", .kind = "ClusterRole", .plural = "clusterroles"};
  EXPECT_EQ(*roles.path("ignored", "system:node"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node");
  Resource pods{.version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
  EXPECT_EQ(*pods.list_path("x"), "/api/v1/namespaces/x/pods");
  EXPECT_EQ(pods.name_with_group(), "pods");
}

TEST(Resource, LetsNothingOutOfItsSegment) {
  Resource pods{.version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
  EXPECT_EQ(*pods.path("x", "a b?c#d\xc3\xbc"), "/api/v1/namespaces/x/pods/a%20b%3Fc%23d%C3%BC");
  EXPECT_EQ(pods.path("x", "..").error().message(), "name may not be \"..\"");
  EXPECT_EQ(pods.path("../..", "a").error().message(), "namespace \"../..\" may not contain '/'");
  EXPECT_EQ(pods.path("x", "").error().message(), "name is empty");
  EXPECT_EQ(pods.path("x", "a", "status/..").error().message(), "subresource \"status/..\" may not contain '/'");
  pods.plural = "..";
  EXPECT_EQ(pods.list_path("x").error().message(), "resource may not be \"..\"");
}

}  // namespace
}  // namespace fairlead::object
