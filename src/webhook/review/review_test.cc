#include "webhook/review/review.h"

#include <gtest/gtest.h>

#include "admission/warnings.h"
#include "base/base64.h"
#include "base/json_diff.h"

namespace fairlead::webhook {
namespace {

constexpr std::string_view kReview = R"({
  "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
  "request": {
    "uid": "u-1", "operation": "UPDATE", "dryRun": true, "subResource": "status",
    "kind": {"group": "example.com", "version": "v1", "kind": "Widget"},
    "resource": {"group": "example.com", "version": "v1", "resource": "widgets"},
    "namespace": "team", "name": "w",
    "userInfo": {"username": "jane", "uid": "7", "groups": ["a", "b"], "extra": {"scopes": ["x"]}},
    "object": {"spec": {"size": 2}}, "oldObject": {"spec": {"size": 1}},
    "options": {"kind": "UpdateOptions", "fieldManager": "helm"}
  }
})";

std::string error_of(std::string_view body) { return read_admission_review(body).error().message(); }

// The review with `was` replaced.
std::string error_with(std::string_view was, std::string_view now) {
  std::string body(kReview);
  body.replace(body.find(was), was.size(), now);
  return error_of(body);
}

AdmissionReview review() { return read_admission_review(kReview).value(); }

TEST(Review, IsReadAsAWhole) {
  AdmissionReview got = review();
  EXPECT_EQ(got.version, admission::ReviewVersion::v1);
  const Request& request = got.request;
  EXPECT_EQ(request.uid, "u-1");
  EXPECT_EQ(request.operation, admission::Operation::update);
  EXPECT_EQ(request.kind, (admission::GroupVersionKind{"example.com", "v1", "Widget"}));
  EXPECT_EQ(request.resource, (admission::GroupVersionResource{"example.com", "v1", "widgets"}));
  EXPECT_EQ(request.subresource, "status");
  EXPECT_EQ(request.ns + "/" + request.name, "team/w");
  EXPECT_EQ(request.user.name + request.user.uid, "jane7");
  EXPECT_EQ(request.user.groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.user.extra.dump(), R"({"scopes":["x"]})");
  EXPECT_EQ(request.object.dump(), R"({"spec":{"size":2}})");
  EXPECT_EQ(request.old_object.dump(), R"({"spec":{"size":1}})");
  EXPECT_TRUE(request.dry_run);
  EXPECT_EQ(request.options["fieldManager"].string_or(""), "helm");
}

TEST(Review, ADryRunSaysSo) {
  for (std::string_view none : {R"("dryRun": false)", R"("dryRun": null)", R"("x": true)"}) {
    std::string body(kReview);
    body.replace(body.find(R"("dryRun": true)"), 14, none);
    EXPECT_FALSE(read_admission_review(body).value().request.dry_run) << none;
  }
}

TEST(Review, TheOlderVersionIsSpokenToo) {
  std::string body(kReview);
  body.replace(body.find("k8s.io/v1"), 9, "k8s.io/v1beta1");
  AdmissionReview older = read_admission_review(body).value();
  EXPECT_EQ(older.version, admission::ReviewVersion::v1beta1);
  EXPECT_EQ(
      write_admission_answer(older, allow()),
      R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true}})");
}

TEST(Review, AnErrorSaysWhatIsWrong) {
  EXPECT_EQ(error_of(""), "the review cannot be read: not valid JSON: there is nothing in it (line 1, column 1)");
  EXPECT_EQ(error_of(R"({"a":{"hun\"ter2":1,"hun\"ter2":2}})"),
            "the review cannot be read: not valid JSON: a key comes twice in one object (line 1, column 34)");
  EXPECT_EQ(error_of("[]"), "the review must be a JSON object");
  EXPECT_EQ(error_of("{}"),
            "expected AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1, but apiVersion is none and "
            "kind is none");
  EXPECT_EQ(error_with("k8s.io/v1", "k8s.io/v2\\u001b"),
            "expected AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1, but apiVersion is "
            "\"admission.k8s.io/v2\\x1b\" and kind is \"AdmissionReview\"");
  EXPECT_EQ(error_with("\"u-1\"", "7"), "request.uid must be a string, and is a number");
  EXPECT_EQ(error_with("u-1", ""), "request.uid is missing");
  EXPECT_EQ(error_with("u-1", std::string(257, 'u')), "request.uid has more than 256 bytes");
  EXPECT_EQ(error_with("UPDATE", "update"),
            "request.operation must be CREATE, UPDATE, DELETE or CONNECT, and is \"update\"");
  EXPECT_EQ(error_with("\"example.com\"", "[]"), "request.kind.group must be a string, and is a list");
  EXPECT_EQ(error_with("\"widgets\"", "true"), "request.resource.resource must be a string, and is a boolean");
  EXPECT_EQ(error_with("[\"a\", \"b\"]", "{}"), "request.userInfo.groups must be a list, and is an object");
  EXPECT_EQ(error_with("[\"a\", \"b\"]", "[1]"), "request.userInfo.groups must be a list of strings, and is a number");
  EXPECT_EQ(error_with("{\"spec\": {\"size\": 2}}", "\"x\""), "request.object must be an object, and is a string");
  EXPECT_EQ(error_with("{\"spec\": {\"size\": 2}}", "null"), "request.object is missing in a review of UPDATE");
  EXPECT_EQ(error_with("{\"spec\": {\"size\": 1}}", "null"), "request.oldObject is missing in a review of UPDATE");
  EXPECT_EQ(error_with("\"dryRun\": true", "\"dryRun\": 1"), "request.dryRun must be a boolean, and is a number");
  EXPECT_EQ(error_of(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})"), "request is missing");
}

TEST(Review, TooManyValuesAreALimit) {
  std::string body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[)";
  for (size_t i = 0; i < kMaxValues; ++i) body += "1,";
  Result<AdmissionReview> got = read_admission_review(body + "1]}");
  EXPECT_EQ(got.error().kind(), ErrorKind::limit);
}

TEST(Answer, ADenialHasItsCodeAndMessage) {
  Decision decision = deny("spec.size must not grow\x1b[31m");
  decision.warnings = {"mind\nthe gap"};
  decision.audit_annotations = {{"rule", "size"}};
  EXPECT_EQ(
      write_admission_answer(review(), decision),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":false,)"
      R"("status":{"status":"Failure","code":403,"message":"spec.size must not grow\\x1b[31m","reason":"Forbidden"},)"
      R"("warnings":["mind the gap"],"auditAnnotations":{"rule":"size"}}})");
  decision.code = 429;
  decision.retry_after_seconds = 7;
  EXPECT_NE(write_admission_answer(review(), decision)
                .find(R"("reason":"TooManyRequests","details":{"retryAfterSeconds":7}})"),
            std::string::npos);
  decision.code = 200;
  EXPECT_NE(write_admission_answer(review(), decision).find(R"("code":400)"), std::string::npos);
}

TEST(Answer, TheDifferenceOfTheObjectsIsItsPatch) {
  AdmissionReview of = review();
  Json patch = json_patch_between(of.request.object, Json::parse(R"({"spec":{"size":3}})").value());
  std::string encoded = to_base64(R"([{"op":"replace","path":"/spec/size","value":3}])");
  EXPECT_EQ(write_admission_answer(of, allow(), patch),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true,)"
            R"("patch":")" +
                encoded + R"(","patchType":"JSONPatch"}})");
  EXPECT_EQ(write_admission_answer(of, allow(), Json::Array{}), write_admission_answer(of, allow()));
}

TEST(Answer, TheApiServerKeepsEveryWarning) {
  std::vector<std::string> cleaned =
      clean_warnings({"a\nb", "", "esc\x1b[0m", "bad\xff", "\xc2\x85next line", "a b", "plain ✓"});
  EXPECT_EQ(cleaned, (std::vector<std::string>{"a b", "esc\\x1b[0m", "bad\\xff", "\\u0085next line", "plain ✓"}));
  admission::Warnings kept;
  for (const std::string& warning : cleaned) kept.add(warning);
  EXPECT_EQ(kept.texts(), cleaned);
}

constexpr std::string_view kConversion =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-2",)"
    R"("desiredAPIVersion":"example.com/v2","objects":[{"apiVersion":"example.com/v1","kind":"Widget"}]}})";

TEST(Conversion, IsReadAndAnswered) {
  ConversionReview got = read_conversion_review(kConversion).value();
  EXPECT_EQ(got.desired_api_version, "example.com/v2");
  ASSERT_EQ(got.objects.size(), 1U);
  EXPECT_EQ(write_conversion_answer(got, got.objects),
            R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"u-2",)"
            R"("result":{"status":"Success"},"convertedObjects":[{"apiVersion":"example.com/v1","kind":"Widget"}]}})");
  EXPECT_EQ(write_conversion_answer(got, fail(ErrorKind::invalid, "no way")),
            R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"u-2",)"
            R"("result":{"status":"Failure","message":"no way"}}})");
}

TEST(Conversion, AnErrorSaysWhatIsWrong) {
  auto error_with_objects = [](std::string_view objects) {
    std::string body(kConversion);
    size_t at = body.find("[{");
    body.replace(at, body.find("}]") + 2 - at, objects);
    return read_conversion_review(body).error().message();
  };
  EXPECT_EQ(error_with_objects("null"), "request.objects must be a list, and is missing");
  EXPECT_EQ(error_with_objects("[{},7]"), "request.objects[1] must be an object, and is a number");
}

}  // namespace
}  // namespace fairlead::webhook
