#include "sandbox/sandbox.h"

#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

std::string message(const Got& got) { return std::string(got.body["message"].string_or(got.text)); }

TEST_F(SandboxTest, AppliesReadsAndDeletes) {
  Got made = apply(std::string(kMaps) + "/one",
                   R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"b"}})");
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body["metadata"]["managedFields"].item(0)["fieldsV1"].dump(), R"({"f:data":{"f:a":{}}})");
  EXPECT_EQ(made.body["metadata"]["namespace"], Json("default"));
  Got again = apply(std::string(kMaps) + "/one",
                    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"b"}})");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, made.body);
  EXPECT_EQ(get(std::string(kMaps) + "/one").body, made.body);
  Got gone = remove(std::string(kMaps) + "/one");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body["status"], Json("Success"));
  EXPECT_EQ(message(get(std::string(kMaps) + "/one")), "configmaps \"one\" not found");
}

TEST_F(SandboxTest, ConflictsNameWhoOwnsWhat) {
  post(std::string(kMaps), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"z":"1"}})");
  Got refused = apply(std::string(kMaps) + "/a",
                      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"z":"2"}})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(message(refused), "Apply failed with 1 conflict: conflict with \"unknown\" using v1: .data.z");
  Got forced = apply(std::string(kMaps) + "/a",
                     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"z":"2"}})",
                     "fieldManager=test&force=true");
  EXPECT_EQ(forced.status, 200);
  EXPECT_EQ(forced.body["data"]["z"], Json("2"));
}

TEST_F(SandboxTest, RefusesInTheWordsOfTheServer) {
  EXPECT_EQ(message(post("/api/v1/namespaces/nope/configmaps", R"({"metadata":{"name":"a"}})")),
            "namespaces \"nope\" not found");
  EXPECT_EQ(message(get("/apis/nosuch.example.com/v1/things")), "404 page not found\n");
  EXPECT_EQ(message(get("/apis/apps/v1/nope")), "the server could not find the requested resource");
  EXPECT_EQ(message(post("/api/v1/configmaps", R"({"metadata":{"name":"a"}})")),
            "the server does not allow this method on the requested resource");
  EXPECT_EQ(message(post(std::string(kMaps), R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}})")),
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): "
            "unknown conversion");
  EXPECT_EQ(message(post(std::string(kMaps), R"({"metadata":{"name":"a","resourceVersion":"5"}})")),
            "resourceVersion should not be set on objects to be created");
  EXPECT_EQ(
      message(post(std::string(kMaps) + "?fieldValidation=Strict", R"({"metadata":{"name":"a"},"nosuch":1})")),
      "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"nosuch\"");
  Got warned = post(std::string(kMaps), R"({"metadata":{"name":"a"},"nosuch":1})");
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.warnings, (std::vector<std::string>{"299 - \"unknown field \\\"nosuch\\\"\""}));
  EXPECT_EQ(message(post(std::string(kMaps), R"({"metadata":{"name":"a"}})")), "configmaps \"a\" already exists");
  EXPECT_TRUE(
      message(remove(std::string(kMaps) + "/a", R"({"preconditions":{"uid":"x"}})"))
          .starts_with("Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (x) does not "
                       "match the UID in record ("));
  EXPECT_EQ(message(remove("/api/v1/namespaces/default")),
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

TEST_F(SandboxTest, DryRunsStoreNothing) {
  Got dry = post(std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"dry"}})");
  EXPECT_EQ(dry.status, 201);
  EXPECT_FALSE(dry.body["metadata"].contains("resourceVersion"));
  EXPECT_EQ(get(std::string(kMaps) + "/dry").status, 404);
}

TEST_F(SandboxTest, ListsInPiecesOfOneVersion) {
  for (std::string name : {"a", "b", "c"})
    post(std::string(kMaps), fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"n":"{}"}}}}}})", name, name));
  pass(1s);
  Got first = get(std::string(kMaps) + "?limit=2");
  ASSERT_EQ(first.body["items"].items().size(), 2u);
  EXPECT_EQ(first.body["kind"], Json("ConfigMapList"));
  EXPECT_EQ(first.body["metadata"]["remainingItemCount"], Json(2));  // the root certificates are there as well
  post(std::string(kMaps), R"({"metadata":{"name":"bb"}})");
  std::string token(first.body["metadata"]["continue"].string_or(""));
  Got second = get(std::string(kMaps) + "?limit=5&continue=" + token);
  ASSERT_EQ(second.body["items"].items().size(), 2u) << second.text;
  EXPECT_EQ(second.body["metadata"]["resourceVersion"], first.body["metadata"]["resourceVersion"]);
  EXPECT_EQ(get(std::string(kMaps) + "?labelSelector=n%20in%20(a,b)").body["items"].items().size(), 2u);
  EXPECT_EQ(get(std::string(kMaps) + "?fieldSelector=metadata.name=c").body["items"].items().size(), 1u);
  sandbox_.compact();
  Got expired = get(std::string(kMaps) + "?limit=5&continue=" + token);
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(expired.body["reason"], Json("Expired"));
  std::string rest(expired.body["metadata"]["continue"].string_or(""));
  EXPECT_EQ(get(std::string(kMaps) + "?limit=5&continue=" + rest).body["items"].items().size(), 3u);
}

TEST_F(SandboxTest, WatchesFromAVersion) {
  Got made = post(std::string(kMaps), R"({"metadata":{"name":"a"}})");
  std::string version(made.body["metadata"]["resourceVersion"].string_or(""));
  merge(std::string(kMaps) + "/a", R"({"data":{"x":"y"}})");
  remove(std::string(kMaps) + "/a");
  Got watch =
      get(std::string(kMaps) + "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=a&resourceVersion=" + version);
  std::vector<std::string> types;
  for (std::string_view rest = watch.text; !rest.empty();) {
    size_t end = rest.find('\n');
    types.emplace_back(parse(rest.substr(0, end))["type"].string_or(""));
    rest = rest.substr(end + 1);
  }
  EXPECT_EQ(types, (std::vector<std::string>{"MODIFIED", "DELETED"}));
  sandbox_.compact();
  post(std::string(kMaps), R"({"metadata":{"name":"b"}})");
  Json gone = get(std::string(kMaps) + "?watch=1&resourceVersion=" + version).body;
  EXPECT_EQ(gone["type"], Json("ERROR"));
  EXPECT_EQ(gone["object"]["code"], Json(410));
  EXPECT_EQ(gone["object"]["message"].string_or("").substr(0, 27), "too old resource version: " + version.substr(0, 1));
}

TEST_F(SandboxTest, FinalizersHoldWhatIsDeleted) {
  post(std::string(kMaps), R"({"metadata":{"name":"held","finalizers":["example.com/x"]}})");
  Got held = remove(std::string(kMaps) + "/held");
  EXPECT_TRUE(held.body["metadata"].contains("deletionTimestamp")) << held.text;
  EXPECT_EQ(
      message(merge(std::string(kMaps) + "/held", R"({"metadata":{"finalizers":["example.com/x","example.com/y"]}})")),
      "ConfigMap \"held\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
      "being deleted, found new finalizers []string{\"example.com/y\"}");
  EXPECT_EQ(merge(std::string(kMaps) + "/held", R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(get(std::string(kMaps) + "/held").status, 404);
}

constexpr std::string_view kDefinition = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
  "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
  "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
    "schema":{"openAPIV3Schema":{"type":"object","properties":{
      "spec":{"type":"object","required":["size"],"properties":{"size":{"type":"integer","minimum":1},
      "color":{"type":"string","default":"red"}}},"status":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}]}})";

TEST_F(SandboxTest, ServesCustomResourcesOnceEstablished) {
  constexpr std::string_view kWidget =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}})";
  std::string path = "/apis/example.com/v1/namespaces/default/widgets/w";
  Got made = post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kDefinition);
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_TRUE(made.body["status"]["conditions"].is_null());
  EXPECT_EQ(apply(path, kWidget).text, "404 page not found\n");
  pass(1s);
  Got widget = apply(path, kWidget);
  ASSERT_EQ(widget.status, 201) << widget.text;
  EXPECT_EQ(widget.body["spec"]["color"], Json("red"));
  EXPECT_EQ(widget.body["metadata"]["generation"], Json(1));
  Got invalid =
      apply(path, R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":0}})");
  EXPECT_EQ(invalid.status, 422);
  EXPECT_EQ(message(invalid),
            "Widget.example.com \"w\" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater "
            "than or equal to 1");
  Got status = merge(path + "/status", R"({"status":{"n":4},"spec":{"size":9}})");
  EXPECT_EQ(status.body["status"]["n"], Json(4)) << status.text;
  EXPECT_EQ(status.body["spec"]["size"], Json(1));
  EXPECT_EQ(status.body["metadata"]["generation"], Json(1));
  EXPECT_EQ(get("/apis/example.com/v1").body["resources"].item(0)["name"], Json("widgets"));

  EXPECT_EQ(remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com").status, 200);
  pass(1s);
  EXPECT_EQ(get(path).text, "404 page not found\n");
  EXPECT_EQ(get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com").status, 404);
}

// As on the real server, which checks the versions against the status whenever anything else is written.
TEST_F(SandboxTest, TheStatusOfADefinitionMayNameAVersionThatItDoesNotHave) {
  constexpr std::string_view kPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
  post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kDefinition);
  pass(1s);
  Got status = merge(std::string(kPath) + "/status", R"({"status":{"storedVersions":["v0","v1"]}})");
  EXPECT_EQ(status.status, 200) << status.text;
  EXPECT_EQ(status.body["status"]["storedVersions"], (Json::Array{"v0", "v1"}));
  Got refused = merge(std::string(kPath), R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(message(refused).contains("missing from spec.versions; v0 was previously a storage version"))
      << message(refused);
}

TEST_F(SandboxTest, ATerminatingDefinitionWaitsForItsObjects) {
  post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kDefinition);
  pass(1s);
  std::string list = "/apis/example.com/v1/namespaces/default/widgets";
  post(
      list,
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","finalizers":["example.com/x"]},"spec":{"size":1}})");
  remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com");
  pass(1s);
  EXPECT_EQ(
      message(
          post(list, R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w2"},"spec":{"size":1}})")),
      "widgets.example.com \"w2\" is forbidden: create not allowed while custom resource definition is terminating");
  merge(list + "/w", R"({"metadata":{"finalizers":null}})");
  pass(1s);
  EXPECT_EQ(get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com").status, 404);
}

TEST_F(SandboxTest, NamespacesGoWithWhatTheyHold) {
  post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  pass(1s);
  EXPECT_EQ(get("/api/v1/namespaces/team/serviceaccounts/default").status, 200);
  post("/api/v1/namespaces/team/configmaps", R"({"metadata":{"name":"held","finalizers":["example.com/x"]}})");
  EXPECT_EQ(remove("/api/v1/namespaces/team").body["status"]["phase"], Json("Terminating"));
  Got refused = post("/api/v1/namespaces/team/configmaps", R"({"metadata":{"name":"new"}})");
  EXPECT_EQ(
      message(refused),
      "configmaps \"new\" is forbidden: unable to create new content in namespace team because it is being terminated");
  pass(6s);
  Json stuck = get("/api/v1/namespaces/team").body;
  EXPECT_EQ(stuck["status"]["conditions"].item(3)["message"],
            Json("Some resources are remaining: configmaps. has 1 resource instances"));
  merge("/api/v1/namespaces/team/configmaps/held", R"({"metadata":{"finalizers":null}})");
  pass(6s);
  EXPECT_EQ(get("/api/v1/namespaces/team").status, 404);
}

}  // namespace
}  // namespace fairlead::sandbox
