#include "sandbox/wire/protobuf.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/base64.h"
#include "sandbox/wire/internal/protobuf_messages.h"

namespace fairlead::sandbox {
namespace {

using namespace std::string_literals;

// The wire format, written: just enough to say what a client could send.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += char(value | 0x80);
  return out + char(value);
}
std::string bytes_field(int number, std::string_view bytes) {
  return varint(uint64_t(number) << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
std::string int_field(int number, uint64_t value) { return varint(uint64_t(number) << 3) + varint(value); }

std::string envelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
  return "k8s\0"s + bytes_field(1, bytes_field(1, api_version) + bytes_field(2, kind)) + bytes_field(2, raw);
}

std::string decoded(std::string_view api_version, std::string_view kind, std::string_view raw) {
  Result<Json> json = decode_protobuf(envelope(api_version, kind, raw));
  return json ? json->dump() : json.error().message();
}

TEST(Protobuf, EveryFieldOfEveryKind) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/protobuf.jsonl");
  int objects = 0;
  for (std::string line; std::getline(in, line); ++objects) {
    Result<Json> sample = Json::parse(line);
    ASSERT_TRUE(sample) << sample.error().message();
    Result<Json> json = decode_protobuf(from_base64((*sample)["protobuf"].string_or("")).value());
    ASSERT_TRUE(json) << (*sample)["json"]["kind"].dump() << ": " << json.error().message();
    EXPECT_TRUE(json->same_as((*sample)["json"])) << json->pretty() << "\nwanted\n" << (*sample)["json"].pretty();
  }
  EXPECT_GT(objects, 40);
}

TEST(Protobuf, EveryMessageOfTheTableIsThere) {
  const ProtobufMessage* volume = find_protobuf_message("core.v1.Volume");
  ASSERT_TRUE(volume);
  EXPECT_EQ(volume->fields[0].name, "name");
  EXPECT_EQ(volume->fields[1].name, "");
  EXPECT_EQ(volume->fields[1].message, find_protobuf_message("core.v1.VolumeSource"));
  EXPECT_EQ(find_protobuf_message("core.v1.Nothing"), nullptr);
}

TEST(Protobuf, TheSchemaOfADefinition) {
  std::string schema =
      bytes_field(8, bytes_field(1, R"({"a":[1]})")) +             // default
      bytes_field(24, bytes_field(2, bytes_field(5, "string"))) +  // items, a list of schemas
      bytes_field(29, bytes_field(1, "p") + bytes_field(2, bytes_field(24, bytes_field(1, "")))) +  // properties
      bytes_field(30, int_field(1, 1)) +                                            // additionalProperties
      bytes_field(32, bytes_field(1, "d") + bytes_field(2, bytes_field(2, "x"))) +  // dependencies
      int_field(38, 1);
  std::string version = bytes_field(4, bytes_field(1, schema));
  EXPECT_EQ(
      decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition", bytes_field(2, bytes_field(7, version))),
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{"versions":[{"schema":)"
      R"({"openAPIV3Schema":{"default":{"a":[1]},"items":[{"type":"string"}],"properties":{"p":{"items":{}}},)"
      R"("additionalProperties":true,"dependencies":{"d":["x"]},"x-kubernetes-preserve-unknown-fields":true}}}]}})");
}

TEST(Protobuf, AnOptionOfARequestBelongsToEveryGroup) {
  std::string raw = int_field(1, 0) + bytes_field(4, "Foreground");
  EXPECT_EQ(
      decoded("apps/v1", "DeleteOptions", raw),
      R"({"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0,"propagationPolicy":"Foreground"})");
}

TEST(Protobuf, ZerosNegativesAndTimes) {
  std::string meta = bytes_field(1, "") + int_field(7, uint64_t(-2)) + bytes_field(8, "") +
                     bytes_field(9, int_field(1, 0) + int_field(2, 0));
  EXPECT_EQ(decoded("v1", "ConfigMap", bytes_field(1, meta)),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"","generation":-2,"creationTimestamp":null,)"
            R"("deletionTimestamp":"1970-01-01T00:00:00Z"}})");
}

TEST(Protobuf, MapsAreInOrderAndTheLastOfAKeyCounts) {
  auto entry = [](std::string_view key, std::string_view value) {
    return bytes_field(2, bytes_field(1, key) + bytes_field(2, value));
  };
  EXPECT_EQ(decoded("v1", "ConfigMap", entry("b", "1") + entry("a", "2") + entry("b", "3") + bytes_field(2, "")),
            R"({"kind":"ConfigMap","apiVersion":"v1","data":{"":"","a":"2","b":"3"}})");
}

TEST(Protobuf, NumbersMayComePacked) {
  std::string groups = int_field(4, 7) + bytes_field(4, varint(300) + varint(2));
  EXPECT_EQ(decoded("v1", "Pod", bytes_field(2, bytes_field(14, groups))),
            R"({"kind":"Pod","apiVersion":"v1","spec":{"securityContext":{"supplementalGroups":[7,300,2]}}})");
}

TEST(Protobuf, FieldsThatNobodyKnowsArePassedOver) {
  std::string raw = int_field(999, 7) + bytes_field(1000, "x") + varint(1001 << 3 | 5) + "abcd" + int_field(4, 1);
  EXPECT_EQ(decoded("v1", "ConfigMap", raw), R"({"kind":"ConfigMap","apiVersion":"v1","immutable":true})");
}

TEST(Protobuf, FlawsInTheWordsOfTheRealDecoder) {
  auto flaw = [](std::string_view body) { return decode_protobuf(body).error().message(); };
  EXPECT_EQ(flaw(""), "empty data");
  EXPECT_EQ(flaw("{}"), "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  EXPECT_EQ(flaw("k8s\0"s), "empty body");
  EXPECT_EQ(flaw("k8s\0\x0a\x7f"s), "unexpected EOF");
  EXPECT_EQ(flaw("k8s\0\x08\x01"s), "proto: wrong wireType = 0 for field TypeMeta");
  EXPECT_EQ(flaw("k8s\0\x02"s), "proto: Unknown: illegal tag 0 (wire type 2)");
  EXPECT_EQ(flaw("k8s\0"s + std::string(11, '\xff')), "proto: integer overflow");
  EXPECT_EQ(decoded("v1", "ConfigMap", int_field(1, 1)),
            "ConfigMap in version \"v1\": proto: wrong wireType = 0 for field ObjectMeta");
  EXPECT_EQ(decoded("v1", "ConfigMap", "\x0f"), "ConfigMap in version \"v1\": proto: illegal wireType 7");
  EXPECT_EQ(decoded("apps/v1", "Nothing", ""),
            "Nothing in version \"v1\": no kind \"Nothing\" is registered for version \"apps/v1\" in scheme "
            "\"pkg/runtime/scheme.go:111\"");
  // A part of a kind is no kind.
  EXPECT_EQ(decoded("v1", "ObjectReference", bytes_field(1, "x")),
            "ObjectReference in version \"v1\": no kind \"ObjectReference\" is registered for version \"v1\" in scheme "
            "\"pkg/runtime/scheme.go:111\"");
}

TEST(Protobuf, WhatIsBeyondItsLimits) {
  EXPECT_EQ(decoded("v1", "ConfigMap", int_field(4, 1) + int_field(4, 0)),
            "a field that comes twice: core.v1.ConfigMap.immutable");
  EXPECT_EQ(decoded("v1", "ConfigMap", bytes_field(1, bytes_field(1, "\xff"))), "text that is no UTF-8");
  EXPECT_EQ(decoded("v1", "ConfigMap", bytes_field(1, bytes_field(8, int_field(1, uint64_t{1} << 62)))),
            "a time outside of the years 1 to 9999");
  EXPECT_EQ(decoded("v1", "ConfigMap", "\x0b"), "a group in protobuf");
  std::string schema;
  for (int i = 0; i < 100; ++i) schema = bytes_field(28, schema);
  std::string version = bytes_field(4, bytes_field(1, schema));
  EXPECT_EQ(decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition", bytes_field(2, bytes_field(7, version))),
            "a value that is deeper than 64 messages");
}

}  // namespace
}  // namespace fairlead::sandbox
