#include <gtest/gtest.h>

#include "admission/admission_testing.h"
#include "admission/policy.h"
#include "base/json_patch.h"

namespace fairlead::admission {
namespace {

Policy policy(std::string_view spec, std::string_view name = "p") {
  Json json = Json::Object{
      {"kind", "MutatingAdmissionPolicy"}, {"metadata", Json::Object{{"name", name}}}, {"spec", parsed(spec)}};
  if (!json["spec"].contains("matchConstraints")) json.make("spec").make("matchConstraints") = Json::Object();
  return *Policy::read(json);
}

Binding binding(std::string_view policy_name = "p") {
  return *Binding::read(Json::Object{{"kind", "MutatingAdmissionPolicyBinding"},
                                     {"metadata", Json::Object{{"name", "b"}}},
                                     {"spec", Json::Object{{"policyName", policy_name}}}});
}

Policy applies(std::string_view expression, std::string_view more = "", std::string_view name = "p") {
  Json mutation = Json::Object{{"patchType", "ApplyConfiguration"},
                               {"applyConfiguration", Json::Object{{"expression", expression}}}};
  return policy(fmt::format(R"({{{}"mutations":[{}]}})", more, mutation.dump()), name);
}

Policy patches(std::string_view expression) {
  Json mutation = Json::Object{{"patchType", "JSONPatch"}, {"jsonPatch", Json::Object{{"expression", expression}}}};
  return policy(fmt::format(R"({{"mutations":[{}]}})", mutation.dump()));
}

// The data of the object that comes out, or why the request is denied.
std::string result(const std::vector<Policy>& policies, const Attributes& attributes = config_map()) {
  PolicyMutation mutation =
      mutate(policies, {binding()}, attributes, nullptr,
             [](const Json& object, const Json& patch) { return apply_merge_patch(object, patch); });
  if (mutation.undecided) return "undecided";
  if (!mutation.status.is_null()) return std::string(mutation.status["message"].string_or("?"));
  return mutation.object["data"].dump();
}

TEST(Mutate, MergesWhatAnExpressionMakes) {
  EXPECT_EQ(result({applies(R"(Object{data: {"by": request.userInfo.username}})")}), R"({"by":"jane"})");
  EXPECT_EQ(result({applies(R"(Object{data: {"a": variables.v}})",
                            R"("variables":[{"name":"v","expression":"object.metadata.name + '!'"}],)")}),
            R"({"a":"x!"})");
  EXPECT_EQ(result({applies(R"(Object{data: {"a": "b"}})",
                            R"("matchConditions":[{"name":"c","expression":"object.metadata.name == 'y'"}],)")}),
            "null");
  // One sees what those before it have made.
  EXPECT_EQ(result({applies(R"(Object{data: {"a": "1"}})"), applies(R"(Object{data: {"b": object.data.a + "2"}})")}),
            R"({"a":"1","b":"12"})");
}

TEST(Mutate, AppliesOperations) {
  Attributes attributes = config_map(R"({"metadata":{"name":"x"},"data":{"a":"1"}})");
  EXPECT_EQ(result({patches("[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('b/c~d'), value: '2'}]")},
                   attributes),
            R"({"a":"1","b/c~d":"2"})");
  EXPECT_EQ(result({patches("[JSONPatch{op: 'test', path: '/data/a', value: '2'}, "
                            "JSONPatch{op: 'remove', path: '/data/a'}]")},
                   attributes),
            R"({"a":"1"})");
  EXPECT_EQ(result({patches("[]")}, attributes), R"({"a":"1"})");
  EXPECT_EQ(result({patches("[JSONPatch{op: 'remove', path: '/data/b'}]")}, attributes),
            "policy 'p' with binding 'b' denied request: JSON Patch: error in remove for path: '/data/b': Unable to "
            "remove nonexistent key: b: missing value");
}

TEST(Mutate, DeniesInTheWordsOfTheApiServer) {
  EXPECT_EQ(
      result({applies("Object{metadata: Object.wrong{labels: {'a': 'b'}}}")}),
      "policy 'p' with binding 'b' denied request: type mismatch: unexpected type name \"Object.wrong\", expected "
      "\"Object.metadata\", which matches field name path from root Object type");
  std::string broken = "Object{data: {'a': object.data.nosuch}}";
  EXPECT_EQ(result({applies(broken)}), "policy 'p' with binding 'b' denied request: expression '" + broken +
                                           "' resulted in error: no such key: data");
  EXPECT_EQ(result({applies(broken, R"("failurePolicy":"Ignore",)")}), "null");
  PolicyMutation denied = mutate({applies(broken)}, {binding()}, config_map(), nullptr, nullptr);
  EXPECT_EQ(denied.status["code"], Json(403));
  EXPECT_EQ(denied.status["reason"].string_or(""), "Invalid");
}

TEST(Mutate, SaysWhatItCannotEvaluate) {
  EXPECT_EQ(result({applies("Object{?data: object.?data}")}), "undecided");
  EXPECT_EQ(result({applies("Object{data: {'a': Object{spec: 1}.spec}}")}), "undecided");
}

TEST(Mutate, OnlyWhatIsBoundAndCanBeChanged) {
  EXPECT_EQ(result({applies("Object{data: {'a': 'b'}}", "", "other")}), "null");
  Attributes deletion = config_map();
  deletion.operation = Operation::remove;
  EXPECT_EQ(result({applies("Object{data: {'a': 'b'}}")}, deletion), "null");
  Attributes review = config_map();
  review.resource = {.group = "authentication.k8s.io", .version = "v1", .resource = "selfsubjectreviews"};
  EXPECT_EQ(result({applies("Object{data: {'a': 'b'}}")}, review), "null");
}

}  // namespace
}  // namespace fairlead::admission
