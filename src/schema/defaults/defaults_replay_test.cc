// Fills in what tests/record_defaults.py has seen a real API server fill in.
#include <gtest/gtest.h>

#include <fstream>

#include "schema/defaults/defaults.h"
#include "schema/defaults/internal/default_rules.h"
#include "schema/defaults/stored.h"
#include "schema/types/builtin.h"

namespace fairlead::schema {
namespace {

struct Sample {
  Json sent, answer;
  std::vector<std::string> ignored;
  SchemaPtr schema;
};

SchemaPtr schema_of(const Json& object) {
  std::string_view api_version = object["apiVersion"].string_or("");
  size_t slash = api_version.find('/');
  std::string_view group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  return builtin_schema(group, api_version.substr(slash + 1), object["kind"].string_or(""));
}

std::vector<Sample> read_samples() {
  std::vector<Sample> out;
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/defaults.jsonl");
  for (std::string text; std::getline(in, text);) {
    Result<Json> line = Json::parse(text);
    EXPECT_TRUE(line.has_value());
    if (!line) break;
    Sample sample{(*line)["sent"], (*line)["answer"], {}, schema_of((*line)["sent"])};
    EXPECT_TRUE(sample.schema) << sample.sent.pretty();
    for (const Json& path : (*line)["ignore"].items()) sample.ignored.emplace_back(path.string_or(""));
    out.push_back(std::move(sample));
  }
  return out;
}

void remove(Json& value, std::string_view path) {
  if (Json::Array* list = value.if_array())
    for (Json& item : *list) remove(item, path);
  Json::Object* object = value.if_object();
  if (!object || object->erase(path)) return;
  for (Json::Member& member : *object)
    if (path.starts_with(member.key + ".")) remove(member.value, path.substr(member.key.size() + 1));
}

Json filled(const Sample& sample, const DefaultRules& rules) {
  Json ours = with_defaults(*sample.schema, stored_form(*sample.schema, sample.sent), rules);
  for (const std::string& path : sample.ignored) remove(ours, path);
  if (sample.answer["metadata"].contains("namespace")) ours.make("metadata").make("namespace") = "default";
  return ours;
}

TEST(DefaultsReplay, FillsInWhatARealServerDid) {
  std::vector<Sample> samples = read_samples();
  ASSERT_GT(samples.size(), 50u);
  for (const Sample& sample : samples) {
    Json ours = filled(sample, DefaultRules::builtin());
    EXPECT_TRUE(ours.same_as(sample.answer))
        << "sent " << sample.sent.pretty() << "ours " << ours.pretty() << "theirs " << sample.answer.pretty();
  }
}

TEST(DefaultsReplay, ADefaultedObjectStaysAsItIs) {
  for (const Sample& sample : read_samples()) {
    Sample again{sample.answer, sample.answer, sample.ignored, sample.schema};
    EXPECT_TRUE(filled(again, DefaultRules::builtin()).same_as(sample.answer)) << sample.answer.pretty();
  }
}

// A rule that can go without any recorded object noticing is a rule that nobody has tried.
TEST(DefaultsReplay, EveryRuleIsNeeded) {
  std::vector<Sample> samples = read_samples();
  for (Sample& sample : samples) sample.answer = filled(sample, DefaultRules::builtin());
  std::vector<std::string_view> idle;
  for (size_t start = 0, end; start < kDefaultRules.size(); start = end + 1) {
    end = kDefaultRules.find('\n', start);
    std::string_view line = kDefaultRules.substr(start, end - start);
    if (!line.starts_with(' ')) continue;
    DefaultRules without(std::string(kDefaultRules.substr(0, start)) + std::string(kDefaultRules.substr(end + 1)));
    bool needed = false;
    for (const Sample& sample : samples) needed = needed || !filled(sample, without).same_as(sample.answer);
    if (!needed) idle.push_back(line);
  }
  EXPECT_TRUE(idle.empty()) << fmt::format("{}", fmt::join(idle, "\n"));
}

}  // namespace
}  // namespace fairlead::schema
