#include "admission/dispatch.h"

#include <gtest/gtest.h>

#include "admission/admission_testing.h"
#include "admission/client_config.h"
#include "admission/internal/status.h"
#include "base/base64.h"

namespace fairlead::admission {
namespace {

MakeUid counting() {
  return [n = 0]() mutable { return fmt::format("uid-{}", ++n); };
}

Answer allowed(std::string_view uid, std::string_view patch = "") {
  Json response = Json::Object{{"uid", uid}, {"allowed", true}};
  if (!patch.empty()) {
    response.make("patchType") = "JSONPatch";
    response.make("patch") = to_base64(patch);
  }
  Json review =
      Json::Object{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", response}};
  return {.http = 200, .content_type = "application/json", .body = review.dump()};
}

// Each line is a case that was tried on a real API server: a webhook, what its call ended in, and the Status (null
// where the request passed) that the user got.
TEST(Dispatch, EndsInTheWordsOfTheApiServer) {
  std::vector<Json> cases = fixture("admission.jsonl");
  EXPECT_GT(cases.size(), 45U);
  for (const Json& entry : cases) {
    bool mutating = entry["mutating"].bool_or(false);
    std::string uid(entry["uid"].string_or("UID"));
    MakeUid make_uid = [&] { return uid; };
    std::vector<Webhook> hooks = {hook(entry["webhook"].dump(), mutating)};
    Attributes attributes = config_map(entry.contains("request") ? entry["request"].dump() : "{}");
    attributes.dry_run = entry["dryRun"].bool_or(false);
    Answer answer{.http = static_cast<int>(entry["answer"]["http"].int_or(0)),
                  .content_type = std::string(entry["answer"]["contentType"].string_or("")),
                  .body = std::string(entry["answer"]["body"].string_or(""))};
    Json got;
    if (mutating) {
      Mutation mutation(hooks, attributes, make_uid);
      ASSERT_NE(mutation.next(), nullptr) << entry.dump();
      if (entry.contains("tail")) {
        mutation.failed(entry["tail"].string_or(""));
      } else {
        mutation.answered(answer);
      }
      EXPECT_EQ(mutation.next(), nullptr);
      got = mutation.status();
    } else {
      Validation validation(hooks, attributes, make_uid);
      if (entry.contains("tail") || entry.contains("answer")) {
        ASSERT_EQ(validation.calls().size(), 1U) << entry.dump();
        if (entry.contains("tail")) {
          validation.failed(0, entry["tail"].string_or(""));
        } else {
          validation.answered(0, answer);
        }
      } else {
        EXPECT_TRUE(validation.calls().empty()) << entry.dump();
      }
      got = validation.status();
    }
    if (entry.contains("url")) {
      EXPECT_EQ(service_url(*hooks[0].service) + fmt::format("?timeout={}s", hooks[0].timeout_seconds),
                entry["url"].string_or(""));
    }
    // A webhook that is looked at through /deny/cr has the name that the fixture gives, and all else is equal.
    EXPECT_EQ(got.dump(), entry["status"].dump()) << entry["case"].dump();
  }
}

TEST(Dispatch, MutatesOneAfterAnotherAndMatchesAgainEachTime) {
  std::vector<Webhook> hooks = {
      hook(R"({"name":"labels"})", true), hook(R"({"name":"validates"})", false),
      hook(R"({"name":"labelled","objectSelector":{"matchLabels":{"a":"b"}}})", true),
      hook(R"({"name":"bare","objectSelector":{"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]}})", true)};
  Mutation mutation(hooks, config_map(), counting());
  const Call* call = mutation.next();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->webhook->name, "labels");
  EXPECT_EQ(call->review["request"]["uid"].string_or(""), "uid-1");
  EXPECT_EQ(mutation.next(), call);
  mutation.answered(allowed("uid-1", R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])"));
  call = mutation.next();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->webhook->name, "labelled");
  EXPECT_EQ(call->review["request"]["object"]["metadata"]["labels"].dump(), R"({"a":"b"})");
  mutation.answered(allowed("uid-2"));
  EXPECT_EQ(mutation.next(), nullptr);
  EXPECT_TRUE(mutation.status().is_null());
  EXPECT_EQ((*mutation.object())["metadata"]["labels"].dump(), R"({"a":"b"})");
}

// The names of the hooks that are called, each answering with its patch ("" for none).
std::vector<std::string> calls_of(const std::vector<Webhook>& hooks,
                                  const std::function<std::string(const std::string& name, int round)>& patch) {
  Mutation mutation(hooks, config_map(R"({"metadata":{"name":"x","annotations":{}}})"), counting());
  std::vector<std::string> names;
  while (const Call* call = mutation.next()) {
    std::string name = call->webhook->name;
    int round = static_cast<int>(std::count(names.begin(), names.end(), name));
    names.push_back(name);
    mutation.answered(allowed(call->uid, patch(name, round)));
  }
  EXPECT_TRUE(mutation.status().is_null()) << mutation.status().dump();
  return names;
}

TEST(Dispatch, CallsAgainThoseThatWantToKnow) {
  auto named = [](std::string_view name, bool if_needed) {
    return hook(fmt::format(R"({{"name":"{}","reinvocationPolicy":"{}"}})", name, if_needed ? "IfNeeded" : "Never"),
                true);
  };
  auto add = [](const std::string& name, int round) {
    return fmt::format(R"([{{"op":"add","path":"/metadata/annotations/{}","value":"{}"}}])", name, round);
  };
  using Names = std::vector<std::string>;
  // b changes the object after a, which wants to know.
  EXPECT_EQ(calls_of({named("a", true), named("b", false)},
                     [&](const std::string& name, int round) { return name == "b" ? add(name, round) : ""; }),
            (Names{"a", "b", "a"}));
  // a changes it before b: nobody before a wants to know.
  EXPECT_EQ(
      calls_of({named("a", true), named("b", true)},
               [&](const std::string& name, int round) { return name == "a" && round == 0 ? add(name, round) : ""; }),
      (Names{"a", "b"}));
  // In the second round a changes it once more, after b of the first round: b is called again, in that same round, and
  // that is the end.
  EXPECT_EQ(calls_of({named("a", true), named("b", true)}, add), (Names{"a", "b", "a", "b"}));
  // Who does not want to is not called.
  EXPECT_EQ(calls_of({named("a", false), named("b", true)}, add), (Names{"a", "b"}));
  // A patch that changes nothing does not count.
  EXPECT_EQ(calls_of({named("a", true), named("b", true)},
                     [&](const std::string&, int) { return R"([{"op":"test","path":"/metadata/name","value":"x"}])"; }),
            (Names{"a", "b"}));
}

TEST(Dispatch, AHookIsNeverCalledForTheFirstTimeInTheSecondRound) {
  std::vector<Webhook> hooks = {
      hook(R"({"name":"late","reinvocationPolicy":"IfNeeded","objectSelector":{"matchLabels":{"a":"b"}}})", true),
      hook(R"({"name":"a","reinvocationPolicy":"IfNeeded"})", true), hook(R"({"name":"b"})", true)};
  Mutation mutation(hooks, config_map(), counting());
  std::vector<std::string> names;
  while (const Call* call = mutation.next()) {
    names.push_back(call->webhook->name);
    mutation.answered(allowed(
        call->uid, call->webhook->name == "b" ? R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])" : ""));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "a"}));
}

TEST(Dispatch, PatchesThatAreNoGood) {
  struct Case {
    std::string_view patch;
    std::string_view fail;
    std::string_view ignore;
  };
  for (const Case& c : std::vector<Case>{
           {"{}",
            "Internal error occurred: failed calling webhook \"w\": received undecodable patch in webhook response: "
            "json: cannot "
            "unmarshal object into Go value of type jsonpatch.Patch",
            ""},
           {"[]", "", ""},
           // Ignore does not hide a patch that does not fit.
           {R"([{"op":"remove","path":"/no"}])",
            "Internal error occurred: error in remove for path: '/no': Unable to remove nonexistent key: no: missing "
            "value",
            "Internal error occurred: error in remove for path: '/no': Unable to remove nonexistent key: no: missing "
            "value"},
       }) {
    for (std::string_view policy : {"Fail", "Ignore"}) {
      std::vector<Webhook> hooks = {hook(fmt::format(R"({{"failurePolicy":"{}"}})", policy), true)};
      Mutation mutation(hooks, config_map(), counting());
      ASSERT_NE(mutation.next(), nullptr);
      mutation.answered(allowed("uid-1", c.patch));
      EXPECT_EQ(mutation.next(), nullptr);
      EXPECT_EQ(mutation.status()["message"].string_or(""), policy == "Fail" ? c.fail : c.ignore) << c.patch;
    }
  }
  std::vector<Webhook> hooks = {hook("{}", true)};
  Attributes removal = config_map();
  removal.operation = Operation::remove;
  removal.old_object = std::exchange(removal.object, Json());
  Mutation mutation(hooks, removal, counting());
  ASSERT_NE(mutation.next(), nullptr);
  mutation.answered(allowed("uid-1", R"([{"op":"add","path":"/x","value":1}])"));
  EXPECT_EQ(mutation.status()["message"].string_or(""),
            "Internal error occurred: admission webhook \"w\" attempted to modify the object, which is not supported "
            "for this "
            "operation");
}

TEST(Dispatch, UnsupportedPatchType) {
  std::vector<Webhook> hooks = {hook("{}", true)};
  Mutation mutation(hooks, config_map(), counting());
  ASSERT_NE(mutation.next(), nullptr);
  Answer answer = allowed("uid-1", "[{}]");
  answer.body.replace(answer.body.find("JSONPatch"), 9, "Strategic");
  mutation.answered(answer);
  EXPECT_EQ(mutation.status()["message"].string_or(""),
            "Internal error occurred: failed calling webhook \"w\": unsupported patch type \"Strategic\"");
}

TEST(Dispatch, DryRun) {
  struct Case {
    std::string_view side_effects;
    std::string_view fail;
    std::string_view ignore;
  };
  std::string_view no_dry_run = "admission webhook \"w\" does not support dry run";
  for (const Case& c : std::vector<Case>{
           {"None", "called", "called"},
           {"NoneOnDryRun", "called", "called"},
           // Even where failures are ignored.
           {"Some", no_dry_run, no_dry_run},
           {"Unknown", no_dry_run, no_dry_run},
           {"", "Internal error occurred: failed calling webhook \"w\": Webhook SideEffects is nil", "passed"},
       }) {
    for (std::string_view policy : {"Fail", "Ignore"}) {
      for (bool mutating : {false, true}) {
        std::vector<Webhook> hooks = {
            hook(fmt::format(R"({{"failurePolicy":"{}","sideEffects":"{}"}})", policy, c.side_effects), mutating)};
        Attributes attributes = config_map();
        attributes.dry_run = true;
        Mutation mutation(hooks, attributes, counting());
        Validation validation(hooks, attributes, counting());
        bool called = mutation.next() != nullptr || !validation.calls().empty();
        const Json& status = mutating ? mutation.status() : validation.status();
        std::string_view got = called ? "called" : status.is_null() ? "passed" : status["message"].string_or("");
        EXPECT_EQ(got, policy == "Fail" ? c.fail : c.ignore) << c.side_effects << " " << policy << " " << mutating;
      }
    }
  }
}

TEST(Dispatch, NoCommonReviewVersion) {
  for (bool mutating : {false, true}) {
    std::vector<Webhook> hooks = {hook(R"({"admissionReviewVersions":["v7"]})", mutating)};
    Mutation mutation(hooks, config_map(), counting());
    Validation validation(hooks, config_map(), counting());
    EXPECT_EQ(mutation.next(), nullptr);
    EXPECT_TRUE(validation.calls().empty());
    EXPECT_EQ((mutating ? mutation.status() : validation.status())["message"].string_or(""),
              "Internal error occurred: failed calling webhook \"w\": could not create admission objects: webhook does "
              "not accept "
              "known AdmissionReview versions (v1, v1beta1)");
  }
}

TEST(Dispatch, ValidatesAllAtOnceAndTellsTheFirstRefusal) {
  std::vector<Webhook> hooks = {hook(R"({"name":"a","failurePolicy":"Ignore"})"), hook(R"({"name":"b"})"),
                                hook(R"({"name":"mutates"})", true), hook(R"({"name":"none","rules":[]})"),
                                hook(R"({"name":"c"})")};
  Validation validation(hooks, config_map(), counting());
  ASSERT_EQ(validation.calls().size(), 3U);
  EXPECT_EQ(validation.calls()[2].webhook->name, "c");
  EXPECT_EQ(validation.calls()[2].uid, "uid-3");
  Answer noted = allowed("uid-3");
  noted.body.insert(noted.body.find("\"allowed\""), R"("warnings":["mind it"],"auditAnnotations":{"k":"v"},)");
  validation.answered(2, noted);
  EXPECT_TRUE(validation.status().is_null());
  validation.failed(0, "failed to call webhook: Post \"https://a\": EOF");
  EXPECT_TRUE(validation.status().is_null());
  validation.answered(1,
                      {.http = 200, .content_type = "application/json", .body = R"({"apiVersion":"admission.k8s.io/v1",
      "kind":"AdmissionReview","response":{"uid":"uid-2","allowed":false,"status":{"code":418,"message":"no"}}})"});
  EXPECT_EQ(validation.status().dump(), R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                                        R"("message":"admission webhook \"b\" denied the request: no","code":418})");
  validation.expire(1);
  EXPECT_EQ(validation.status()["code"].int_or(0), 418);
  EXPECT_EQ(validation.gathered().warnings, (std::vector<std::string>{"mind it"}));
  EXPECT_EQ(validation.gathered().failed_open, (std::vector<std::string>{"a"}));
  EXPECT_EQ(validation.gathered().audit_annotations,
            (Annotations{{"c/k", "v"}, {"failed-open.validating.webhook.admission.k8s.io/round_0_index_0", "a"}}));
}

TEST(Dispatch, ARefusedMatchEndsItBeforeAnyCall) {
  std::vector<Webhook> hooks = {hook(R"({"name":"a"})"),
                                hook(R"({"name":"b","matchConditions":[{"name":"c","expression":"object.no"}]})")};
  Validation validation(hooks, config_map(), counting());
  EXPECT_TRUE(validation.calls().empty());
  EXPECT_EQ(validation.status()["message"].string_or(""),
            "configmaps \"x\" is forbidden: expression 'object.no' resulted in error: no such key: no");
}

TEST(Dispatch, TheRequestsOwnTime) {
  std::vector<Webhook> hooks = {hook("{}", true)};
  Mutation mutation(hooks, config_map(), counting());
  ASSERT_NE(mutation.next(), nullptr);
  mutation.expire();
  EXPECT_EQ(mutation.next(), nullptr);
  EXPECT_EQ(
      mutation.status().dump(),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
      R"("message":"Timeout: request did not complete within requested timeout","reason":"Timeout","details":{},"code":504})");
}

// The object goes to each hook in the version that its rule names, and comes back in the one of the request.
TEST(Dispatch, ConvertsForEachHook) {
  std::vector<Webhook> hooks = {
      hook(R"({"rules":[{"operations":["*"],"apiGroups":["g"],"apiVersions":["v2"],"resources":["things"]}]})", true)};
  Attributes attributes = config_map();
  attributes.resource = {"g", "v1", "things"};
  attributes.kind = {"g", "v1", "Thing"};
  attributes.object = parsed(R"({"apiVersion":"g/v1","kind":"Thing","metadata":{"name":"x"}})");
  attributes.equivalents = {{.resource = {"g", "v2", "things"}, .kind = {"g", "v2", "Thing"}}};
  Mutation mutation(hooks, attributes, counting());
  const Call* call = mutation.next();
  ASSERT_NE(call, nullptr);
  const Json& request = call->review["request"];
  EXPECT_EQ(request["kind"].dump(), R"({"group":"g","version":"v2","kind":"Thing"})");
  EXPECT_EQ(request["requestKind"].dump(), R"({"group":"g","version":"v1","kind":"Thing"})");
  EXPECT_EQ(request["object"]["apiVersion"].string_or(""), "g/v2");
  mutation.answered(allowed("uid-1", R"([{"op":"add","path":"/spec","value":1}])"));
  EXPECT_EQ(mutation.next(), nullptr);
  EXPECT_EQ(mutation.object()->dump(), R"({"apiVersion":"g/v1","kind":"Thing","metadata":{"name":"x"},"spec":1})");
}

// What an API server counts of each webhook, one per line.
std::string shown(const std::vector<Encounter>& encounters) {
  constexpr std::string_view kHow[] = {"allowed", "denied", "failed", "unusable", "conditions"};
  std::string text;
  for (const Encounter& one : encounters)
    text += fmt::format("{} {} {}{}{}\n", one.webhook->name, kHow[size_t(one.how)], one.code,
                        one.is_rejected ? " rejected" : "",
                        one.how == Encounter::How::conditions ? fmt::format(" {}", one.condition_errors) : "");
  return text;
}

Answer denied(std::string_view uid, std::string_view status) {
  Answer answer = allowed(uid);
  answer.body.replace(answer.body.find("true"), 4, "false");
  answer.body.insert(answer.body.find("\"allowed\""), fmt::format(R"("status":{},)", status));
  return answer;
}

TEST(Dispatch, CountsWhatBecameOfEachWebhook) {
  std::vector<Webhook> hooks = {hook(R"({"name":"a"})"),
                                hook(R"({"name":"b"})"),
                                hook(R"({"name":"c","failurePolicy":"Ignore"})"),
                                hook(R"({"name":"d"})"),
                                hook(R"({"name":"e"})"),
                                hook(R"({"name":"f","failurePolicy":"Ignore"})"),
                                hook(R"({"name":"none","rules":[]})")};
  Validation validation(hooks, config_map(), counting());
  validation.answered(0, allowed("uid-1"));
  validation.answered(1, denied("uid-2", R"({"code":403,"message":"no"})"));
  validation.failed(2, "failed to call webhook: EOF");
  validation.answered(3, {.http = 404, .content_type = "text/plain", .body = "no"});
  validation.answered(4, {.http = 200, .content_type = "application/json", .body = "{"});
  validation.expire(5);
  EXPECT_EQ(shown(validation.gathered().encounters),
            "a allowed 200\n"
            "b denied 403 rejected\n"
            "c failed 503\n"
            "d failed 404 rejected\n"
            "e failed 503 rejected\n"
            "f failed 503\n");
}

TEST(Dispatch, CountsPatchesThatCannotBeUsed) {
  auto counted = [](std::string_view patch) {
    std::vector<Webhook> hooks = {hook(R"({"name":"w"})", true)};
    Mutation mutation(hooks, config_map(), counting());
    EXPECT_NE(mutation.next(), nullptr);
    mutation.answered(allowed("uid-1", patch));
    return shown(mutation.gathered().encounters);
  };
  EXPECT_EQ(counted(R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])"), "w allowed 200\n");
  EXPECT_EQ(counted("[]"), "w allowed 200\n");
  EXPECT_EQ(counted(R"([{"op":"remove","path":"/no/such/path"}])"), "w unusable 0 rejected\n");
  EXPECT_EQ(counted("{"), "w failed 503 rejected\n");
  std::vector<Webhook> hooks = {hook(R"({"name":"w"})", true)};
  Mutation mutation(hooks, config_map(), counting());
  EXPECT_NE(mutation.next(), nullptr);
  mutation.expire();
  EXPECT_EQ(shown(mutation.gathered().encounters), "w failed 503 rejected\n");
}

TEST(Dispatch, CountsConditions) {
  auto counted = [](std::string_view conditions) {
    std::vector<Webhook> hooks = {hook(fmt::format(R"({{"name":"w","matchConditions":{}}})", conditions))};
    return shown(Validation(hooks, config_map(), counting()).gathered().encounters);
  };
  EXPECT_EQ(counted(R"([{"name":"c","expression":"true"}])"), "w conditions 200 0\n");
  EXPECT_EQ(counted(R"([{"name":"c","expression":"object.no"},{"name":"d","expression":"object.no"}])"),
            "w conditions 200 2\n");
  // The one that is false decides.
  EXPECT_EQ(counted(R"([{"name":"c","expression":"object.no"},{"name":"d","expression":"false"},
                        {"name":"e","expression":"object.no"}])"),
            "w conditions 200 1\n");
}

}  // namespace
}  // namespace fairlead::admission
