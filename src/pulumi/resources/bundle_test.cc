// The resources Bundle and Wait, and the functions.
#include <gmock/gmock.h>

#include "pulumi/resources/pulumi_testing.h"

namespace fairlead::pulumi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json bundle(std::string_view level) {
  return json(fmt::format(
      R"({{"name":"shop","manifests":[{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"shop"}}}},)"
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"settings","namespace":"shop"}},)"
      R"("data":{{"level":"{}"}}}}]}})",
      level));
}

class BundleTest : public PulumiTest {};

TEST_F(BundleTest, IsRolledOutChangedAndDeleted) {
  EXPECT_THAT(check("Bundle", bundle("low")), IsEmpty());
  std::optional<Kept> preview = create("Bundle", bundle("low"), true);
  ASSERT_TRUE(preview) << error_;
  EXPECT_TRUE(get("/api/v1/namespaces/shop").is_null());
  std::optional<Kept> made = create("Bundle", bundle("low"));
  ASSERT_TRUE(made) << error_;
  EXPECT_EQ(made->id, "default/shop");
  EXPECT_EQ(made->outputs["complete"], Json(true));
  EXPECT_EQ(made->outputs["manifests"].dump(), bundle("low")["manifests"].dump());
  EXPECT_EQ(get("/api/v1/namespaces/shop/configmaps/settings")["data"]["level"], Json("low"));

  start();
  std::optional<Kept> now = read("Bundle", *made);
  ASSERT_TRUE(now) << error_;
  EXPECT_EQ(diff("Bundle", *now, bundle("low")), (TestDiff{.deletes_first = true})) << error_;
  std::optional<TestDiff> changed = diff("Bundle", *now, bundle("high"));
  ASSERT_TRUE(changed) << error_;
  EXPECT_THAT(changed->paths, ElementsAre("manifests[1].data.level"));
  std::optional<Kept> updated = update("Bundle", *now, bundle("high"));
  ASSERT_TRUE(updated) << error_;
  EXPECT_EQ(get("/api/v1/namespaces/shop/configmaps/settings")["data"]["level"], Json("high"));

  start();
  ASSERT_TRUE(remove("Bundle", *updated)) << error_;
  EXPECT_TRUE(get("/api/v1/namespaces/shop").is_null());
}

TEST_F(BundleTest, HalfMadeIsKeptAndGoneOnWith) {
  auto refuse_settings = [](const http::Request& request) {
    return request.method == "PATCH" && request.target.contains("/configmaps/settings") ? 403 : 0;
  };
  transport_.answers = refuse_settings;
  std::optional<Kept> half = create("Bundle", bundle("low"));
  ASSERT_TRUE(half) << error_;
  EXPECT_TRUE(half->is_half_made);
  EXPECT_THAT(error_, HasSubstr("ConfigMap shop/settings"));
  EXPECT_EQ(half->id, "default/shop");
  EXPECT_EQ(half->outputs["complete"], Json(false));
  EXPECT_FALSE(get("/api/v1/namespaces/shop").is_null());

  transport_.answers = nullptr;
  start();
  EXPECT_TRUE(diff("Bundle", *half, bundle("low"))->changes);
  std::optional<Kept> whole = update("Bundle", *half, bundle("low"));
  ASSERT_TRUE(whole) << error_;
  EXPECT_FALSE(whole->is_half_made) << error_;
  EXPECT_EQ(whole->outputs["complete"], Json(true));
  EXPECT_FALSE(get("/api/v1/namespaces/shop/configmaps/settings").is_null());
}

TEST_F(BundleTest, CannotBeImported) {
  EXPECT_FALSE(read("Bundle", {.id = "default/shop", .inputs = {}, .outputs = {}}));
  EXPECT_EQ(error_,
            "A resource fairlead:index:Bundle cannot be imported\n"
            "  next      create it with the setting adopt, where it has one: it goes on with what exists");
}

Json wait_for_level() {
  return json(R"({"objectRef":{"apiVersion":"v1","kind":"ConfigMap","name":"settings","namespace":"default"},)"
              R"("waitFor":{"field":"data.level"},"timeout":"1m"})");
}

TEST_F(BundleTest, AWaitWaitsAndSaysWhatItFound) {
  EXPECT_THAT(check("Wait", wait_for_level()), IsEmpty());
  TimePoint before = loop_.now();
  std::optional<Kept> preview = create("Wait", wait_for_level(), true);
  ASSERT_TRUE(preview) << error_;
  EXPECT_TRUE(is_unknown(preview->outputs["result"]));
  EXPECT_EQ(loop_.now(), before) << "nothing waits in a preview";
  request_later(std::chrono::seconds(5), "POST", "/api/v1/namespaces/default/configmaps",
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"level":"low"}})");
  std::optional<Kept> made = create("Wait", wait_for_level());
  ASSERT_TRUE(made) << error_;
  EXPECT_EQ(made->outputs["result"], json(R"({"data":{"level":"low"}})"));
  EXPECT_NE(made->id, "");
  EXPECT_EQ(diff("Wait", *made, wait_for_level()), (TestDiff{.deletes_first = true})) << error_;
  Json triggered = wait_for_level();
  triggered.make("triggers").make("revision") = "2";
  EXPECT_EQ(diff("Wait", *made, triggered), (TestDiff{true, true, {}, {"triggers"}})) << error_;
  EXPECT_TRUE(remove("Wait", *made)) << error_;
}

TEST_F(BundleTest, AWaitThatFailsMakesNothing) {
  EXPECT_FALSE(create("Wait", wait_for_level()));
  EXPECT_THAT(error_, HasSubstr("The wait timed out (ConfigMap default/settings)"));
  EXPECT_THAT(error_, HasSubstr("ConfigMap default/settings does not exist after 1m"));
}

TEST_F(BundleTest, FunctionsReadTheCluster) {
  request("POST", "/api/v1/namespaces/default/configmaps",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"level":"low"}})");
  Json found = invoke("getObject", json(R"({"apiVersion":"v1","kind":"ConfigMap","name":"settings"})"));
  EXPECT_EQ(found["object"]["data"]["level"], Json("low"));
  EXPECT_THAT(std::string(invoke("getObject", json(R"({"kind":"ConfigMap","name":"settings"})")).string_or("")),
              HasSubstr("The argument \"apiVersion\" is required."));
  Json webhook = invoke("getWebhook", json(R"({"name":"nothing","required":true})"), true);
  EXPECT_EQ(webhook["functional"], Json(false)) << webhook.dump();
}

TEST_F(BundleTest, TheProviderIsConfiguredAndDescribed) {
  protobuf::WireWriter hello;
  hello.text(1, "127.0.0.1:4000");
  Message answer = Message::read(call("Handshake", hello).value()).value();
  EXPECT_TRUE(answer.flag(1)) << "secrets";
  EXPECT_EQ(engine_.attached, "127.0.0.1:4000");

  protobuf::WireWriter configuration;
  Json settings = json(R"({"insecure":"true","exec":"{\"command\":\"get\",\"apiVersion\":\"v1\"}","version":"1.0.0"})");
  settings.make("host") = "https://there";
  settings.make("token") = secret("hunter2hunter2");
  configuration.message(2, struct_message(settings));
  ASSERT_TRUE(call("Configure", configuration));
  EXPECT_EQ(configured_["insecure"], terraform::Value(true));
  EXPECT_EQ(configured_["exec"]["command"], terraform::Value("get"));
  EXPECT_EQ(configured_["token"], terraform::Value("hunter2hunter2"));
  EXPECT_EQ(secrets_.without("a hunter2hunter2"), "a ***");

  Json schema = json(Message::read(call("GetSchema", {}).value())->bytes(1));
  EXPECT_EQ(schema["name"], Json("fairlead"));
  EXPECT_EQ(schema["resources"]["fairlead:index:KubeObject"]["inputProperties"]["manifest"]["$ref"],
            Json("pulumi.json#/Any"));
  EXPECT_EQ(schema["resources"]["fairlead:index:Bundle"]["requiredInputs"], json(R"(["name"])"));
  EXPECT_EQ(schema["types"]["fairlead:index:ObjectRef"]["required"], json(R"(["apiVersion","kind","name"])"));
  EXPECT_TRUE(schema["functions"].contains("fairlead:index:getWebhook"));
  EXPECT_THAT(schema.dump(), testing::Not(testing::ContainsRegex("[Tt]erraform|fairlead_|provider block")));
}

TEST_F(BundleTest, GuardsAreThoseOfTheManifestsAndOfTheCluster) {
  auto hooks = [](std::string_view name, std::string_view resource) {
    return json(fmt::format(
        R"({{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",)"
        R"("metadata":{{"name":"{0}"}},"webhooks":[{{"name":"{0}.example.com","sideEffects":"None",)"
        R"("admissionReviewVersions":["v1"],"failurePolicy":"Ignore",)"
        R"("clientConfig":{{"service":{{"namespace":"default","name":"guard"}}}},"rules":[{{"apiGroups":[""],)"
        R"("apiVersions":["v1"],"operations":["CREATE"],"resources":["{1}"]}}]}}]}})",
        name, resource));
  };
  request("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
          hooks("there", "secrets").dump());
  Json manifests = json(R"({"manifests":[
      {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}},
      {"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}},
      {"apiVersion":"v1","kind":"Service","metadata":{"name":"guard"},"spec":{"ports":[{"port":443}]}}]})");
  manifests.make("manifests").if_array()->push_back(hooks("own", "configmaps"));
  Json guards = invoke("getGuards", manifests)["guards"];
  ASSERT_EQ(guards.items().size(), 2u) << guards.dump();
  EXPECT_EQ(sorted(guards.item(0)), json(R"({"webhook":"own.example.com","configuration":"own","failsOpen":true,)"
                                         R"("configurationKind":"ValidatingWebhookConfiguration",)"
                                         R"("declared":[3],"backing":[2],"guarded":[0]})"));
  EXPECT_EQ(sorted(guards.item(1)), json(R"({"webhook":"there.example.com","configuration":"there","failsOpen":true,)"
                                         R"("configurationKind":"ValidatingWebhookConfiguration",)"
                                         R"("declared":[],"backing":[2],"guarded":[1]})"));
  EXPECT_THAT(invoke("getGuards", json(R"({"manifests":[{"kind":"ConfigMap"}]})")).dump(),
              HasSubstr("The manifests cannot be used"));
}

TEST_F(BundleTest, OnlyAnotherClusterReplacesEverything) {
  auto diff_config = [&](std::string_view before, std::string_view after) {
    protobuf::WireWriter request;
    request.message(3, struct_message(json(before)));
    request.message(4, struct_message(json(after)));
    return read_diff(call("DiffConfig", request)).value();
  };
  EXPECT_EQ(diff_config(R"({"host":"https://a","token":"x"})", R"({"host":"https://a","token":"y"})"),
            (TestDiff{true, false, {}, {"token"}}));
  EXPECT_EQ(diff_config(R"({"host":"https://a"})", R"({"host":"https://b"})"),
            (TestDiff{true, false, {"host"}, {"host"}}));
  EXPECT_EQ(diff_config(R"({"host":"https://a"})", R"({"host":"https://a"})"), TestDiff());
}

TEST_F(BundleTest, CancelEndsWhatRuns) {
  std::optional<rpc::Answer> made;
  auto story = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    auto wait = [&]() -> Task<void> {
      protobuf::WireWriter request;
      request.text(1, urn("Wait"));
      request.message(2, struct_message(wait_for_level()));
      made = co_await (*services_.find("/pulumirpc.ResourceProvider/Create"))(request.out());
    };
    scope.spawn(wait());
    (void)co_await sleep_for(loop_, std::chrono::seconds(2));
    EXPECT_TRUE((co_await (*services_.find("/pulumirpc.ResourceProvider/Cancel"))("")).has_value());
    co_await scope.join();
  };
  loop_.run(story());
  ASSERT_TRUE(made && !*made);
  EXPECT_THAT(made->error().message, HasSubstr("The wait was interrupted"));
}

TEST_F(BundleTest, WhatIsNotThereIsAnError) {
  EXPECT_THAT(check("Nothing", json("{}")),
              ElementsAre("call: this version of the provider has no resource fairlead:index:Nothing"));
  EXPECT_EQ(invoke("getNothing", json("{}")),
            Json("this version of the provider has no function fairlead:index:getNothing"));
  const rpc::Handler* handler = services_.find("/pulumirpc.ResourceProvider/Check");
  rpc::Answer answer = loop_.run((*handler)("\x0a\xff"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, rpc::Code::invalid_argument);
}

}  // namespace
}  // namespace fairlead::pulumi
