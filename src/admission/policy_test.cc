#include "admission/policy.h"

#include <gtest/gtest.h>

#include "admission/admission_testing.h"

namespace fairlead::admission {
namespace {

Policy policy(std::string_view spec, std::string_view name = "p") {
  Json json = Json::Object{
      {"kind", "ValidatingAdmissionPolicy"}, {"metadata", Json::Object{{"name", name}}}, {"spec", parsed(spec)}};
  if (!json["spec"].contains("matchConstraints")) json.make("spec").make("matchConstraints") = Json::Object();
  return *Policy::read(json);
}

Binding binding(std::string_view spec = R"({"validationActions":["Deny"]})", std::string_view name = "b",
                std::string_view policy_name = "p") {
  Json json = Json::Object{
      {"kind", "ValidatingAdmissionPolicyBinding"}, {"metadata", Json::Object{{"name", name}}}, {"spec", parsed(spec)}};
  json.make("spec").make("policyName") = policy_name;
  if (!json["spec"].contains("validationActions")) json.make("spec").make("validationActions") = Json::Array{"Deny"};
  return *Binding::read(json);
}

std::string message(const PolicyOutcome& outcome) {
  std::string_view text = outcome.status["message"].string_or(outcome.status.is_null() ? "passed" : "?");
  constexpr std::string_view kStart =
      "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";
  if (text.starts_with(kStart)) text.remove_prefix(kStart.size());
  return std::string(text) + (outcome.undecided ? ", undecided" : "");
}

std::string result(std::string_view spec, std::string_view binding_spec = "{}",
                   const Attributes& attributes = config_map(), const ParamSource& params = nullptr) {
  return message(validate({policy(spec)}, {binding(binding_spec)}, attributes, params));
}

// From a real API server: a policy that does not want data.deny.
TEST(Policy, DeniesInTheWordsOfTheApiServer) {
  Attributes attributes =
      config_map(R"({"data":{"deny":"x"},"metadata":{"labels":{},"name":"vap","namespace":"gen"}})");
  PolicyOutcome outcome = validate(
      {policy(R"J({"validations":[{"expression":"!has(object.data.deny)","message":"data.deny is not allowed"}]})J",
              "no-deny")},
      {binding("{}", "no-deny", "no-deny")}, attributes, nullptr);
  EXPECT_EQ(
      outcome.status.dump(),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"vap\" is forbidden: )"
      R"(ValidatingAdmissionPolicy 'no-deny' with binding 'no-deny' denied request: data.deny is not allowed",)"
      R"("reason":"Invalid","details":{"name":"vap","kind":"configmaps","causes":[{"message":"ValidatingAdmissionPolicy )"
      R"('no-deny' with binding 'no-deny' denied request: data.deny is not allowed"}]},"code":422})");
}

TEST(Policy, Validations) {
  struct Case {
    std::string_view spec;
    std::string_view fail;
    std::string_view ignore;
  };
  for (
      const Case& c : std::vector<Case>{
          {R"("validations":[{"expression":"true"}])", "passed", "passed"},
          {R"("validations":[{"expression":" false "}])", "failed expression: false", "failed expression: false"},
          {R"("validations":[{"expression":"true"},{"expression":"false","message":" no  "}])", "no", "no"},
          {R"("validations":[{"expression":"object.data.a == 'x'"}])",
           "expression 'object.data.a == 'x'' resulted in error: no such key: data", "passed"},
          {R"("validations":[{"expression":"object.data.a"},{"expression":"false"}])",
           "expression 'object.data.a' resulted in error: no such key: data", "failed expression: false"},
          {R"("validations":[{"expression":"nobody"}])",
           "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody' (in container "
           "'')\n | "
           "nobody\n | ^",
           "passed"},
          // Outside of what is evaluated here: passed, and said so.
          {R"J("validations":[{"expression":"quantity('1') == 1"}])J", "passed, undecided", "passed, undecided"},
          // The message: an expression, then a text, then the expression itself.
          {R"("validations":[{"expression":"false","messageExpression":"'name is ' + object.metadata.name","message":"m"}])",
           "name is x", "name is x"},
          {R"("validations":[{"expression":"false","messageExpression":"object.no","message":"m"}])", "m", "m"},
          {R"("validations":[{"expression":"false","messageExpression":"'  '","message":"m"}])", "m", "m"},
          {R"("validations":[{"expression":"false","messageExpression":"'a\\nb'","message":"m"}])", "m", "m"},
          {R"J("validations":[{"expression":"false","messageExpression":"'%s'.format(['a'])"}])J",
           "failed expression: false", "failed expression: false"},
          // Conditions.
          {R"("matchConditions":[{"name":"c","expression":"false"}],"validations":[{"expression":"false"}])", "passed",
           "passed"},
          {R"("matchConditions":[{"name":"c","expression":"true"}],"validations":[{"expression":"false"}])",
           "failed expression: false", "failed expression: false"},
          {R"("matchConditions":[{"name":"c","expression":"object.no"}],"validations":[{"expression":"true"}])",
           "expression 'object.no' resulted in error: no such key: no", "passed"},
          {R"("matchConditions":[{"name":"c","expression":"namespaceObject == null"}],"validations":[{"expression":"false"}])",
           "failed expression: false", "failed expression: false"},
          // Variables, each with those before it.
          {R"("variables":[{"name":"a","expression":"object.metadata.name"},{"name":"b","expression":"variables.a + '!'"}],
               "validations":[{"expression":"variables.b == 'x!' && variables.a == 'x'"},
                              {"expression":"variables.b == ''","messageExpression":"'b is ' + variables.b"}])",
           "b is x!", "b is x!"},
          {R"("variables":[{"name":"a","expression":"object.no"}],"validations":[{"expression":"variables.a == 1"}])",
           "expression 'variables.a == 1' resulted in error: composited variable \"a\" fails to evaluate: no such key: "
           "no",
           "passed"},
          {R"("variables":[{"name":"a","expression":"variables.a"}],"validations":[{"expression":"variables.a == 1"}])",
           "expression 'variables.a == 1' resulted in error: composited variable \"a\" fails to evaluate: no such key: "
           "a",
           "passed"},
          {R"J("variables":[{"name":"a","expression":"quantity('1')"}],"validations":[{"expression":"variables.a == 1"}])J",
           "passed, undecided", "passed, undecided"},
          {R"("variables":[{"name":"a","expression":"object.no"}],"matchConditions":[{"name":"c","expression":"variables.a == 1"}],
               "validations":[{"expression":"false"}])",
           "expression 'variables.a == 1' resulted in error: composited variable \"a\" fails to evaluate: no such key: "
           "no",
           "passed"},
          // What expressions see.
          {R"("validations":[{"expression":"namespaceObject.metadata.labels.stage == 'prod' && request.operation == 'CREATE'"},
                              {"expression":"oldObject == null && request.userInfo.username == 'jane'"}])",
           "passed", "passed"},
      }) {
    EXPECT_EQ(result(fmt::format("{{{}}}", c.spec)), c.fail) << c.spec;
    EXPECT_EQ(result(fmt::format(R"({{{},"failurePolicy":"Ignore"}})", c.spec)), c.ignore) << c.spec;
  }
}

TEST(Policy, ReasonsAndCodes) {
  struct Case {
    std::string_view reason;
    int code;
  };
  for (const Case& c : std::vector<Case>{
           {"Forbidden", 403}, {"Unauthorized", 401}, {"RequestEntityTooLarge", 413}, {"Invalid", 422}, {"", 422}}) {
    PolicyOutcome outcome =
        validate({policy(fmt::format(R"({{"validations":[{{"expression":"false","reason":"{}"}}]}})", c.reason))},
                 {binding()}, config_map(), nullptr);
    EXPECT_EQ(outcome.status["code"].int_or(0), c.code);
    EXPECT_EQ(outcome.status["reason"].string_or(""), c.reason.empty() ? "Invalid" : c.reason);
  }
}

TEST(Policy, Actions) {
  std::string_view spec = R"({"validations":[{"expression":"true"},{"expression":"false","message":"no"}]})";
  PolicyOutcome outcome =
      validate({policy(spec)}, {binding(R"({"validationActions":["Warn","Audit"]})")}, config_map(), nullptr);
  EXPECT_TRUE(outcome.status.is_null());
  EXPECT_EQ(outcome.warnings,
            (std::vector<std::string>{"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"}));
  ASSERT_EQ(outcome.audit_annotations.size(), 1U);
  EXPECT_EQ(outcome.audit_annotations[0].first, "validation.policy.admission.k8s.io/validation_failure");
  EXPECT_EQ(
      outcome.audit_annotations[0].second,
      R"([{"message":"no","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}])");
  EXPECT_EQ(
      message(validate({policy(spec)}, {binding(R"({"validationActions":["Deny","Audit"]})")}, config_map(), nullptr)),
      "no");
  EXPECT_EQ(message(validate({policy(spec)}, {binding(R"({"validationActions":["Other"]})")}, config_map(), nullptr)),
            "passed");
}

TEST(Policy, OnlyTogetherWithABinding) {
  Policy refuses = policy(R"({"validations":[{"expression":"false"}]})");
  EXPECT_EQ(message(validate({refuses}, {}, config_map(), nullptr)), "passed");
  EXPECT_EQ(message(validate({}, {binding()}, config_map(), nullptr)), "passed");
  EXPECT_EQ(message(validate({refuses}, {binding("{}", "b", "other")}, config_map(), nullptr)), "passed");
  EXPECT_EQ(message(validate({refuses}, {binding(R"({"validationActions":["Warn"]})", "a"), binding()}, config_map(),
                             nullptr)),
            "failed expression: false");
}

TEST(Policy, WhichRequests) {
  std::string_view refuses = R"("validations":[{"expression":"false","message":"no"}])";
  auto constrained = [&](std::string_view constraints, const Attributes& attributes = config_map()) {
    return result(fmt::format(R"({{{},"matchConstraints":{}}})", refuses, constraints), "{}", attributes);
  };
  std::string_view maps =
      R"({"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"])";
  EXPECT_EQ(constrained("{}"), "no");
  EXPECT_EQ(constrained(fmt::format(R"({{"resourceRules":[{}}}]}})", maps)), "no");
  EXPECT_EQ(constrained(fmt::format(R"({{"resourceRules":[{},"resourceNames":["y","x"]}}]}})", maps)), "no");
  EXPECT_EQ(constrained(fmt::format(R"({{"resourceRules":[{},"resourceNames":["y"]}}]}})", maps)), "passed");
  EXPECT_EQ(constrained(fmt::format(R"({{"excludeResourceRules":[{}}}]}})", maps)), "passed");
  EXPECT_EQ(constrained(fmt::format(R"({{"excludeResourceRules":[{},"resourceNames":["y"]}}]}})", maps)), "no");
  EXPECT_EQ(constrained(R"({"namespaceSelector":{"matchLabels":{"stage":"test"}}})"), "passed");
  EXPECT_EQ(constrained(R"({"objectSelector":{"matchLabels":{"a":"b"}}})"), "passed");
  EXPECT_EQ(constrained(R"({"objectSelector":{"matchLabels":{"a":"b"}}})",
                        config_map(R"({"metadata":{"name":"x","labels":{"a":"b"}}})")),
            "no");

  Attributes other = config_map();
  other.resource.version = "v2";
  other.equivalents = {{.resource = {"", "v1", "configmaps"}, .kind = {"", "v1", "ConfigMap"}}};
  EXPECT_EQ(constrained(fmt::format(R"({{"resourceRules":[{}}}]}})", maps), other), "no");
  EXPECT_EQ(constrained(fmt::format(R"({{"resourceRules":[{}}}],"matchPolicy":"Exact"}})", maps), other), "passed");

  auto bound = [&](std::string_view resources) {
    return result(fmt::format("{{{}}}", refuses), fmt::format(R"({{"matchResources":{}}})", resources));
  };
  EXPECT_EQ(bound(R"({"namespaceSelector":{"matchLabels":{"stage":"prod"}}})"), "no");
  EXPECT_EQ(bound(R"({"namespaceSelector":{"matchLabels":{"stage":"test"}}})"), "passed");

  Attributes exempt = config_map();
  exempt.resource = {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"};
  EXPECT_EQ(result(fmt::format("{{{}}}", refuses), "{}", exempt), "passed");
  // Unlike webhooks, policies guard webhook configurations.
  exempt.resource.resource = "validatingwebhookconfigurations";
  EXPECT_NE(result(fmt::format("{{{}}}", refuses), "{}", exempt), "passed");
}

TEST(Policy, ConfigurationErrors) {
  EXPECT_EQ(
      result(R"({"matchConstraints":null,"validations":[{"expression":"true"}]})"),
      "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: policy "
      "contained no match constraints, a required field");
  Attributes lost = config_map();
  lost.ns_object = Json();
  EXPECT_EQ(
      result(
          R"({"matchConstraints":{"namespaceSelector":{"matchLabels":{"a":"b"}}},"validations":[{"expression":"true"}]})",
          "{}", lost),
      "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: "
      "namespaces "
      "\"team\" not found");
  EXPECT_EQ(result(R"({"failurePolicy":"Ignore","matchConstraints":{"namespaceSelector":{"matchLabels":{"a":"b"}}},
      "validations":[{"expression":"true"}]})",
                   "{}", lost),
            "passed");
  EXPECT_EQ(result(R"({"failurePolicy":"Ignore","validations":[{"expression":"true"}]})", "{}", lost),
            "namespaces \"team\" not found");
  EXPECT_EQ(result(R"({"validations":[{"expression":"true"}]})",
                   R"({"matchResources":{"namespaceSelector":{"matchLabels":{"a":"b"}}}})", lost),
            "failed to configure binding: namespaces \"team\" not found");
}

TEST(Policy, Parameters) {
  std::string_view spec = R"J({"paramKind":{"apiVersion":"rules.example.com/v1","kind":"Limit"},
      "validations":[{"expression":"params != null && params.max > 3","messageExpression":"'max is ' + string(params.max)",
                      "message":"no parameters"}]})J";
  Params limits{.namespaced = true,
                .objects = {parsed(R"({"metadata":{"name":"a","namespace":"team","labels":{"use":"yes"}},"max":1})"),
                            parsed(R"({"metadata":{"name":"a","namespace":"other","labels":{"use":"yes"}},"max":5})"),
                            parsed(R"({"metadata":{"name":"b","namespace":"team","labels":{"use":"yes"}},"max":9})")}};
  ParamSource source = [&](const ParamKind& kind) {
    EXPECT_EQ(kind, (ParamKind{.api_version = "rules.example.com/v1", .kind = "Limit"}));
    return std::optional(limits);
  };
  auto with = [&](std::string_view ref, const Attributes& attributes = config_map()) {
    return result(spec, fmt::format(R"({{"paramRef":{}}})", ref), attributes, source);
  };
  EXPECT_EQ(with(R"({"name":"a"})"), "max is 1");
  EXPECT_EQ(with(R"({"name":"a","namespace":"other"})"), "passed");
  EXPECT_EQ(with(R"({"name":"b"})"), "passed");
  EXPECT_EQ(with(R"({"selector":{"matchLabels":{"use":"yes"}}})"), "max is 1");
  EXPECT_EQ(with(R"({"selector":{}})"), "max is 1");
  EXPECT_EQ(with(R"({"selector":{"matchLabels":{"use":"no"}},"parameterNotFoundAction":"Allow"})"), "passed");
  EXPECT_EQ(with(R"({"name":"none","parameterNotFoundAction":"Allow"})"), "passed");
  EXPECT_EQ(with(R"({"name":"none","parameterNotFoundAction":"Deny"})"),
            "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction");
  EXPECT_EQ(with(R"({"name":"a","selector":{}})"),
            "failed to configure binding: paramRef.name and paramRef.selector are mutually exclusive");
  EXPECT_EQ(with("{}"), "failed to configure binding: one of name or selector must be provided");
  // Without a reference they are null.
  EXPECT_EQ(result(spec, "{}", config_map(), source), "no parameters");

  Attributes node = config_map();
  node.ns = "";
  EXPECT_EQ(with(R"({"name":"a"})", node),
            "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped "
            "resources");
  limits.namespaced = false;
  EXPECT_EQ(with(R"({"name":"a","namespace":"other"})"),
            "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  EXPECT_EQ(with(R"({"name":"b"})"), "passed");
  EXPECT_EQ(result(spec, R"({"paramRef":{"name":"a"}})", config_map(), [](const ParamKind&) { return std::nullopt; }),
            "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: "
            "failed to "
            "find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'");
}

TEST(Policy, AuditAnnotations) {
  Policy annotates = policy(R"({"auditAnnotations":[
      {"key":"name","valueExpression":"' ' + object.metadata.name"},
      {"key":"none","valueExpression":"null"},
      {"key":"empty","valueExpression":"' '"}]})");
  PolicyOutcome outcome = validate({annotates}, {binding(), binding("{}", "c")}, config_map(), nullptr);
  EXPECT_TRUE(outcome.status.is_null());
  EXPECT_EQ(outcome.audit_annotations, (std::vector<std::pair<std::string, std::string>>{{"p/name", "x"}}));
  EXPECT_EQ(result(R"({"auditAnnotations":[{"key":"a","valueExpression":"1"}]})"),
            "valueExpression '1' resulted in unsupported return type: int. Return type must be either string or null.");
  EXPECT_EQ(result(R"({"auditAnnotations":[{"key":"a","valueExpression":"object.no"}]})"),
            "expression 'object.no' resulted in error: no such key: no");
  EXPECT_EQ(result(R"({"failurePolicy":"Ignore","auditAnnotations":[{"key":"a","valueExpression":"object.no"}]})"),
            "passed");
}

TEST(Policy, TheFirstDenialIsTold) {
  std::vector<Policy> policies = {policy(R"({"validations":[{"expression":"false","message":"one"}]})", "p1"),
                                  policy(R"({"validations":[{"expression":"false","message":"two"}]})", "p2")};
  PolicyOutcome outcome =
      validate(policies, {binding("{}", "b2", "p2"), binding("{}", "b1", "p1")}, config_map(), nullptr);
  EXPECT_EQ(outcome.status["message"].string_or(""),
            "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p1' with binding 'b1' denied request: one");
  Attributes unnamed = config_map(R"({"metadata":{"generateName":"gen-"}})");
  outcome = validate(policies, {binding("{}", "b2", "p2")}, unnamed, nullptr);
  EXPECT_EQ(outcome.status["details"]["name"].string_or(""), "gen-");
}

}  // namespace
}  // namespace fairlead::admission
