#include "inventory/applyset.h"

#include "base/timestamp.h"
#include "inventory/claim.h"

namespace fairlead::inventory {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The values that kubectl's own tests have.
TEST(ApplysetId, IsThatOfKubectl) {
  EXPECT_EQ(applyset_id("my-set", "test", "Secret", ""), "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1");
  EXPECT_EQ(applyset_id("my-set", "", "ApplySet", "company.com"),
            "applyset-rhp1a-HVAVT_dFgyEygyA1BEB82HPp2o10UiFTpqtAs-v1");
}

TEST(Coverage, IsWrittenAsKubectlWritesIt) {
  Coverage coverage{.kinds = {{"", "Service"}, {"apps", "Deployment"}, {"", "ConfigMap"}},
                    .namespaces = {"shop", "default", "billing"}};
  Json annotations;
  coverage.write(annotations, "default");
  EXPECT_EQ(annotations.dump(), R"({"applyset.kubernetes.io/contains-group-kinds":"ConfigMap,Deployment.apps,Service",)"
                                R"("applyset.kubernetes.io/additional-namespaces":"billing,shop"})");
  EXPECT_EQ(Coverage::read(annotations, "default"), coverage);
}

TEST(Coverage, ReadsWhateverIsThere) {
  Coverage only_home{.kinds = {}, .namespaces = {"home"}};
  EXPECT_EQ(Coverage::read(Json(), "home"), only_home);
  EXPECT_EQ(Coverage::read(Json::Object{{kKindsAnnotation.data(), 7}}, "home"), only_home);
  Coverage odd = Coverage::read(
      Json::Object{{kKindsAnnotation.data(), ",,Widget.example.com,"}, {kNamespacesAnnotation.data(), ",a,,b"}},
      "home");
  EXPECT_EQ(odd, (Coverage{.kinds = {{"example.com", "Widget"}}, .namespaces = {"a", "b", "home"}}));
}

TEST(Claim, IsReadAsItWasWritten) {
  Claim claim{.holder = "ann@laptop, process 7",
              .origin = "boot pid:[4026531836] 7 4711",
              .since = "2030-01-01T00:00:00.000000Z",
              .renewed = "2030-01-01T00:00:10.000000Z",
              .renewals = 1,
              .lease = seconds(5)};
  EXPECT_EQ(Claim::parse(claim.dump()), claim);
}

TEST(Claim, OfAStrangerIsOneAllTheSame) {
  EXPECT_EQ(Claim::parse("yes").holder, "an unknown user");
  EXPECT_EQ(Claim::parse("{}").lease, seconds(30));
  EXPECT_EQ(Claim::parse(R"({"holder":"a\u001b[31m\nb","leaseMilliseconds":9223372036854775807})").holder, "a?[31m b");
  EXPECT_EQ(Claim::parse(R"({"leaseMilliseconds":9223372036854775807})").lease, std::chrono::minutes(10));
  EXPECT_EQ(Claim::parse(R"({"leaseMilliseconds":-5})").lease, seconds(30));
  EXPECT_EQ(Claim::parse(std::string(5000, '[')).holder, "an unknown user");
}

class ClaimWatchTest : public testing::Test {
 protected:
  using Verdict = ClaimWatch::Verdict;
  WallTime wall_ = VirtualClock().wall_now();
  Claim claim_{.holder = "ann", .since = "s", .renewed = dump_micro_time(wall_), .renewals = 3, .lease = seconds(30)};
  ClaimWatch watch_;
};

TEST_F(ClaimWatchTest, DeadIsWhatDoesNotChangeForALease) {
  TimePoint start{hours(5)};
  EXPECT_EQ(watch_.see(claim_, start, wall_), Verdict::unknown);
  EXPECT_EQ(watch_.see(claim_, start + seconds(30) - milliseconds(1), wall_), Verdict::unknown);
  EXPECT_EQ(watch_.see(claim_, start + seconds(30), wall_), Verdict::dead);
}

TEST_F(ClaimWatchTest, AliveIsWhatChanges) {
  EXPECT_EQ(watch_.see(claim_, TimePoint(), wall_), Verdict::unknown);
  ++claim_.renewals;
  EXPECT_EQ(watch_.see(claim_, TimePoint(hours(1)), wall_), Verdict::alive);
}

TEST_F(ClaimWatchTest, ClocksThatDifferByMinutesDoNotCount) {
  EXPECT_EQ(watch_.see(claim_, TimePoint(), wall_ + std::chrono::minutes(59)), Verdict::unknown);
  EXPECT_EQ(ClaimWatch().see(claim_, TimePoint(), wall_ + hours(2)), Verdict::dead);
  EXPECT_EQ(ClaimWatch().see(claim_, TimePoint(), wall_ - hours(2)), Verdict::unknown);
}

}  // namespace
}  // namespace fairlead::inventory
