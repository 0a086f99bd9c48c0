#include "admission/review.h"

#include "admission/admission_testing.h"
#include "admission/internal/status.h"
#include "admission/warnings.h"

namespace fairlead::admission {
namespace {

// Each line is what a webhook answers, and what the API server of Kubernetes 1.37 makes of it.
TEST(Review, ReadsAnswersAsTheApiServerDoes) {
  std::vector<Json> cases = fixture("admission_answers.jsonl");
  EXPECT_GT(cases.size(), 200U);
  for (const Json& entry : cases) {
    const Json& answer = entry["answer"];
    std::expected<Response, std::string> got =
        read_answer(entry["beta"].bool_or(false) ? ReviewVersion::v1beta1 : ReviewVersion::v1, "u",
                    entry["mutating"].bool_or(false),
                    {.http = static_cast<int>(answer["http"].int_or(0)),
                     .content_type = std::string(answer["contentType"].string_or("")),
                     .body = std::string(answer["body"].string_or(""))});
    if (entry.contains("tail")) {
      ASSERT_FALSE(got) << entry.dump();
      EXPECT_EQ(got.error(), entry["tail"].string_or("")) << entry.dump();
      continue;
    }
    ASSERT_TRUE(got) << entry.dump() << "\n" << got.error();
    const Json& wanted = entry["response"];
    EXPECT_EQ(got->allowed, wanted["allowed"].bool_or(false)) << entry.dump();
    EXPECT_EQ(Json::Array(got->warnings.begin(), got->warnings.end()), wanted["warnings"].items()) << entry.dump();
    EXPECT_EQ(got->patch, wanted["patch"].string_or("")) << entry.dump();
    EXPECT_EQ(got->patch_type, wanted["patchType"].string_or("")) << entry.dump();
    EXPECT_EQ(got->audit_annotations.size(), wanted["auditAnnotations"].members().size()) << entry.dump();
    for (const auto& [key, value] : got->audit_annotations)
      EXPECT_EQ(value, wanted["auditAnnotations"][key].string_or("")) << entry.dump();
    if (got->allowed) continue;
    Json denial = denial_status("w", got->status);
    EXPECT_EQ(denial["kind"].string_or(""), "Status");
    denial.if_object()->erase("kind");
    denial.if_object()->erase("apiVersion");
    EXPECT_TRUE(denial.same_as(wanted["denial"])) << entry.dump() << "\n" << denial.dump();
  }
}

TEST(Review, WritesTheRequest) {
  Attributes attributes = config_map();
  attributes.user.uid = "7";
  attributes.user.extra = parsed(R"({"scopes":["a"]})");
  attributes.dry_run = true;
  Target target{.rule = 0, .resource = attributes.resource, .kind = attributes.kind};
  Json review = review_request(ReviewVersion::v1, "uid-1", attributes, target, attributes.object, Json());
  EXPECT_EQ(review.pretty(), R"({
  "kind": "AdmissionReview",
  "apiVersion": "admission.k8s.io/v1",
  "request": {
    "uid": "uid-1",
    "kind": {
      "group": "",
      "version": "v1",
      "kind": "ConfigMap"
    },
    "resource": {
      "group": "",
      "version": "v1",
      "resource": "configmaps"
    },
    "requestKind": {
      "group": "",
      "version": "v1",
      "kind": "ConfigMap"
    },
    "requestResource": {
      "group": "",
      "version": "v1",
      "resource": "configmaps"
    },
    "name": "x",
    "namespace": "team",
    "operation": "CREATE",
    "userInfo": {
      "username": "jane",
      "uid": "7",
      "groups": [
        "dev",
        "system:authenticated"
      ],
      "extra": {
        "scopes": [
          "a"
        ]
      }
    },
    "object": {
      "metadata": {
        "name": "x",
        "namespace": "team"
      },
      "apiVersion": "v1",
      "kind": "ConfigMap"
    },
    "oldObject": null,
    "dryRun": true,
    "options": {
      "kind": "CreateOptions",
      "apiVersion": "meta.k8s.io/v1",
      "fieldManager": "test"
    }
  }
}
)");
  attributes.subresource = "status";
  review = review_request(ReviewVersion::v1beta1, "uid-1", attributes, target, attributes.object, Json());
  EXPECT_EQ(review["apiVersion"].string_or(""), "admission.k8s.io/v1beta1");
  EXPECT_EQ(review["request"]["subResource"].string_or(""), "status");
  EXPECT_EQ(review["request"]["requestSubResource"].string_or(""), "status");
}

TEST(Review, SpeaksTheFirstVersionThatTheWebhookNames) {
  EXPECT_EQ(choose_version({"v2", "v1beta1", "v1"}), ReviewVersion::v1beta1);
  EXPECT_EQ(choose_version({"v1", "v1beta1"}), ReviewVersion::v1);
  EXPECT_EQ(choose_version({"v2"}), std::nullopt);
  EXPECT_EQ(choose_version({}), std::nullopt);
}

TEST(Warnings, AreCutOnceTheyAreTooLong) {
  Warnings warnings;
  for (std::string_view text : {"a", "", "a", "line\nbreak", "bad \xff", "b\x7f", "\u0085", "ü\"\\"})
    warnings.add(text);
  EXPECT_EQ(warnings.texts(), (std::vector<std::string>{"a", "ü\"\\"}));
  EXPECT_EQ(Warnings::header("ü\"\\"), "299 - \"ü\\\"\\\\\"");

  // 4096 characters fit; with one more, all are cut, on the border of a character.
  Warnings many;
  for (char c : {'a', 'b', 'c', 'd'}) many.add(std::string(1023, c));
  many.add("1234");
  EXPECT_EQ(many.texts()[0].size(), 1023U);
  std::string umlauts;
  for (int i = 0; i < 300; ++i) umlauts += "ü";
  many.add(umlauts);
  ASSERT_EQ(many.texts().size(), 6U);
  EXPECT_EQ(many.texts()[0], std::string(256, 'a'));
  EXPECT_EQ(many.texts()[4], "1234");
  EXPECT_EQ(many.texts()[5], umlauts.substr(0, 512));
  for (int i = 0; i < 100; ++i) many.add(std::to_string(i) + std::string(300, 'z'));
  size_t written = 0;
  for (const std::string& text : many.texts()) written += text == umlauts.substr(0, 512) ? 256 : text.size();
  EXPECT_GE(written, 4096U);
  EXPECT_LT(written, 4096U + 256U);
}

}  // namespace
}  // namespace fairlead::admission
