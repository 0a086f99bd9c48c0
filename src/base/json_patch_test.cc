#include "base/json_patch.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fairlead {
namespace {

// Each line is a patch and what the API server of Kubernetes 1.37 makes of it.
TEST(JsonPatch, DoesWhatTheApiServerDoes) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/json_patch.jsonl");
  std::string line;
  Json document;
  int cases = 0;
  while (std::getline(in, line)) {
    Result<Json> entry = Json::parse(line);
    ASSERT_TRUE(entry) << line;
    if (entry->contains("document")) {
      document = (*entry)["document"];
      continue;
    }
    ++cases;
    Result<Json> got = entry->contains("merge") ? apply_merge_patch(document, (*entry)["merge"])
                                                : apply_json_patch(document, (*entry)["patch"]);
    if (entry->contains("error")) {
      ASSERT_FALSE(got) << line << "\n" << got->dump();
      EXPECT_EQ(got.error().what(), (*entry)["error"].string_or("")) << line;
    } else {
      ASSERT_TRUE(got) << line << "\n" << got.error().what();
      EXPECT_TRUE(got->same_as((*entry)["result"])) << line << "\n" << got->dump();
    }
  }
  EXPECT_GT(cases, 350);
}

Json parsed(std::string_view text) { return *Json::parse(text); }

TEST(JsonPatch, KeepsTheOrderOfMembers) {
  Json patch = parsed(R"([{"op":"replace","path":"/b","value":0},{"op":"add","path":"/d","value":4},
                          {"op":"remove","path":"/a"}])");
  EXPECT_EQ(apply_json_patch(parsed(R"({"c":1,"b":2,"a":3})"), patch)->dump(), R"({"c":1,"b":0,"d":4})");
  EXPECT_EQ(apply_merge_patch(parsed(R"({"c":1,"b":2,"a":3})"), parsed(R"({"d":4,"c":null,"b":0})"))->dump(),
            R"({"b":0,"a":3,"d":4})");
}

TEST(JsonPatch, IsBounded) {
  Json::Array deeper;
  std::string path = "/a";
  for (int i = 0; i < 300; ++i) {
    deeper.push_back(Json::Object{{"op", "add"}, {"path", path}, {"value", Json::Object()}});
    path += "/a";
  }
  Result<Json> deep = apply_json_patch(Json::Object(), deeper);
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().kind(), ErrorKind::limit);
  EXPECT_TRUE(deep.error().what().ends_with(": the patch nests deeper than is allowed")) << deep.error().what();

  Json large = Json::Object{{"a", std::string(1 << 20, 'x')}};
  Json::Array copies;
  for (int i = 0; i < 4; ++i)
    copies.push_back(Json::Object{{"op", "copy"}, {"from", "/a"}, {"path", "/" + std::to_string(i)}});
  Result<Json> copied = apply_json_patch(large, copies);
  ASSERT_FALSE(copied);
  EXPECT_EQ(
      copied.error().what(),
      "Unable to complete the copy, the accumulated size increase of copy is 3145734, exceeding the limit 3145728");

  Json::Array front(20'000, parsed(R"({"op":"add","path":"/l/0","value":1})"));
  Result<Json> moved = apply_json_patch(parsed(R"({"l":[]})"), front);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().kind(), ErrorKind::limit);
  EXPECT_EQ(moved.error().what(), "error in add for path: '/l/0': the patch takes more work than is done for one");
}

TEST(JsonPatch, TellsWhatIsNoPatch) {
  EXPECT_TRUE(check_json_patch(parsed("[]")));
  EXPECT_TRUE(check_json_patch(parsed("null")));
  EXPECT_EQ(check_json_patch(parsed("{}")).error().what(),
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  EXPECT_EQ(check_json_patch(parsed("[1]")).error().what(),
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation");
}

}  // namespace
}  // namespace fairlead
