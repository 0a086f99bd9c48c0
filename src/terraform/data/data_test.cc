#include "base/temp_folder_testing.h"
#include "terraform/data/glob.h"
#include "terraform/data/manifests.h"
#include "terraform/data/object_data.h"
#include "terraform/data/webhook_data.h"
#include "terraform/objects/resource_testing.h"

namespace fairlead::terraform {
namespace {

class DataTest : public ClusterTest {
 protected:
  DataResponse read(DataSource& source, Value config) {
    Result<Value> whole = conformed(std::move(config), source.schema().type());
    if (!whole) ADD_FAILURE() << whole.error().message();
    Context context = this->context();
    Diagnostics invalid = loop_.run(source.validate(context, *whole));
    if (invalid.has_errors()) return {.state = {}, .deferred = {}, .diagnostics = std::move(invalid)};
    DataResponse response = loop_.run(source.read(context, *whole));
    if (!response.diagnostics.has_errors()) {
      EXPECT_TRUE(conformed(response.state, source.schema().type()));
      EXPECT_TRUE(response.state.is_wholly_known());
    }
    return response;
  }
  static Value named(const char* kind, const char* name) {
    return Value::object({{"api_version", "v1"}, {"kind", kind}, {"name", name}});
  }
  void put(std::string_view kind, std::string_view plural, std::string_view rest) {
    request("POST", fmt::format("/api/v1/namespaces/default/{}", plural),
            fmt::format(R"({{"apiVersion":"v1","kind":"{}",{}}})", kind, rest));
  }
};

std::string keys_of(const Value& map) {
  std::string text;
  for (const auto& [key, value] : map.members()) text += key + " ";
  return text;
}

constexpr std::string_view kMixed = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: docks.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Dock, plural: docks}, versions: []}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: example.com/v1
kind: Dock
metadata: {name: north}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
---
apiVersion: other.dev/v1
kind: Boat
metadata: {name: b}
)";

TEST_F(DataTest, ManifestsAreSortedByScopeUnderStableKeys) {
  auto source = make_manifests_data_source();
  DataResponse response = read(*source, Value::object({{"content", kMixed}}));
  EXPECT_EQ(text_of(response.diagnostics), "");
  EXPECT_EQ(keys_of(response.state["crds"]), "apiextensions.k8s.io.customresourcedefinition.docks.example.com ");
  EXPECT_EQ(keys_of(response.state["cluster_scoped"]), "example.com.dock.north namespace.shop ");
  EXPECT_EQ(keys_of(response.state["namespaced"]), "apps.deployment.shop.web other.dev.boat.b ");
  EXPECT_EQ(response.state["manifests"].members().size(), 5u);
  EXPECT_EQ(response.state["cluster_scoped"]["namespace.shop"].string_or(""),
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n");
}

TEST_F(DataTest, AManifestThatComesTwiceIsRefused) {
  auto source = make_manifests_data_source();
  std::string twice = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n";
  DataResponse response = read(*source, Value::object({{"content", twice + "---\n" + twice}}));
  EXPECT_EQ(text_of(response.diagnostics),
            "error: ConfigMap a comes twice [content]\n"
            "  because   content:1 and content:5\n"
            "  next      remove one of them\n");
}

TEST_F(DataTest, ManifestsNeedExactlyOneSource) {
  auto source = make_manifests_data_source();
  EXPECT_TRUE(text_of(read(*source, Value::object({})).diagnostics).contains("Set exactly one of"));
  Value both = Value::object({{"content", "a"}, {"pattern", "b"}});
  EXPECT_TRUE(text_of(read(*source, both).diagnostics).contains("Set exactly one of"));
}

TEST_F(DataTest, TheFunctionTakesATextApart) {
  auto function = make_manifests_function();
  Context context = this->context();
  auto result = loop_.run(function->call(context, {Value(kMixed)}));
  ASSERT_TRUE(result);
  EXPECT_EQ(keys_of((*result)["namespaced"]), "apps.deployment.shop.web other.dev.boat.b ");
  auto broken = loop_.run(function->call(context, {Value("a: [")}));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().argument, 0);
}

TEST(Glob, MatchesFilesInAnyNumberOfFolders) {
  TempFolder folder;
  for (const char* name : {"k8s/x.yaml", "k8s/y.txt", "k8s/a/z.yaml", "k8s/a/b/w.yaml"}) folder.write(name, "x");
  auto found = [&](std::string_view pattern) {
    auto files = files_matching(folder.path().string() + std::string(pattern));
    std::string text;
    for (const std::string& file : files ? *files : std::vector<std::string>{"nothing"})
      text += file.substr(file.rfind('/') + 1) + " ";
    return text;
  };
  EXPECT_EQ(found("/k8s/*.yaml"), "x.yaml ");
  EXPECT_EQ(found("/k8s/**/*.yaml"), "w.yaml z.yaml x.yaml ");
  EXPECT_EQ(found("/k8s/*/*.yaml"), "z.yaml ");
  EXPECT_EQ(found("/k8s/x.yaml"), "x.yaml ");
  EXPECT_EQ(found("/k8s/[xy].*"), "x.yaml y.txt ");
  EXPECT_EQ(found("/none/*.yaml"), "nothing ");
}

TEST_F(DataTest, AnObjectIsReadWithItsFields) {
  put("ConfigMap", "configmaps", R"("metadata":{"name":"a"},"data":{"x":"1"})");
  auto source = make_object_data_source();
  DataResponse response = read(*source, named("ConfigMap", "a"));
  EXPECT_EQ(text_of(response.diagnostics), "");
  EXPECT_EQ(response.state["object"]["data"]["x"].string_or(""), "1");
  EXPECT_FALSE(response.state["object"]["metadata"].contains("managedFields"));
  EXPECT_EQ(Json::parse(response.state["manifest"].string_or("")).value()["data"].dump(), R"({"x":"1"})");
}

TEST_F(DataTest, AMissingObjectIsAnErrorThatSaysWhenToAddDependsOn) {
  auto source = make_object_data_source();
  EXPECT_EQ(text_of(read(*source, named("ConfigMap", "a")).diagnostics),
            "error: The object does not exist (ConfigMap default/a) [name]\n"
            "  next      if the same configuration creates it: depends_on = [...]; if something else does: "
            "existence_timeout = \"5m\"\n");
}

TEST_F(DataTest, AnObjectIsWaitedForUntilAFieldIsThere) {
  request_later(std::chrono::seconds(30), "POST", "/api/v1/namespaces/default/configmaps",
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"}})");
  auto source = make_object_data_source();
  Value config = named("ConfigMap", "a");
  config.make("wait_for") = Value::object({{"field", "data.x"}});
  DataResponse response = read(*source, config);
  EXPECT_EQ(text_of(response.diagnostics), "");
  EXPECT_EQ(response.state["object"]["data"]["x"].string_or(""), "1");
}

TEST_F(DataTest, AMissingEphemeralObjectSaysHowToWaitForTheResourceThatCreatesIt) {
  auto ephemeral = make_ephemeral_object();
  Context context = this->context();
  Value config = conformed(named("Secret", "s"), ephemeral->schema().type()).value();
  EXPECT_EQ(
      text_of(loop_.run(ephemeral->open(context, config)).diagnostics),
      "error: The object does not exist (Secret default/s) [name]\n"
      "  next      if the same configuration creates it: name = fairlead_object.NAME.id == \"\" ? \"\" : \"s\"; if "
      "something else does: existence_timeout = \"5m\"\n");
}

TEST_F(DataTest, SecretsAreDigestsInTheDataSourceAndValuesInTheEphemeralResource) {
  put("Secret", "secrets", R"("metadata":{"name":"s"},"data":{"password":"aHVudGVyMjIyMjI=","raw":"/w=="})");
  auto source = make_object_data_source();
  DataResponse response = read(*source, named("Secret", "s"));
  std::string text = response.state.to_json()->dump();
  EXPECT_FALSE(text.contains("aHVudGVy")) << text;
  EXPECT_TRUE(response.state["object"]["data"]["password"].string_or("").starts_with("sha256:"));
  auto ephemeral = make_ephemeral_object();
  Context context = this->context();
  Value config = conformed(named("Secret", "s"), ephemeral->schema().type()).value();
  OpenResponse opened = loop_.run(ephemeral->open(context, config));
  EXPECT_EQ(text_of(opened.diagnostics), "");
  EXPECT_EQ(opened.result["data"]["password"].string_or(""), "hunter22222");
  EXPECT_FALSE(opened.result["data"].contains("raw"));
}

TEST_F(DataTest, AWebhookIsShownWithItsLayers) {
  request("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
          R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":
             "widgets"},"webhooks":[{"name":"v.widgets.example.com","clientConfig":{"caBundle":"QUFBQQ==","service":{"name":
             "webhook","namespace":"operator"}},"rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":
             ["CREATE"],"resources":["widgets"]}],"sideEffects":"None","admissionReviewVersions":["v1"]}]})");
  auto source = make_webhook_data_source();
  DataResponse response = read(*source, Value::object({{"name", "widgets"}}));
  EXPECT_EQ(text_of(response.diagnostics), "");
  EXPECT_FALSE(response.state["functional"].bool_or(true));
  const Value& hook = response.state["webhooks"].item(0);
  EXPECT_EQ(hook["name"].string_or(""), "v.widgets.example.com");
  std::string layers;
  for (const Value& layer : hook["layers"].items())
    layers += fmt::format("{}: {}\n", layer["name"].string_or(""), layer["state"].string_or(""));
  EXPECT_TRUE(layers.contains("service: failing\n")) << layers;
  DataResponse required = read(*source, Value::object({{"name", "widgets"}, {"required", true}}));
  EXPECT_TRUE(
      text_of(required.diagnostics).starts_with("error: The webhook is not functional (webhook widgets) [name]"))
      << text_of(required.diagnostics);
}

}  // namespace
}  // namespace fairlead::terraform
