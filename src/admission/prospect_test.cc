#include "admission/prospect.h"

#include <gtest/gtest.h>

#include "admission/admission_testing.h"

namespace fairlead::admission {
namespace {

Prospect config(std::string_view labels = "{}") {
  Prospect prospect;
  prospect.resource = {"", "v1", "configmaps"};
  prospect.kind = {"", "v1", "ConfigMap"};
  prospect.ns = "team";
  prospect.object = parsed(fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"x","namespace":"team","labels":{}}},"data":{{"a":"b"}}}})",
      labels));
  prospect.ns_labels = parsed(R"({"stage":"prod"})");
  return prospect;
}

std::string certainty(std::string_view webhook, const Prospect& prospect) {
  return std::string(name_of(could_match(hook(webhook), prospect)));
}

std::string rule(std::string_view operations) {
  return fmt::format(
      R"({{"rules":[{{"operations":[{}],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}}]}})",
      operations);
}

TEST(Prospect, WhetherItIsCreatedOrUpdated) {
  struct Case {
    std::string_view operations;
    std::string_view either;
    std::string_view create;
    std::string_view update;
  };
  for (const Case& c : std::vector<Case>{{R"("*")", "certainly", "certainly", "certainly"},
                                         {R"("CREATE","UPDATE")", "certainly", "certainly", "certainly"},
                                         {R"("CREATE")", "maybe", "certainly", "never"},
                                         {R"("UPDATE")", "maybe", "never", "certainly"},
                                         {R"("DELETE","CONNECT")", "never", "never", "never"},
                                         {"", "never", "never", "never"}}) {
    Prospect prospect = config();
    EXPECT_EQ(certainty(rule(c.operations), prospect), c.either) << c.operations;
    prospect.may_update = false;
    EXPECT_EQ(certainty(rule(c.operations), prospect), c.create) << c.operations;
    prospect.may_create = false;
    prospect.may_update = true;
    EXPECT_EQ(certainty(rule(c.operations), prospect), c.update) << c.operations;
  }
}

TEST(Prospect, Selectors) {
  std::string_view prod = R"({"namespaceSelector":{"matchLabels":{"stage":"prod"}}})";
  std::string_view test = R"({"namespaceSelector":{"matchLabels":{"stage":"test"}}})";
  std::string_view web = R"({"objectSelector":{"matchLabels":{"app":"web"}}})";
  Prospect prospect = config();
  EXPECT_EQ(certainty("{}", prospect), "certainly");
  EXPECT_EQ(certainty(prod, prospect), "certainly");
  EXPECT_EQ(certainty(test, prospect), "never");
  prospect.ns_labels.reset();
  EXPECT_EQ(certainty("{}", prospect), "certainly");
  EXPECT_EQ(certainty(prod, prospect), "maybe");
  EXPECT_EQ(certainty(test, prospect), "maybe");
  prospect.ns = "";
  EXPECT_EQ(certainty(test, prospect), "certainly");

  // By the object's own labels when it is created; when it is updated, those of the one in the cluster count as well.
  prospect = config(R"({"app":"web"})");
  EXPECT_EQ(certainty(web, prospect), "maybe");
  prospect.may_update = false;
  EXPECT_EQ(certainty(web, prospect), "certainly");
  prospect = config(R"({"app":"db"})");
  EXPECT_EQ(certainty(web, prospect), "maybe");
  prospect.may_update = false;
  EXPECT_EQ(certainty(web, prospect), "never");

  Prospect ns = config();
  ns.resource.resource = "namespaces";
  ns.kind.kind = "Namespace";
  ns.object = parsed(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team","labels":{"stage":"test"}}})");
  EXPECT_EQ(certainty(test, ns), "certainly");
  EXPECT_EQ(certainty(prod, ns), "never");
}

TEST(Prospect, ConditionsCountAsMetWhereTheyCannotBeTold) {
  struct Case {
    std::string_view condition;
    std::string_view either;
    std::string_view create;
  };
  for (const Case& c : std::vector<Case>{
           {"true", "certainly", "certainly"},
           {"false", "never", "never"},
           {"request.kind.kind == 'ConfigMap' && request.namespace == 'team'", "certainly", "certainly"},
           {"request.namespace != 'team'", "never", "never"},
           {"request.name == 'x' && object.metadata.name == 'x'", "certainly", "certainly"},
           {"object.data.a == 'b'", "certainly", "certainly"},
           {"object.data.a == 'c'", "never", "never"},
           // What the manifest does not have, the server or the cluster may.
           {"has(object.data.more)", "maybe", "maybe"},
           {"!has(object.metadata.annotations)", "maybe", "maybe"},
           {"'more' in object.data", "maybe", "maybe"},
           {"object.data == {'a': 'b'}", "maybe", "maybe"},
           {"object.data.all(k, k == 'a')", "maybe", "maybe"},
           {"size(object.data) == 1", "maybe", "maybe"},
           // Who sends it, and how.
           {"request.userInfo.username == 'system:admin'", "maybe", "maybe"},
           {"request.dryRun", "maybe", "maybe"},
           {"request.dryRun && has(request.options.fieldManager) && request.options.fieldManager == 'fairlead-1-1'",
            "maybe", "maybe"},
           // One term that is known can decide.
           {"request.userInfo.username == 'x' && object.data.a == 'c'", "never", "never"},
           {"has(request.userInfo.uid) || object.data.a == 'b'", "certainly", "certainly"},
           {"request.operation == 'CREATE'", "maybe", "certainly"},
           {"oldObject == null", "maybe", "certainly"},
           {"oldObject != null && oldObject.data.a == 'b'", "maybe", "never"},
           {"quantity('1').isLessThan(quantity('2'))", "maybe", "maybe"},
           {"authorizer.path('/x').check('get').allowed()", "maybe", "maybe"},
           // An error may be one of what is not known.
           {"object.data.a.b == 1", "maybe", "maybe"},
       }) {
    std::string webhook =
        Json(Json::Object{{"matchConditions", Json::Array{Json::Object{{"name", "c"}, {"expression", c.condition}}}}})
            .dump();
    Prospect prospect = config();
    EXPECT_EQ(certainty(webhook, prospect), c.either) << c.condition;
    prospect.may_update = false;
    EXPECT_EQ(certainty(webhook, prospect), c.create) << c.condition;
  }
}

TEST(Prospect, OtherVersionsAndExemptKinds) {
  std::string_view v2 =
      R"({"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v2"],"resources":["configmaps"]}]})";
  Prospect prospect = config();
  EXPECT_EQ(certainty(v2, prospect), "never");
  prospect.equivalents = {{.resource = {"", "v2", "configmaps"}, .kind = {"", "v2", "ConfigMap"}}};
  EXPECT_EQ(certainty(v2, prospect), "certainly");
  prospect.resource = {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations"};
  EXPECT_EQ(certainty("{}", prospect), "never");
}

TEST(Prospect, Policies) {
  auto guard = [](std::string_view policy_spec, std::string_view binding_spec, const Prospect& prospect,
                  std::string_view kind = "ValidatingAdmissionPolicy") {
    Json policy = Json::Object{{"kind", kind}, {"metadata", parsed(R"({"name":"p"})")}, {"spec", parsed(policy_spec)}};
    Json binding = Json::Object{{"kind", std::string(kind) + "Binding"},
                                {"metadata", parsed(R"({"name":"b"})")},
                                {"spec", parsed(binding_spec)}};
    binding.make("spec").make("policyName") = "p";
    return std::string(name_of(could_match(*Policy::read(policy), *Binding::read(binding), prospect)));
  };
  std::string_view all =
      R"({"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],
      "resources":["*"]}]}})";
  EXPECT_EQ(guard(all, "{}", config()), "certainly");
  EXPECT_EQ(guard(all, "{}", config(), "MutatingAdmissionPolicy"), "certainly");
  EXPECT_EQ(guard("{}", "{}", config()), "never");
  EXPECT_EQ(guard(R"({"matchConstraints":{}})", "{}", config()), "certainly");
  EXPECT_EQ(
      guard(R"({"matchConstraints":{"excludeResourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["*"],
      "resources":["configmaps"]}]}})",
            "{}", config()),
      "never");
  EXPECT_EQ(
      guard(
          R"({"matchConstraints":{"excludeResourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["*"],
      "resources":["configmaps"]}]}})",
          "{}", config()),
      "maybe");
  EXPECT_EQ(guard(all, R"({"matchResources":{"namespaceSelector":{"matchLabels":{"stage":"test"}}}})", config()),
            "never");
  EXPECT_EQ(guard(all, R"({"matchResources":{"objectSelector":{"matchLabels":{"a":"b"}}}})", config()), "maybe");
  EXPECT_EQ(guard(R"({"matchConstraints":{},"matchConditions":[{"name":"c","expression":"object.data.a == 'z'"}]})",
                  "{}", config()),
            "never");
  EXPECT_EQ(guard(R"({"matchConstraints":{},"matchConditions":[{"name":"c","expression":"params.a == variables.b"}],
      "paramKind":{"apiVersion":"v1","kind":"ConfigMap"}})",
                  "{}", config()),
            "maybe");
  EXPECT_EQ(guard(R"({"matchConstraints":{},"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}})",
                  R"({"paramRef":{"name":"x"}})", config()),
            "maybe");
  Prospect review = config();
  review.resource = {"authentication.k8s.io", "v1", "selfsubjectreviews"};
  EXPECT_EQ(guard(all, "{}", review), "never");
}

}  // namespace
}  // namespace fairlead::admission
