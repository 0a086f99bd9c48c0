#include "readiness/closer_look.h"

#include <gmock/gmock.h>

#include "base/timestamp.h"
#include "sandbox/sandbox.h"

namespace fairlead::readiness {
namespace {

using testing::ElementsAre;

Json event(std::string_view type, std::string_view reason, std::string_view message, std::string_view time,
           int64_t count = 1) {
  return Json::Object{
      {"type", type}, {"reason", reason}, {"message", message}, {"lastTimestamp", time}, {"count", count}};
}

TEST(Warnings, AreTheNewestEachOnce) {
  WallTime since = *parse_timestamp("2026-05-04T10:00:00Z");
  EXPECT_THAT(
      warnings_in({event("Warning", "Old", "from before", "2026-05-04T09:00:00Z"),
                   event("Normal", "Pulled", "all is well", "2026-05-04T10:00:05Z"),
                   event("Warning", "A", "first", "2026-05-04T10:00:01Z"),
                   event("Warning", "A", "first", "2026-05-04T10:00:01Z"),
                   event("Warning", "B", "two\nlines", "2026-05-04T10:00:03Z", 5),
                   event("Warning", "C", "third", "2026-05-04T10:00:02Z"),
                   event("Warning", "D", "fourth", "2026-05-04T10:00:00Z"), event("Warning", "E", "no time", "")},
                  since),
      ElementsAre("B: two lines (5 times)", "C: third", "A: first"));
}

TEST(LastLines, AreTenAtMostAndNotTooLong) {
  std::string log;
  for (int i = 0; i < 20; ++i) log += fmt::format("line {}\n", i);
  EXPECT_EQ(last_lines(log).size(), 10U);
  EXPECT_EQ(last_lines(log).front(), "line 10");
  EXPECT_EQ(last_lines(std::string(5000, 'x')).front().size(), 500U);
  EXPECT_TRUE(last_lines("").empty());
}

TEST(CloserLook, TheEventsOfAnObjectWithoutNamespaceAreFound) {
  VirtualLoop loop;
  sandbox::Sandbox sandbox(loop, {});
  kube::Client client(loop, sandbox.api_server(), nullptr, {});
  object::Resource events{.group = "", .version = "v1", .kind = "Event", .plural = "events", .namespaced = true};
  Json warning = event("Warning", "FailedDelete", "the disk is in use", "2026-05-04T10:00:00Z");
  warning.make("apiVersion") = "v1";
  warning.make("kind") = "Event";
  warning.make("metadata").make("name") = "pv.1";
  warning.make("involvedObject") = Json::Object{{"kind", "PersistentVolume"}, {"name", "pv"}, {"uid", "u1"}};
  ASSERT_TRUE(loop.run(client.create(events, "default", warning)));
  Json volume(Json::Object{{"metadata", Json::Object{{"name", "pv"}, {"uid", "u1"}}}});
  object::Key key{.group = "", .kind = "PersistentVolume", .ns = "", .name = "pv"};
  std::vector<journal::Finding> found = loop.run(look_closer(client, {.key = key, .object = volume}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "events");
  EXPECT_EQ(found[0].about, "PersistentVolume pv");
  EXPECT_THAT(found[0].lines, ElementsAre("FailedDelete: the disk is in use"));
  loop.run(sandbox.stop());
}

}  // namespace
}  // namespace fairlead::readiness
