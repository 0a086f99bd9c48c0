#include "webhook/server/routes.h"

#include "base/base64.h"
#include "webhook/server/server_testing.h"

namespace fairlead::webhook {
namespace {

Routes widget_routes() { return Routes::make(widget_set()).value(); }

std::string answer(std::string_view path, std::string_view body) {
  Routes routes = widget_routes();
  Verdict verdict = decide(*routes.find(path), body);
  return fmt::format("{} {} {}", verdict.status, name_of(verdict.facts.decided), verdict.body);
}

std::string allowed_with(std::string_view rest) {
  return fmt::format(R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"u-1",{}}}}})",
                     rest);
}

TEST(Routes, EarlierPathsAreServedBesideTheUsualOnes) {
  EXPECT_THAT(widget_routes().paths(),
              testing::ElementsAre("/convert", "/mutate-example-com-v1-widget", "/mutate-widget",
                                   "/validate-example-com-v1-widget", "/validate-widget"));
  EXPECT_EQ(answer("/validate-widget", widget_review("")), answer(kWidgets, widget_review("")));
  EXPECT_EQ(answer("/mutate-widget", widget_review("")), answer(kMutateWidgets, widget_review("")));
  EXPECT_EQ(widget_routes().find("/validate"), nullptr);
}

TEST(Routes, SetsThatCannotBeServedAreErrors) {
  auto error_of = [](auto change) {
    PolicySet set = widget_set();
    change(set.registrations.front());
    return Routes::make(set).error().message();
  };
  EXPECT_EQ(error_of([](Registration& r) { r.policy = nullptr; }), "example.com/v1 Widget (widgets) has no policy");
  EXPECT_EQ(error_of([](Registration& r) { r.earlier_paths = {"widgets"}; }), "\"widgets\" is no path for a webhook");
  EXPECT_EQ(error_of([](Registration& r) { r.earlier_paths = {"/a", "/a"}; }), "the path /a is registered twice");
  EXPECT_EQ(error_of([](Registration& r) { r.earlier_paths = {"/convert"}; }), "the path /convert is registered twice");
}

TEST(Decide, ThePolicyDecides) {
  EXPECT_EQ(answer(kWidgets, widget_review("")), "200 allowed " + allowed_with(R"("allowed":true)"));
  EXPECT_EQ(answer(kWidgets, widget_review("deny")),
            "200 denied " + allowed_with(R"("allowed":false,"status":{"status":"Failure","code":403,)"
                                         R"("message":"spec.do must not be \"deny\"","reason":"Forbidden"})"));
}

TEST(Decide, AMutationIsAnsweredWithAPatch) {
  std::string patch = to_base64(R"([{"op":"add","path":"/spec/size","value":1}])");
  EXPECT_EQ(
      answer(kMutateWidgets, widget_review("")),
      "200 allowed " + allowed_with(fmt::format(R"("allowed":true,"patch":"{}","patchType":"JSONPatch")", patch)));
  std::string deletion = widget_review("");
  deletion.replace(deletion.find("CREATE"), 6, "DELETE");
  EXPECT_EQ(answer(kMutateWidgets, deletion), "200 allowed " + allowed_with(R"("allowed":true)"));
}

TEST(Decide, APolicyThatFailsIsAnErrorWithItsCause) {
  EXPECT_EQ(answer(kWidgets, widget_review("fail")),
            "500 failed the policy for widgets.example.com failed: no table of sizes: the disk is full\n");
  EXPECT_EQ(answer(kWidgets, widget_review("throw")),
            "500 failed the policy for widgets.example.com failed: out of range\n");
  EXPECT_EQ(answer(kWidgets, widget_review("throw a number")),
            "500 failed the policy for widgets.example.com failed: it threw something that is no exception\n");
  EXPECT_EQ(answer(kMutateWidgets, widget_review("fail")),
            "500 failed the policy for widgets.example.com failed: no table of sizes\n");
  EXPECT_EQ(answer(kMutateWidgets, widget_review("break")),
            "500 failed the policy for widgets.example.com failed: what it made of the object is no object\n");
}

// What the conversion strategy None does: it only changes the apiVersion, so a policy would read fields that are not
// there.
TEST(Decide, AVersionThatIsNotRegisteredNeverReachesThePolicy) {
  EXPECT_EQ(
      answer(kWidgets, widget_review("throw", "v2")),
      "200 refused " +
          allowed_with(R"("allowed":false,"status":{"status":"Failure","code":400,"message":)"
                       R"("example.com/v2 Widget (widgets) is not registered here: )"
                       R"(/validate-example-com-v1-widget decides on example.com/v1 Widget (widgets); in the rules )"
                       R"(of the webhook configuration, list that version, with matchPolicy: Equivalent",)"
                       R"("reason":"BadRequest"})"));
}

TEST(Decide, AnotherResourceOrObjectThanTheReviewSaysIsRefused) {
  auto with = [](std::string_view was, std::string_view now) {
    std::string body = widget_review("throw");
    body.replace(body.find(was), was.size(), now);
    return Json::parse(answer(kWidgets, body).substr(12)).value()["response"]["status"]["message"];
  };
  EXPECT_EQ(with(R"("widgets")", R"("gadgets")").string_or("").substr(0, 57),
            "example.com/v1 Widget (gadgets) is not registered here: /");
  EXPECT_EQ(with(R"("apiVersion":"example.com/v1")", R"("apiVersion":"example.com/v2")"),
            Json("the review is about example.com/v1 Widget, but the object in it is example.com/v2 Widget"));
  EXPECT_EQ(with(R"("object":)", R"("oldObject":{"apiVersion":"example.com/v1","kind":"Gadget"},"object":)"),
            Json("the review is about example.com/v1 Widget, but the object in it is example.com/v1 Gadget"));
}

TEST(Decide, WhatIsNoReviewIsMalformed) {
  EXPECT_EQ(answer(kWidgets, "{"),
            "400 malformed the review cannot be read: not valid JSON: Missing a name for object member (line 1, column "
            "2)\n");
}

std::string conversion(std::string_view from, std::string_view to, std::string_view what = "") {
  return fmt::format(
      R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"u-2",)"
      R"("desiredAPIVersion":"{}","objects":[{{"apiVersion":"{}","kind":"Widget","spec":{{"do":"{}"}}}}]}}}})",
      to, from, what);
}

std::string converted_with(std::string_view rest) {
  return R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"u-2",)" +
         std::string(rest) + "}}";
}

TEST(Decide, ObjectsAreConverted) {
  EXPECT_EQ(answer("/convert", conversion("example.com/v1", "example.com/v2")),
            "200 allowed " + converted_with(R"("result":{"status":"Success"},"convertedObjects":)"
                                            R"([{"apiVersion":"example.com/v2","kind":"Widget","spec":{"do":""}}])"));
}

TEST(Decide, AConversionThatCannotBeMadeSaysWhy) {
  auto failed = [](std::string_view message) {
    return "200 failed " + converted_with(fmt::format(R"("result":{{"status":"Failure","message":"{}"}})", message));
  };
  EXPECT_EQ(answer("/convert", conversion("example.com/v1", "example.com/v3")),
            failed("example.com/v3 Widget is not converted here: its versions are v1, v2"));
  EXPECT_EQ(answer("/convert", conversion("other.com/v1", "example.com/v2")),
            failed("other.com/v1 Widget is not converted here"));
  EXPECT_EQ(answer("/convert", conversion("example.com/v1", "example.com/v2", "throw")),
            failed("the conversion failed: no such field"));
}

TEST(Decide, WhatAConversionMakesMustBeOfTheDesiredVersion) {
  PolicySet set = widget_set();
  set.conversions.front().convert = [](const Json& object, const std::string&) -> Result<Json> { return object; };
  Routes routes = Routes::make(std::move(set)).value();
  Verdict verdict = decide(*routes.find("/convert"), conversion("example.com/v1", "example.com/v2"));
  EXPECT_EQ(verdict.facts.cause, "the conversion of example.com/v1 Widget to example.com/v2 made something else of it");
}

TEST(Decide, TheLogSaysWhatThePolicySaidButNotAboutASecret) {
  struct Strict : Policy {
    Result<Decision> validate_create(const Request&) const override {
      Decision no = deny("data.password must not be \"hunter2\"\nand more");
      no.warnings = {"data.token \"x\" is immutable"};
      return no;
    }
  };
  auto facts = [](std::string group, std::string kind, std::string resource) {
    Registration registration{.kind = {group, "v1", kind},
                              .resource = resource,
                              .policy = std::make_shared<Strict>(),
                              .earlier_paths = {"/v"}};
    Routes routes = Routes::make({.name = "x", .registrations = {registration}, .conversions = {}}).value();
    return decide(
               *routes.find("/v"),
               fmt::format(
                   R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE",)"
                   R"("kind":{{"group":"{0}","version":"v1","kind":"{1}"}},"resource":{{"group":"{0}","version":"v1",)"
                   R"("resource":"{2}"}},"object":{{}}}}}})",
                   group, kind, resource))
        .facts;
  };
  ReviewFacts widget = facts("example.com", "Widget", "widgets");
  EXPECT_THAT(widget.cause, testing::StartsWith("data.password must not be \"hunter2\""));
  EXPECT_THAT(widget.warnings, testing::ElementsAre("data.token \"x\" is immutable"));
  ReviewFacts secret = facts("", "Secret", "secrets");
  EXPECT_EQ(secret.decided, Decided::denied);
  EXPECT_EQ(secret.cause, "not shown: it may have contents of the Secret");
  EXPECT_THAT(secret.warnings, testing::ElementsAre("not shown: it may have contents of the Secret"));
}

}  // namespace
}  // namespace fairlead::webhook
