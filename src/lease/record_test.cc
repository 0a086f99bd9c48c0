#include "lease/record.h"

#include <gtest/gtest.h>

namespace fairlead::lease {
namespace {

Record read(std::string_view text) { return Record::parse(*Json::parse(text)); }

TEST(LeaseRecord, ReadsWhatTheApiServerStores) {
  Record record = read(R"({"metadata":{"name":"lock"},"spec":{"holderIdentity":"pod-0_1","leaseDurationSeconds":30,
    "acquireTime":"2026-11-15T07:48:48.000000Z","renewTime":"2026-11-15T07:49:08.123456Z","leaseTransitions":3}})");
  EXPECT_EQ(record, (Record{.holder = "pod-0_1",
                            .duration = std::chrono::seconds(30),
                            .acquired = "2026-11-15T07:48:48.000000Z",
                            .renewed = "2026-11-15T07:49:08.123456Z",
                            .transitions = 3}));
}

TEST(LeaseRecord, TakesWhatMakesNoSenseForMissing) {
  for (std::string_view text :
       {"7", "{}", R"({"spec":[]})", R"({"spec":{"holderIdentity":null,"leaseDurationSeconds":0}})",
        R"({"spec":{"holderIdentity":7,"leaseDurationSeconds":-5,"renewTime":[],"leaseTransitions":"x"}})"})
    EXPECT_EQ(read(text), Record()) << text;
}

TEST(LeaseRecord, BoundsTheDuration) {
  EXPECT_EQ(read(R"({"spec":{"leaseDurationSeconds":9223372036854775807}})").duration, std::chrono::seconds(INT32_MAX));
}

TEST(LeaseRecord, WritesBesideWhatIsThere) {
  Json lease =
      *Json::parse(R"({"metadata":{"name":"lock","labels":{"a":"b"}},"spec":{"strategy":"OldestEmulationVersion"}})");
  Record{.holder = "me", .duration = std::chrono::milliseconds(1500), .acquired = "A", .renewed = "R", .transitions = 2}
      .write_to(lease);
  EXPECT_EQ(
      lease.dump(),
      R"({"metadata":{"name":"lock","labels":{"a":"b"}},"spec":{"strategy":"OldestEmulationVersion",)"
      R"("holderIdentity":"me","leaseDurationSeconds":1,"acquireTime":"A","renewTime":"R","leaseTransitions":2}})");
}

TEST(LeaseRecord, ShowsAHostileHolderOnOneLine) {
  EXPECT_EQ((Record{.holder = "a\nb\x1b[2J"}).shown_holder(), "a b?[2J");
}

}  // namespace
}  // namespace fairlead::lease
