// Says of an object what tests/record_validation.py has heard a real API server say.
#include <gtest/gtest.h>

#include <fstream>

#include "schema/defaults/stored.h"
#include "schema/types/builtin.h"
#include "schema/types/custom.h"
#include "schema/validation/decode.h"
#include "schema/validation/structural.h"

namespace fairlead::schema {
namespace {

std::vector<std::string> texts_of(const std::vector<std::string>& unknown) {
  std::vector<std::string> texts;
  for (const std::string& path : unknown) texts.push_back(unknown_field(path));
  return texts;
}

std::optional<Refusal> judged_custom(const Json& schema, const Json& sent, Json& kept) {
  Pruned pruned = prune(schema, sent);
  if (!pruned.unknown.empty()) return cannot_be_handled("Gauge", "v1", strict_error(texts_of(pruned.unknown)));
  kept = with_structural_defaults(schema, stored_form(*custom_schema(schema), pruned.object));
  std::vector<Cause> causes = violations(schema, kept);
  if (causes.empty()) return std::nullopt;
  return invalid("validation.fairlead.dev", "Gauge", sent["metadata"]["name"].string_or(""), causes);
}

std::optional<Refusal> judged_builtin(const Json& sent) {
  std::string_view api_version = sent["apiVersion"].string_or(""), kind = sent["kind"].string_or("");
  SchemaPtr schema = api_version == "v1" ? builtin_schema("", "v1", kind) : builtin_schema("apps", "v1", kind);
  Decoding decoding = decode(*schema, sent);
  if (decoding.error) return cannot_be_handled(kind, "v1", *decoding.error);
  if (!decoding.unknown.empty()) return cannot_be_handled(kind, "v1", strict_error(texts_of(decoding.unknown)));
  return std::nullopt;
}

TEST(ValidationReplay, SaysWhatARealServerSaid) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/validation.jsonl");
  Json schema;
  size_t count = 0;
  for (std::string text; std::getline(in, text); ++count) {
    Result<Json> line = Json::parse(text);
    ASSERT_TRUE(line.has_value());
    if (line->contains("schema")) {
      schema = (*line)["schema"];
      continue;
    }
    const Json &sent = (*line)["sent"], &answer = (*line)["answer"];
    SCOPED_TRACE(sent.dump());
    Json kept;
    bool custom = sent["kind"].string_or("") == "Gauge";
    std::optional<Refusal> refusal = custom ? judged_custom(schema, sent, kept) : judged_builtin(sent);
    if ((*line)["code"].int_or(0) == 201) {
      EXPECT_FALSE(refusal) << refusal->message;
      if (!custom) continue;
      kept.make("metadata").make("namespace") = "default";
      EXPECT_TRUE(kept.same_as(answer)) << kept.pretty() << answer.pretty();
      continue;
    }
    ASSERT_TRUE(refusal) << answer["message"].string_or("");
    EXPECT_TRUE(refusal->status().same_as(answer)) << refusal->status().pretty() << answer.pretty();
  }
  EXPECT_GT(count, 90u);
}

}  // namespace
}  // namespace fairlead::schema
