// The cluster ends up as the manifests say, whoever managed it before, and whoever works on it at the same time.
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string map(std::string_view name, std::string_view value) {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\ndata: {{a: '{}'}}\n", name, value);
}

Options shop() {
  Options options;
  options.name = "shop";
  return options;
}

class DayTwoTest : public RolloutTest {
 protected:
  void create(std::string_view manager, std::string_view yaml) {
    static const object::Resource kMaps{
        .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "", .namespaced = true};
    kube::WriteOptions options;
    options.field_manager = manager;
    manifest::Bundle bundle = bundle_of(yaml);
    ASSERT_TRUE(loop_.run(client_.create(kMaps, "default", bundle.objects.front().value(), options)));
  }
  std::string data(const std::string& name) {
    return get("/api/v1/namespaces/default/configmaps/" + name)["data"].dump();
  }
  Task<void> roll_first(std::string yaml) {
    Options options = shop();
    options.run = options.origin = "first";
    Ending ending = co_await roll_out(client_, discovery_, bundle_of(yaml), options, journal_, nullptr);
    EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  }
  // A second later, when the first still waits for its Job.
  Task<Ending> roll_second(std::string yaml) {
    (void)co_await sleep_for(loop_, seconds(1));
    Options options = shop();
    options.run = options.origin = "second";
    options.prune = true;
    Ending ending = co_await roll_out(client_, discovery_, bundle_of(yaml), options, journal_, nullptr);
    co_await injector_.join();
    co_return ending;
  }
  bool was_told(std::string_view text) const { return events().find(text) != std::string::npos; }
};

TEST_F(DayTwoTest, FieldsThatAFormerToolAppliedLeaveWithTheManifest) {
  create("kubectl-client-side-apply",
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {old: '1'}}\ndata: {a: '1', b: '1'}\n");
  Options rehearsal = shop();
  rehearsal.dry_run = true;
  EXPECT_EQ(states(apply(map("x", "1"), rehearsal)), "ConfigMap default/x changed\n");
  EXPECT_TRUE(was_told("its fields would be taken over from kubectl-client-side-apply")) << events();
  EXPECT_EQ(states(apply(map("x", "1"), shop())), "ConfigMap default/x changed\n") << events();
  EXPECT_TRUE(was_told("its fields are taken over from kubectl-client-side-apply")) << events();
  EXPECT_EQ(data("x"), R"({"a":"1"})");
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/x")["metadata"]["labels"].contains("old"));
  EXPECT_EQ(states(apply(map("x", "1"), shop())), "ConfigMap default/x unchanged\n");
}

// Refuses the takeover as an API server does when somebody has changed the object meanwhile.
class Contended final : public http::Transport {
 public:
  explicit Contended(http::Transport& inner) : inner_(inner) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool takes_over = request.body.find("/metadata/managedFields") != std::string::npos;
    if (takes_over && ++takeovers == 1) request.body.replace(request.body.rfind("\"value\":\""), 10, "\"value\":\"1");
    co_return co_await inner_.open(std::move(request));
  }
  int takeovers = 0;

 private:
  http::Transport& inner_;
};

TEST_F(DayTwoTest, ATakeoverThatSomebodyElseOutranIsTriedAgain) {
  create("kubectl-client-side-apply", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '1', b: '1'}\n");
  Contended contended(sandbox_.api_server());
  Ending ending = apply_through(contended, map("x", "1"), shop());
  EXPECT_EQ(states(ending), "ConfigMap default/x changed\n") << events();
  EXPECT_EQ(contended.takeovers, 2);
  EXPECT_EQ(data("x"), R"({"a":"1"})");
}

// Deletes the object after an apply was refused for a conflict.
class DeletesAfterTheConflict final : public http::Transport {
 public:
  DeletesAfterTheConflict(http::Transport& inner, kube::Client& client) : inner_(inner), client_(client) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    auto answer = co_await inner_.open(std::move(request));
    if (answer && answer->status == 409 && !std::exchange(is_deleted_, true))
      (void)co_await client_.request(
          {.verb = "delete", .method = "DELETE", .target = "/api/v1/namespaces/default/configmaps/x"});
    co_return answer;
  }

 private:
  http::Transport& inner_;
  kube::Client& client_;
  bool is_deleted_ = false;
};

TEST_F(DayTwoTest, WhatIsDeletedAfterAConflictIsCreated) {
  create("somebody", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: theirs}\n");
  DeletesAfterTheConflict server(sandbox_.api_server(), client_);
  Ending ending = apply_through(server, map("x", "ours"));
  EXPECT_EQ(states(ending), "ConfigMap default/x created\n") << events();
  EXPECT_EQ(data("x"), R"({"a":"ours"})");
}

// The second run reads the members before the first has written them all, and gets the claim when that has ended.
TEST_F(DayTwoTest, ARunThatStartsWhileAnotherEndsDecidesByWhatThatHasLeft) {
  EXPECT_EQ(apply(map("x", "old"), shop()).how, Ending::How::done);
  std::string first = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: first}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: main}]}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, annotations: {fairlead.dev/depends-on: Job/first}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x, annotations: {fairlead.dev/depends-on: Job/first}}
data: {a: new}
)";
  injector_.spawn(roll_first(first));
  Ending ending = loop_.run(roll_second(map("x", "old")));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending),
            "ConfigMap default/x changed\nServiceAccount default/robot removed\nJob default/first removed\n");
  EXPECT_EQ(data("x"), R"({"a":"old"})");
}

TEST_F(DayTwoTest, WhatIsInATerminatingNamespaceIsNotUnchanged) {
  std::string bundle = R"(
apiVersion: v1
kind: Namespace
metadata: {name: place}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inside, namespace: place}
)";
  EXPECT_EQ(apply(bundle, shop()).how, Ending::How::done);
  kube::Call deletion{.verb = "delete", .method = "DELETE", .target = "/api/v1/namespaces/place"};
  ASSERT_TRUE(loop_.run(client_.request(deletion)));
  EXPECT_EQ(states(apply(bundle, shop())), "Namespace place created\nConfigMap place/inside created\n") << events();
  EXPECT_EQ(get("/api/v1/namespaces/place/configmaps/inside")["kind"].string_or(""), "ConfigMap");
}

// Somebody else acts after a run has read what there is, and before it writes anything.
class BeforeTheFirstWrite final : public http::Transport {
 public:
  BeforeTheFirstWrite(http::Transport& inner, std::function<Task<void>()> act) : inner_(inner), act_(std::move(act)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "GET" && act_) co_await std::exchange(act_, nullptr)();
    co_return co_await inner_.open(std::move(request));
  }

 private:
  http::Transport& inner_;
  std::function<Task<void>()> act_;
};

TEST_F(DayTwoTest, WhatIsInANamespaceThatWasDeletedMeanwhileIsNotUnchanged) {
  auto bundle = [](std::string_view label) {
    return fmt::format(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: place, labels: {{x: {}}}}}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: inside, namespace: place}}\n",
        label);
  };
  EXPECT_EQ(apply(bundle("one"), shop()).how, Ending::How::done);
  BeforeTheFirstWrite server(sandbox_.api_server(), [&]() -> Task<void> {
    (void)co_await client_.request({.verb = "delete", .method = "DELETE", .target = "/api/v1/namespaces/place"});
    while (co_await client_.request({.target = "/api/v1/namespaces/place"}))
      (void)co_await sleep_for(loop_, std::chrono::milliseconds(100));
  });
  Ending ending = apply_through(server, bundle("two"), shop());
  EXPECT_EQ(states(ending), "Namespace place created\nConfigMap place/inside created\n") << events();
  EXPECT_EQ(get("/api/v1/namespaces/place/configmaps/inside")["kind"].string_or(""), "ConfigMap");
}

TEST_F(DayTwoTest, AnInstanceWhoseDefinitionWasDeletedMeanwhileIsNotUnchanged) {
  auto bundle = [](std::string_view label) {
    return fmt::format(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gadgets.example.com, labels: {{x: {}}}}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Gadget, plural: gadgets, singular: gadget}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
---
apiVersion: example.com/v1
kind: Gadget
metadata: {{name: g}}
)",
                       label);
  };
  EXPECT_EQ(apply(bundle("one"), shop()).how, Ending::How::done) << events();
  std::string definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
  BeforeTheFirstWrite server(sandbox_.api_server(), [&]() -> Task<void> {
    (void)co_await client_.request({.verb = "delete", .method = "DELETE", .target = definition});
    while (co_await client_.request({.target = definition}))
      (void)co_await sleep_for(loop_, std::chrono::milliseconds(100));
  });
  Ending ending = apply_through(server, bundle("two"), shop());
  EXPECT_EQ(states(ending), "CustomResourceDefinition gadgets.example.com created\nGadget default/g created\n")
      << events();
  EXPECT_EQ(get("/apis/example.com/v1/namespaces/default/gadgets/g")["kind"].string_or(""), "Gadget");
}

TEST_F(DayTwoTest, AStatusThatChangesMeanwhileIsNotOurChange) {
  std::string thing = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)";
  EXPECT_EQ(apply(thing).how, Ending::How::done);
  BeforeTheFirstWrite server(sandbox_.api_server(), [&]() -> Task<void> {
    auto patched = co_await client_.request(
        {.verb = "patch",
         .method = "PATCH",
         .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com/status",
         .content_type = "application/merge-patch+json",
         .body = R"({"status":{"conditions":[{"type":"Seen","status":"True","reason":"Seen","message":""}]}})"});
    EXPECT_TRUE(patched);
  });
  Ending ending = apply_through(server, thing);
  EXPECT_EQ(states(ending), "CustomResourceDefinition things.example.com unchanged\n") << events();
}

// An API server that goes on using the former schema of a CRD for a while.
class FormerSchema final : public http::Transport {
 public:
  FormerSchema(Loop& loop, http::Transport& inner, Duration lag) : loop_(loop), inner_(inner), lag_(lag) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool instance = request.method == "PATCH" && request.target.find("/things/one") != std::string::npos;
    if (request.method == "PATCH" && request.target.find("/customresourcedefinitions/") != std::string::npos)
      until_ = loop_.now() + lag_;
    if (!instance || loop_.now() >= until_) co_return co_await inner_.open(std::move(request));
    request.body.replace(request.body.find("\"b\":"), 4, "\"undeclared\":");
    co_return co_await inner_.open(std::move(request));
  }

 private:
  Loop& loop_;
  http::Transport& inner_;
  Duration lag_;
  TimePoint until_{};
};

std::string things(std::string_view fields, std::string_view spec) {
  return fmt::format(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: things, singular: thing, kind: Thing, listKind: ThingList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{}}}}}}}}}}}
---
apiVersion: example.com/v1
kind: Thing
metadata: {{name: one}}
spec: {{{}}}
)",
                     fields, spec);
}

TEST_F(DayTwoTest, AFieldThatComesWithItsDefinitionIsWaitedFor) {
  EXPECT_EQ(apply(things("a: {type: string}", "a: x"), shop()).how, Ending::How::done);
  std::string grown = things("a: {type: string}, b: {type: string}", "a: x, b: x");
  FormerSchema former(loop_, sandbox_.api_server(), seconds(3));
  Ending ending = apply_through(former, grown, shop());
  EXPECT_EQ(states(ending),
            "CustomResourceDefinition things.example.com changed\nThing default/one "
            "changed\n")
      << reports(ending) << events();
  EXPECT_TRUE(was_told("its CRD changed in this run")) << events();
}

TEST_F(DayTwoTest, AFieldThatIsNotDeclaredAtAllIsRefusedSoonAfterItsDefinitionChanged) {
  EXPECT_EQ(apply(things("a: {type: string}", "a: x"), shop()).how, Ending::How::done);
  Ending ending = apply(things("a: {type: string}, b: {type: string}", "a: x, c: x"), shop());
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_LT(ending.took, seconds(30));
  ending = apply(things("a: {type: string}, b: {type: string}", "a: x, c: x"), shop());
  EXPECT_LT(ending.took, milliseconds(100));
}

// What is owned as stringData is owned nowhere.
TEST_F(DayTwoTest, AKeyThatLeavesTheManifestLeavesTheSecret) {
  auto secret = [](std::string_view data) {
    return fmt::format("apiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\nstringData: {{{}}}\n", data);
  };
  for (const Options& options : {Options(), shop()}) {
    apply(secret("a: one, b: two"), options);
    EXPECT_EQ(states(apply(secret("a: one"), options)), "Secret default/login changed\n");
    EXPECT_EQ(get("/api/v1/namespaces/default/secrets/login")["data"].dump(), R"({"a":"b25l"})");
    EXPECT_EQ(states(apply(secret("a: one"), options)), "Secret default/login unchanged\n");
  }
  // The API server says what is wrong with it.
  EXPECT_EQ(apply(secret("a: 1")).how, Ending::How::failed);
}

// A policy that quotes what it refuses, plain and encoded.
TEST_F(DayTwoTest, ValuesOfSecretsReachNoText) {
  std::string policy = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: strict}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets, configmaps]}]
  validations: [{expression: 'false', messageExpression: "'not ' + object.data.password"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: strict}
spec: {policyName: strict, validationActions: [Deny, Audit]}
)";
  ASSERT_EQ(apply(policy).how, Ending::How::done);
  // API servers take up policies late.
  (void)loop_.run(sleep_for(loop_, seconds(2)));
  Ending ending = apply(R"(
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: hunter22}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {password: hunter22}
)");
  EXPECT_EQ(ending.how, Ending::How::failed);
  std::string texts = reports(ending) + events();
  EXPECT_NE(texts.find("not ***"), std::string::npos) << texts;
  EXPECT_EQ(texts.find("hunter22"), std::string::npos) << texts;
  EXPECT_EQ(texts.find("aHVudGVyMjI"), std::string::npos) << texts;
}

// The first apply of an object that sets nothing leaves nobody as the owner of anything.
TEST_F(DayTwoTest, ASecondApplyOfWhatSetsNothingChangesNothing) {
  std::string bare = R"(
apiVersion: v1
kind: Namespace
metadata: {name: bare}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
)";
  EXPECT_EQ(states(apply(bare)), "Namespace bare created\nServiceAccount default/robot created\n");
  Options rehearsal;
  rehearsal.dry_run = true;
  std::string unchanged = "Namespace bare unchanged\nServiceAccount default/robot unchanged\n";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(states(apply(bare, rehearsal)), unchanged);
    EXPECT_EQ(states(apply(bare)), unchanged);
  }
}

// With its resourceVersion, the second change would be refused: the object is no longer the one that was copied.
TEST_F(DayTwoTest, ACopyOfWhatTheServerReturnedIsAppliedMoreThanOnce) {
  for (const Options& options : {Options(), shop()}) {
    EXPECT_EQ(apply(map("x", "0"), options).how, Ending::How::done);
    Json copy = get("/api/v1/namespaces/default/configmaps/x");
    ASSERT_TRUE(copy["metadata"].contains("resourceVersion"));
    for (std::string_view value : {"1", "2"}) {
      copy.make("data").make("a") = value;
      Ending ending = apply(copy.dump(), options);
      EXPECT_EQ(states(ending), "ConfigMap default/x changed\n") << reports(ending);
      EXPECT_EQ(data("x"), fmt::format(R"({{"a":"{}"}})", value));
    }
  }
}

TEST_F(DayTwoTest, ADryRunRightAfterAnApplyTellsWhatItWouldChange) {
  EXPECT_EQ(states(apply(map("x", "1"))), "ConfigMap default/x created\n");
  Options rehearsal;
  rehearsal.dry_run = true;
  EXPECT_EQ(states(apply(map("x", "1"), rehearsal)), "ConfigMap default/x unchanged\n");
  EXPECT_EQ(states(apply(map("x", "2"), rehearsal)), "ConfigMap default/x changed\n");
}

}  // namespace
}  // namespace fairlead::rollout
