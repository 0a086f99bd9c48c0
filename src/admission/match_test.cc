#include "admission/match.h"

#include <gtest/gtest.h>

#include "admission/admission_testing.h"
#include "admission/client_config.h"
#include "base/base64.h"

namespace fairlead::admission {
namespace {

std::string outcome(const Webhook& webhook, const Attributes& attributes) {
  Match result = match(webhook, attributes);
  switch (result.outcome) {
    case Match::Outcome::no: return result.condition.empty() ? "no" : "no: " + result.condition;
    case Match::Outcome::yes: return result.undecided ? "yes, undecided" : "yes";
    case Match::Outcome::refused: return std::string(result.status["message"].string_or("?"));
  }
  return "?";
}

Attributes request(std::string_view group, std::string_view version, std::string_view resource,
                   std::string_view subresource = "", std::string_view ns = "team",
                   Operation operation = Operation::create) {
  Attributes attributes = config_map();
  attributes.resource = {
      .group = std::string(group), .version = std::string(version), .resource = std::string(resource)};
  attributes.kind = {.group = std::string(group), .version = std::string(version), .kind = "Thing"};
  attributes.subresource = subresource;
  attributes.ns = ns;
  attributes.operation = operation;
  return attributes;
}

TEST(Match, Rules) {
  struct Case {
    std::string_view rule;
    Attributes request;
    bool matches;
  };
  auto all = [](std::string_view resources) {
    return fmt::format(R"({{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":[{}]}})", resources);
  };
  std::string any = all(R"("*")");
  std::string any_any = all(R"("*/*")");
  std::string pods = all(R"("pods")");
  std::string pods_any = all(R"("pods/*")");
  std::string pods_status = all(R"("pods/status")");
  std::string any_scale = all(R"("*/scale")");
  std::string several = all(R"("services","pods/status")");
  std::string none = all("");
  std::vector<Case> cases = {
      {any, request("apps", "v1", "deployments"), true},
      {any, request("apps", "v1", "deployments", "scale"), false},
      {any_any, request("apps", "v1", "deployments"), true},
      {any_any, request("apps", "v1", "deployments", "scale"), true},
      {pods, request("", "v1", "pods"), true},
      {pods, request("", "v1", "pods", "status"), false},
      {pods, request("", "v1", "services"), false},
      {pods_any, request("", "v1", "pods"), true},
      {pods_any, request("", "v1", "pods", "status"), true},
      {pods_any, request("", "v1", "services", "status"), false},
      {pods_status, request("", "v1", "pods"), false},
      {pods_status, request("", "v1", "pods", "status"), true},
      {any_scale, request("apps", "v1", "deployments", "scale"), true},
      {any_scale, request("apps", "v1", "deployments"), false},
      {several, request("", "v1", "pods", "status"), true},
      {several, request("", "v1", "pods"), false},
      {none, request("", "v1", "pods"), false},
      // Group, version and operation: the word itself, or any.
      {R"({"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["*"]})", request("", "v1", "pods"),
       true},
      {R"({"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["*"]})", request("apps", "v1", "x"),
       false},
      {R"({"operations":["*"],"apiGroups":["a","apps"],"apiVersions":["*"],"resources":["*"]})",
       request("apps", "v1", "x"), true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v2","v1"],"resources":["*"]})", request("a", "v1", "x"),
       true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v2"],"resources":["*"]})", request("a", "v1", "x"),
       false},
      {R"({"operations":["CREATE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})", request("a", "v1", "x"),
       true},
      {R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
       request("a", "v1", "x"), false},
      {R"({"operations":["DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
       request("a", "v1", "x", "", "team", Operation::remove), true},
      {R"({"operations":["CONNECT"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})",
       request("", "v1", "pods", "exec", "team", Operation::connect), true},
      {R"({"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})", request("a", "v1", "x"), false},
      // Scope. A Namespace has none, although its request carries one.
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
       request("a", "v1", "x"), true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
       request("a", "v1", "x", "", ""), false},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
       request("a", "v1", "x", "", ""), true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
       request("a", "v1", "x"), false},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
       request("", "v1", "namespaces"), true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
       request("", "v1", "namespaces"), false},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"*"})",
       request("", "v1", "namespaces"), true},
      {R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Odd"})",
       request("a", "v1", "x"), false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(outcome(hook(fmt::format(R"({{"rules":[{}]}})", c.rule)), c.request), c.matches ? "yes" : "no")
        << c.rule << " " << c.request.resource.resource << "/" << c.request.subresource;
}

TEST(Match, ReadsConfigurationsWithTheDefaultsOfTheServer) {
  std::vector<Webhook> hooks = read_webhooks(parsed(R"({
    "kind": "MutatingWebhookConfiguration", "metadata": {"name": "c"},
    "webhooks": [
      {"name": "a", "clientConfig": {"service": {"name": "s", "namespace": "n"}, "caBundle": "Q0E="}},
      {"name": "a", "clientConfig": {"url": "https://example.com/hook"}, "failurePolicy": "Ignore", "matchPolicy": "Exact",
       "timeoutSeconds": 3, "sideEffects": "NoneOnDryRun", "reinvocationPolicy": "IfNeeded",
       "admissionReviewVersions": ["v1", "v1beta1"]}]})"));
  ASSERT_EQ(hooks.size(), 2U);
  const Webhook& first = hooks[0];
  EXPECT_EQ(first.kind, Webhook::Kind::mutating);
  EXPECT_EQ(first.id, "c/a/0");
  EXPECT_EQ(first.service, (ServiceReference{.ns = "n", .name = "s", .path = "", .port = 443}));
  EXPECT_EQ(first.ca_bundle, "Q0E=");
  EXPECT_EQ(first.failure_policy, FailurePolicy::fail);
  EXPECT_EQ(first.match_policy, MatchPolicy::equivalent);
  EXPECT_EQ(first.timeout_seconds, 10);
  EXPECT_EQ(first.side_effects, Webhook::SideEffects::unset);
  EXPECT_EQ(first.reinvocation, Webhook::Reinvocation::never);
  EXPECT_TRUE(first.namespace_selector->matches_everything());
  EXPECT_TRUE(first.object_selector->matches_everything());
  EXPECT_EQ(service_url(*first.service), "https://s.n.svc:443/");
  const Webhook& second = hooks[1];
  EXPECT_EQ(second.id, "c/a/1");
  EXPECT_EQ(second.failure_policy, FailurePolicy::ignore);
  EXPECT_EQ(second.match_policy, MatchPolicy::exact);
  EXPECT_EQ(second.timeout_seconds, 3);
  EXPECT_EQ(second.side_effects, Webhook::SideEffects::none_on_dry_run);
  EXPECT_EQ(second.reinvocation, Webhook::Reinvocation::if_needed);
  EXPECT_EQ(second.url, "https://example.com/hook");
  EXPECT_TRUE(read_webhooks(parsed(R"({"kind":"ConfigMap","webhooks":[{"name":"a"}]})")).empty());
  EXPECT_TRUE(read_webhooks(parsed(R"({"kind":"ValidatingWebhookConfiguration","webhooks":5})")).empty());
}

TEST(Match, OrdersByConfigurationThenList) {
  std::vector<Webhook> hooks;
  for (std::string_view configuration : {"b", "a", "b", "10", "9"})
    hooks.push_back(hook(fmt::format(R"({{"name":"h{}"}})", hooks.size()), true, configuration));
  order(hooks);
  std::vector<std::string> names;
  for (const Webhook& webhook : hooks) names.push_back(webhook.configuration + "/" + webhook.name);
  EXPECT_EQ(names, (std::vector<std::string>{"10/h3", "9/h4", "a/h1", "b/h0", "b/h2"}));
}

TEST(Match, NeverAdmissionConfigurations) {
  Webhook everything = hook("{}");
  for (std::string_view resource :
       {"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies",
        "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}) {
    Attributes attributes = request("admissionregistration.k8s.io", "v1", resource, "", "");
    EXPECT_EQ(outcome(everything, attributes), "no") << resource;
    attributes.resource.group = "example.com";
    EXPECT_EQ(outcome(everything, attributes), "yes") << resource;
  }
}

TEST(Match, NeverReviews) {
  Webhook everything = hook("{}");
  EXPECT_EQ(outcome(everything, request("authentication.k8s.io", "v1", "selfsubjectreviews", "", "")), "no");
  EXPECT_EQ(outcome(everything, request("authentication.k8s.io", "v1", "tokenreviews", "", "")), "no");
  for (std::string_view resource :
       {"localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"})
    EXPECT_EQ(outcome(everything, request("authorization.k8s.io", "v1", resource, "", "")), "no") << resource;
  // The group counts as well.
  EXPECT_EQ(outcome(everything, request("example.com", "v1", "tokenreviews", "", "")), "yes");
}

TEST(Match, NamespaceSelector) {
  Webhook prod = hook(R"({"namespaceSelector":{"matchLabels":{"stage":"prod"}}})");
  Webhook not_prod =
      hook(R"({"namespaceSelector":{"matchExpressions":[{"key":"stage","operator":"NotIn","values":["prod"]}]}})");
  Attributes attributes = config_map();
  EXPECT_EQ(outcome(prod, attributes), "yes");
  EXPECT_EQ(outcome(not_prod, attributes), "no");
  // The labels of the namespace, never those of the object.
  attributes.object = parsed(R"({"metadata":{"labels":{"stage":"test"}}})");
  EXPECT_EQ(outcome(prod, attributes), "yes");

  // Without a namespace no selector exempts from anything.
  Attributes node = request("", "v1", "nodes", "", "");
  EXPECT_EQ(outcome(prod, node), "yes");
  EXPECT_EQ(outcome(not_prod, node), "yes");

  // A Namespace goes by its own labels when it is written, by those in the cluster when it is deleted.
  Attributes ns = request("", "v1", "namespaces", "", "team");
  ns.object = parsed(R"({"metadata":{"name":"team","labels":{"stage":"test"}}})");
  EXPECT_EQ(outcome(prod, ns), "no");
  EXPECT_EQ(outcome(not_prod, ns), "yes");
  ns.operation = Operation::update;
  EXPECT_EQ(outcome(prod, ns), "no");
  ns.operation = Operation::remove;
  EXPECT_EQ(outcome(prod, ns), "yes");
  ns.operation = Operation::update;
  ns.subresource = "finalize";
  EXPECT_EQ(outcome(hook(R"({"namespaceSelector":{"matchLabels":{"stage":"prod"}},
      "rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]})"),
                    ns),
            "yes");

  // One that is not there ends the request, but only if the rules match.
  attributes.ns_object = Json();
  EXPECT_EQ(outcome(prod, attributes), "namespaces \"team\" not found");
  EXPECT_EQ(match(prod, attributes).status["code"].int_or(0), 404);
  EXPECT_EQ(outcome(hook("{}"), attributes), "yes");
  EXPECT_EQ(outcome(hook(R"({"namespaceSelector":{"matchLabels":{"a":"b"}},"rules":[]})"), attributes), "no");
}

TEST(Match, ObjectSelector) {
  Webhook wanted = hook(R"({"objectSelector":{"matchLabels":{"app":"web"}}})");
  Webhook unwanted = hook(R"({"objectSelector":{"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}})");
  Json web = parsed(R"({"metadata":{"labels":{"app":"web"}}})");
  Json plain = parsed(R"({"metadata":{}})");
  struct Case {
    const Json* object;
    const Json* old_object;
    std::string_view with_label;
    std::string_view without_label;
  };
  Json none;
  for (const Case& c : std::vector<Case>{{&web, &none, "yes", "no"},
                                         {&plain, &none, "no", "yes"},
                                         {&plain, &web, "yes", "yes"},
                                         {&web, &plain, "yes", "yes"},
                                         {&none, &web, "yes", "no"},
                                         {&none, &none, "no", "no"}}) {
    Attributes attributes = config_map();
    attributes.object = *c.object;
    attributes.old_object = *c.old_object;
    EXPECT_EQ(outcome(wanted, attributes), c.with_label);
    EXPECT_EQ(outcome(unwanted, attributes), c.without_label);
    EXPECT_EQ(outcome(hook(R"({"objectSelector":{}})"), attributes), "yes");
  }
}

TEST(Match, ASelectorThatCannotBeReadCountsOnceTheRulesMatch) {
  std::string_view bad = R"("objectSelector":{"matchExpressions":[{"key":"a","operator":"Near","values":["b"]}]})";
  Match result = match(hook(fmt::format("{{{}}}", bad)), config_map());
  EXPECT_EQ(result.outcome, Match::Outcome::refused);
  EXPECT_EQ(result.status["code"].int_or(0), 500);
  EXPECT_EQ(outcome(hook(fmt::format(R"({{{},"rules":[]}})", bad)), config_map()), "no");
  EXPECT_EQ(outcome(hook(fmt::format(R"({{{},"namespaceSelector":{{"matchLabels":{{"stage":"test"}}}}}})", bad)),
                    config_map()),
            "no");
}

TEST(Match, EquivalentVersions) {
  std::string_view rules = R"("rules":[
    {"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1beta9"],"resources":["deployments"]},
    {"operations":["*"],"apiGroups":["extensions"],"apiVersions":["v1beta1"],"resources":["deployments"]},
    {"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1beta1"],"resources":["deployments"]}])";
  Webhook equivalent = hook(fmt::format("{{{}}}", rules));
  Attributes attributes = request("apps", "v1", "deployments");
  attributes.kind.kind = "Deployment";
  EXPECT_EQ(outcome(equivalent, attributes), "no");
  attributes.equivalents = {
      {.resource = attributes.resource, .kind = attributes.kind},
      {.resource = {"apps", "v1beta1", "deployments"}, .kind = {"apps", "v1beta1", "Deployment"}},
      {.resource = {"extensions", "v1beta1", "deployments"}, .kind = {"extensions", "v1beta1", "Deployment"}}};
  Match result = match(equivalent, attributes);
  ASSERT_EQ(result.outcome, Match::Outcome::yes);
  // The earlier rule wins, whatever the order of the versions.
  EXPECT_EQ(result.target.rule, 1U);
  EXPECT_EQ(result.target.resource, (GroupVersionResource{"extensions", "v1beta1", "deployments"}));
  EXPECT_EQ(result.target.kind, (GroupVersionKind{"extensions", "v1beta1", "Deployment"}));
  EXPECT_EQ(outcome(hook(fmt::format(R"({{{},"matchPolicy":"Exact"}})", rules)), attributes), "no");

  // A rule that takes the request as it is goes before all equivalents.
  attributes.resource.version = "v1beta1";
  attributes.kind.version = "v1beta1";
  EXPECT_EQ(match(equivalent, attributes).target.rule, 2U);

  // Conditions see the object in that version.
  Webhook converting = hook(fmt::format(
      R"({{{},"matchConditions":[{{"name":"c","expression":"object.apiVersion == 'extensions/v1beta1' && object.made == 'here'"}}]}})",
      rules));
  attributes.resource.version = "v1";
  attributes.kind.version = "v1";
  attributes.object = parsed(R"({"apiVersion":"apps/v1","kind":"Deployment"})");
  attributes.convert = [](const Json& object, const GroupVersionKind& to) -> Result<Json> {
    Json converted = object;
    converted.make("apiVersion") = to.api_version();
    converted.make("made") = "here";
    return converted;
  };
  EXPECT_EQ(outcome(converting, attributes), "yes");
  attributes.convert = nullptr;
  EXPECT_EQ(
      outcome(converting, attributes),
      "deployments.apps \"x\" is forbidden: expression 'object.apiVersion == 'extensions/v1beta1' && object.made == "
      "'here'' resulted in error: no such key: made");
  attributes.convert = [](const Json&, const GroupVersionKind&) -> Result<Json> {
    return fail(ErrorKind::unavailable, "the conversion webhook is down");
  };
  EXPECT_EQ(outcome(converting, attributes), "Internal error occurred: the conversion webhook is down");
  attributes.equivalents[2].kind = {};
  EXPECT_EQ(outcome(equivalent, attributes),
            "Internal error occurred: unable to convert to extensions/v1beta1, Resource=deployments: unknown kind");
  // The error ends the request: it is guarded, and is not excluded.
  EXPECT_TRUE(may_guard(equivalent.rules, MatchPolicy::equivalent, attributes));
  EXPECT_FALSE(surely_exclude(equivalent.rules, MatchPolicy::equivalent, attributes));
}

TEST(Webhook, ACaBundleWithoutACertificateIsAPlaceholder) {
  EXPECT_TRUE(has_certificate(to_base64("# ours\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")));
  for (std::string_view placeholder : {"", "\n", "TO BE REPLACED", "-----BEGIN PRIVATE KEY-----\n"})
    EXPECT_FALSE(has_certificate(to_base64(placeholder))) << placeholder;
  EXPECT_FALSE(has_certificate("-----BEGIN CERTIFICATE-----")) << "it is not base64";
}

TEST(Match, Conditions) {
  struct Case {
    std::string_view conditions;
    std::string_view fail;
    std::string_view ignore;
  };
  std::string_view forbidden_key =
      "configmaps \"x\" is forbidden: expression 'object.data.no' resulted in error: no such key: data";
  for (const Case& c : std::vector<Case>{
           {"true", "yes", "yes"},
           {"false", "no: 0", "no: 0"},
           {"true;false;true", "no: 1", "no: 1"},
           {"object.data.no", forbidden_key, "no"},
           {"true;object.data.no", forbidden_key, "no"},
           // False anywhere decides, even after an error.
           {"object.data.no;false", "no: 1", "no: 1"},
           {"object.data.no;object.data.no;true", forbidden_key, "no"},
           {"object.data.no;1 / 0 == 1",
            "configmaps \"x\" is forbidden: [expression 'object.data.no' resulted in error: no such key: data, "
            "expression '1 / "
            "0 == 1' resulted in error: division by zero]",
            "no"},
           // What cannot be told here counts as met.
           {"quantity('1') == quantity('1')", "yes, undecided", "yes, undecided"},
           {"authorizer.path('/x').check('get').allowed();true", "yes, undecided", "yes, undecided"},
           {"authorizer.path('/x').check('get').allowed();false", "no: 1", "no: 1"},
           {"nobody == 1",
            "configmaps \"x\" is forbidden: compilation error: compilation failed: ERROR: <input>:1:1: undeclared "
            "reference to "
            "'nobody' (in container '')\n | nobody == 1\n | ^",
            "no"},
           // What expressions see.
           {"request.userInfo.username == 'jane' && 'dev' in request.userInfo.groups", "yes", "yes"},
           {"request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.resource.resource == "
            "'configmaps'",
            "yes", "yes"},
           {"request.namespace == 'team' && request.name == 'x' && !has(request.subResource)", "yes", "yes"},
           {"request.dryRun == false && request.options.fieldManager == 'test'", "yes", "yes"},
           {"oldObject == null && object.metadata.name == 'x' && namespaceObject == null", "yes", "yes"},
           // The hook by which a probe finds itself.
           {"request.dryRun && has(request.options.fieldManager) && request.options.fieldManager == 'fairlead-1-2'",
            "no: 0", "no: 0"},
       }) {
    Json::Array conditions;
    std::string_view rest = c.conditions;
    for (bool more = true; more;) {
      size_t end = rest.find(';');
      conditions.push_back(
          Json::Object{{"name", std::to_string(conditions.size())}, {"expression", rest.substr(0, end)}});
      more = end != std::string_view::npos;
      rest.remove_prefix(more ? end + 1 : rest.size());
    }
    for (std::string_view policy : {"Fail", "Ignore"}) {
      Json text = Json::Object{{"matchConditions", conditions}, {"failurePolicy", policy}};
      EXPECT_EQ(outcome(hook(text.dump()), config_map()), policy == "Fail" ? c.fail : c.ignore) << c.conditions;
    }
  }
}

}  // namespace
}  // namespace fairlead::admission
