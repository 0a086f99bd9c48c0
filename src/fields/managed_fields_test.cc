#include "fields/managed_fields.h"

#include <gtest/gtest.h>

namespace fairlead::fields {
namespace {

Json json(std::string_view text) {
  Result<Json> parsed = Json::parse(text);
  EXPECT_TRUE(parsed.has_value());
  return parsed ? *parsed : Json();
}

std::string problem(std::string_view text) {
  auto entries = parse_managed_fields(json(text));
  return entries ? "no error" : entries.error().message();
}

TEST(ManagedFields, IsWrittenAsTheServerWritesIt) {
  std::string text =
      R"([{"manager":"a","operation":"Apply","apiVersion":"v1","time":"2026-11-15T15:45:28Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}},)"
      R"({"manager":"b","operation":"Update","apiVersion":"apps/v1","time":"2026-11-15T15:45:27Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}},"subresource":"status"}])";
  auto entries = parse_managed_fields(json(text));
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ((*entries)[0].identity(), R"({"manager":"a","operation":"Apply"})");
  EXPECT_EQ((*entries)[1].identity(),
            R"({"manager":"b","operation":"Update","apiVersion":"apps/v1","subresource":"status"})");
  std::swap((*entries)[0], (*entries)[1]);
  EXPECT_EQ(dump_managed_fields(*entries).dump(), text);
}

TEST(ManagedFields, AreSortedByOperationThenTimeThenName) {
  auto entry = [](std::string manager, Operation operation, int seconds) {
    return ManagedEntry{
        std::move(manager), operation, "v1", "", std::chrono::sys_seconds(std::chrono::seconds(seconds)), {}};
  };
  Json list = dump_managed_fields({entry("d", Operation::update, 1), entry("c", Operation::apply, 2),
                                   entry("b", Operation::apply, 1), entry("a", Operation::apply, 2)});
  std::string order;
  for (const Json& one : list.items()) order += one["manager"].string_or("");
  EXPECT_EQ(order, "bacd");
}

TEST(ManagedFields, RefusesWhatTheServerRefuses) {
  EXPECT_EQ(problem("null"), "no error");
  EXPECT_EQ(problem("{}"), "managedFields is object, not array");
  EXPECT_EQ(problem(R"([{"operation":"Delete"}])"), "operation must be `Apply` or `Update`");
  EXPECT_EQ(problem(R"([{"operation":"Apply"}])"), "apiVersion must not be empty");
  EXPECT_EQ(problem(R"([{"operation":"Apply","apiVersion":"v1"}])"), "missing fieldsType in managed fields entry 0");
  EXPECT_EQ(problem(R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"V2"}])"),
            R"(invalid fieldsType "V2" in managed fields entry 0)");
  EXPECT_EQ(problem(R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","time":"noon"}])"),
            "the time of managed fields entry 0 is no time");
  EXPECT_EQ(problem(R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":7}}])"),
            "fieldsV1 cannot be read: below .a: a level of fieldsV1 is integer, not object");
}

TEST(ManagedFields, ReadsTimesOfAnyOffset) {
  auto again = [](std::string_view text) {
    auto time = parse_time(text);
    return time ? dump_time(*time) : "no time";
  };
  EXPECT_EQ(again("2026-11-15T15:45:27Z"), "2026-11-15T15:45:27Z");
  EXPECT_EQ(again("2026-11-15T15:45:27.123456Z"), "2026-11-15T15:45:27Z");
  EXPECT_EQ(again("2026-01-01T00:30:00+01:00"), "2025-12-31T23:30:00Z");
  EXPECT_EQ(again("2024-02-29T00:00:00-00:30"), "2024-02-29T00:30:00Z");
  for (std::string_view text :
       {"", "2026-11-15", "2026-13-15T15:45:27Z", "2026-02-30T15:45:27Z", "2026-11-15T25:45:27Z", "2026-11-15T15:45:27",
        "2026-11-15T15:45:27.Z", "2026-11-15T15:45:27+1:00", "2026-11-1-T15:45:27Z"})
    EXPECT_EQ(again(text), "no time") << text;
}

}  // namespace
}  // namespace fairlead::fields
