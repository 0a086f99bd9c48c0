#include "pulumi/value/struct.h"

#include <gtest/gtest.h>

#include "pulumi/value/envelope.h"

namespace fairlead::pulumi {
namespace {

Json json(std::string_view text) { return Json::parse(text).value(); }

Json there_and_back(const Json& value) { return read_struct(struct_message(value).out()).value(); }

TEST(Struct, WhatIsWrittenIsRead) {
  Json value = json(R"({"a":null,"b":false,"c":0,"d":-1.5,"e":"","f":[],"g":{},"h":[1,[true],{"x":"y\u0001"}]})");
  EXPECT_EQ(there_and_back(value).dump(), value.dump());
}

TEST(Struct, MembersAreSorted) {
  EXPECT_EQ(there_and_back(json(R"({"b":1,"a":{"d":2,"c":3}})")).dump(), R"({"a":{"c":3,"d":2},"b":1})");
}

TEST(Struct, NumbersAreIntegersAsFarAsADoubleHoldsThem) {
  EXPECT_EQ(there_and_back(json(R"({"a":3.0,"b":9007199254740992,"c":1e300})")).dump(),
            R"({"a":3,"b":9007199254740992,"c":1e+300})");
}

TEST(Struct, WhatIsNestedTooDeepIsRefused) {
  Json deep = Json::Object{{"x", 1}};
  for (int i = 0; i < 200; ++i) deep = Json::Object{{"x", std::move(deep)}};
  Result<Json> read = read_struct(struct_message(deep).out());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "a value is nested more than 100 levels deep");
}

constexpr std::string_view kSignature = "4dabf18193072939515e22adb298388d";

Json marked(std::string_view signature, std::string_view rest) {
  Json value = json(rest);
  value.make(kSignature) = signature;
  return value;
}

TEST(Envelope, UnknownValuesAreFoundAtAnyDepth) {
  Json output = marked("d0e6a833031e9bbcd3f4e8bde6ca49a4", R"({"dependencies":[]})");
  EXPECT_TRUE(is_unknown(output));
  EXPECT_TRUE(is_unknown(Json("dd056dcd-154b-4c76-9bd3-c8f88648b5ff")));
  EXPECT_TRUE(has_unknowns(Json(Json::Object{{"a", Json::Array{Json(1), output}}})));
  EXPECT_FALSE(has_unknowns(json(R"({"a":["x",{"b":null}]})")));
  EXPECT_EQ(unwrapped(Json(Json::Array{output})).value(), Json(Json::Array{Json(kUnknown)}));
}

TEST(Envelope, SecretsAndOutputsAreUnwrapped) {
  Json output = marked("d0e6a833031e9bbcd3f4e8bde6ca49a4", R"({"value":{"a":1},"secret":true})");
  Json resource = marked("5cf8f73096256a8f31e491e813e4eb8e", R"({"urn":"urn:x","id":"i"})");
  Json value = Json::Object{{"s", secret("hunter2")}, {"o", output}, {"r", resource}};
  EXPECT_TRUE(has_secrets(value));
  EXPECT_EQ(unwrapped(value)->dump(), R"({"s":"hunter2","o":{"a":1},"r":"i"})");
  std::vector<std::string> found;
  each_secret(value, [&](std::string_view text) { found.emplace_back(text); });
  EXPECT_EQ(found, (std::vector<std::string>{"hunter2", "1"}));
}

TEST(Envelope, FilesAreRefused) {
  Result<Json> asset = unwrapped(marked("c44067f5952c0a294b673a41bacd8c17", R"({"text":"x"})"));
  ASSERT_FALSE(asset);
  EXPECT_EQ(asset.error().report(),
            "error: a file (an asset or an archive) cannot be a value here\n"
            "  next      read the file in the program, and pass its text\n");
}

}  // namespace
}  // namespace fairlead::pulumi
