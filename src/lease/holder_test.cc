#include "lease/holder.h"

#include "lease/lease_testing.h"

namespace fairlead::lease {
namespace {

using Mood = Network::Mood;

class HolderTest : public LeaseTest {};

TEST_F(HolderTest, TakesAFreeLeaseAndRenewsIt) {
  Process& one = start("one");
  pass(1s);
  EXPECT_TRUE(one.holder.holds());
  Record first = stored();
  EXPECT_EQ(first, (Record{.holder = "one",
                           .duration = 30s,
                           .acquired = "2030-01-01T00:00:00.000000Z",
                           .renewed = "2030-01-01T00:00:00.000000Z"}));
  pass(20s);
  EXPECT_EQ(stored().renewed, "2030-01-01T00:00:20.000000Z");
  EXPECT_EQ(stored().acquired, first.acquired);
  EXPECT_EQ(one.told, std::vector<bool>{true});
  // One read, one create, two renewals.
  EXPECT_EQ(one.client.counts().find("update")->second, 2u);
}

TEST_F(HolderTest, TakesAReleasedLeaseAtOnce) {
  Process& one = start("one");
  pass(1s);
  Process& two = start("two");
  pass(60s);
  EXPECT_FALSE(two.holder.holds());
  loop_.run(one.stop());
  loop_.run(one.holder.release());
  EXPECT_EQ(one.told, (std::vector<bool>{true, false}));
  pass(100ms);
  EXPECT_TRUE(two.holder.holds());
  EXPECT_EQ(stored().holder, "two");
  EXPECT_EQ(stored().transitions, 1);
}

TEST_F(HolderTest, NoticesAReleaseWhileItReads) {
  Process& one = start("one");
  pass(1s);
  Process& two = start("two");
  pass(1s);
  // The read is answered before the release, and its answer arrives after it.
  two.network.delay_of_answers = 500ms;
  pass(4200ms);
  loop_.run(one.stop());
  loop_.run(one.holder.release());
  pass(2500ms);
  EXPECT_EQ(stored().holder, "two");
}

TEST_F(HolderTest, WritesAReleasedLeaseAsOthersUnderstandIt) {
  Process& one = start("one");
  pass(1s);
  loop_.run(one.stop());
  loop_.run(one.holder.release());
  Record freed = stored();
  EXPECT_EQ(freed.holder, "");
  EXPECT_EQ(freed.duration, 1s);
}

TEST_F(HolderTest, GivesItBackOnceTheServerAnswersAgain) {
  Process& one = start("one");
  pass(1s);
  loop_.run(one.stop());
  one.network.for_writes = Mood::loses_requests;
  auto story = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    scope.spawn(one.holder.release());
    (void)co_await sleep_for(loop_, 2s);
    one.network.for_writes = Mood::good;
    co_await scope.join();
  };
  loop_.run(story());
  EXPECT_EQ(stored().holder, "");
}

TEST_F(HolderTest, LooksAtOnceWhenItsLeaseIsSaidToBeGone) {
  Process& one = start("one");
  pass(1s);
  int writes = 0;
  one.network.answers = [&](const http::Request& request) -> std::optional<http::Answer> {
    if (request.method != "PUT" || ++writes > 1) return std::nullopt;
    return http::Answer{.status = 404,
                        .headers = {{"Content-Type", "application/json"}},
                        .body = http::body_of(R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":)"
                                              R"("NotFound","code":404,"message":"leases \"lock\" not found",)"
                                              R"("details":{"group":"coordination.k8s.io","kind":"leases",)"
                                              R"("name":"lock"}})")};
  };
  while (writes == 0) pass(10ms);
  pass(100ms);
  EXPECT_EQ(writes, 2);
  EXPECT_TRUE(one.holder.holds());
}

TEST_F(HolderTest, TakesALapsedLeaseByItsOwnClock) {
  // The timestamps of the other are in the future, and do not count.
  store({.holder = "dead",
         .duration = 12s,
         .acquired = "2031-01-01T00:00:00.000000Z",
         .renewed = "2031-01-01T00:00:00.000000Z"});
  Process& one = start("one");
  pass(11s);
  EXPECT_FALSE(one.holder.holds());
  pass(2s);
  EXPECT_TRUE(one.holder.holds());
  EXPECT_EQ(stored().transitions, 1);
}

TEST_F(HolderTest, DoesNotBelieveThatAnOldTimestampMeansDead) {
  store({.holder = "other",
         .duration = 30s,
         .acquired = "2020-01-01T00:00:00.000000Z",
         .renewed = "2020-01-01T00:00:00.000000Z"});
  Process& one = start("one");
  for (int i = 0; i < 6; ++i) {
    pass(20s);
    store({.holder = "other",
           .duration = 30s,
           .acquired = "2020-01-01T00:00:00.000000Z",
           .renewed = fmt::format("2020-01-01T00:00:0{}.000000Z", i)});
  }
  EXPECT_FALSE(one.holder.holds());
  EXPECT_EQ(stored().holder, "other");
}

TEST_F(HolderTest, KnowsItsOwnWriteWhoseAnswerWasLost) {
  Process& one = add("one");
  one.network.for_writes = Mood::loses_answers;
  one.start();
  pass(1s);
  EXPECT_TRUE(one.holder.holds());
  pass(60s);
  EXPECT_TRUE(one.holder.holds());
  EXPECT_EQ(one.told, std::vector<bool>{true});
  EXPECT_EQ(stored().transitions, 0);
}

TEST_F(HolderTest, StepsDownBeforeOthersMayTakeOver) {
  Process& one = start("one");
  pass(1s);
  Process& two = start("two");
  one.network.for_writes = Mood::hangs;
  pass(23s);
  EXPECT_TRUE(one.holder.holds());
  pass(2s);
  EXPECT_FALSE(one.holder.holds());
  EXPECT_EQ(one.told, (std::vector<bool>{true, false}));
  EXPECT_EQ(one.holder.trouble()->message(), "the API server did not answer in time");
  EXPECT_FALSE(two.holder.holds());
  pass(7s);
  EXPECT_TRUE(two.holder.holds());
  one.network.for_writes = Mood::good;
  pass(30s);
  EXPECT_FALSE(one.holder.holds());
  EXPECT_EQ(stored().holder, "two");
}

TEST_F(HolderTest, StepsDownInTimeBetweenTwoAttempts) {
  Process& one = start("one");
  pass(1s);
  one.network.for_reads = one.network.for_writes = Mood::loses_requests;
  while (one.holder.holds()) pass(10ms);
  pass(10ms);
  EXPECT_EQ(one.told, (std::vector<bool>{true, false}));
}

TEST_F(HolderTest, StepsDownAtOnceWhenSomebodyTookTheLease) {
  Process& one = start("one");
  pass(1s);
  store({.holder = "thief",
         .duration = 30s,
         .acquired = "2030-01-01T00:00:01.000000Z",
         .renewed = "2030-01-01T00:00:01.000000Z"});
  pass(100ms);
  EXPECT_FALSE(one.holder.holds());
  EXPECT_EQ(stored().holder, "thief");
}

TEST_F(HolderTest, NeverReleasesWhatIsNotItsOwn) {
  Process& one = start("one");
  pass(1s);
  loop_.run(one.stop());
  store({.holder = "other",
         .duration = 30s,
         .acquired = "2030-01-01T00:00:01.000000Z",
         .renewed = "2030-01-01T00:00:01.000000Z"});
  Json before = lease();
  loop_.run(one.holder.release());
  EXPECT_EQ(lease(), before);
}

TEST_F(HolderTest, ReleasesALeaseThatItDoesNotKnowItTook) {
  Process& one = add("one");
  one.network.for_writes = Mood::loses_answers;
  one.network.for_reads = Mood::good;
  one.start();
  // The create is carried out; then the process is told to stop before it can read.
  pass(0s);
  loop_.run(one.stop());
  one.network.for_writes = Mood::good;
  loop_.run(one.holder.release());
  EXPECT_EQ(stored().holder, "");
}

TEST_F(HolderTest, ReleasesInLimitedTime) {
  Process& one = start("one");
  pass(1s);
  loop_.run(one.stop());
  one.network.for_writes = Mood::loses_requests;
  TimePoint begun = loop_.now();
  loop_.run(one.holder.release());
  EXPECT_LE(loop_.now() - begun, 6s);
  EXPECT_EQ(stored().holder, "one");
  EXPECT_FALSE(one.holder.holds());
}

TEST_F(HolderTest, TakesADeletedLeaseAnewOnlyWhenItsHolderCannotHoldIt) {
  Process& one = start("one");
  pass(1s);
  Process& two = start("two");
  pass(1s);
  loop_.run(one.stop());
  ASSERT_TRUE(loop_.run(client_.remove(leases(), "default", kLock)));
  pass(20s);
  EXPECT_FALSE(two.holder.holds());
  pass(12s);
  EXPECT_TRUE(two.holder.holds());
}

TEST_F(HolderTest, TakesItsOwnDeletedLeaseAgain) {
  Process& one = start("one");
  pass(1s);
  ASSERT_TRUE(loop_.run(client_.remove(leases(), "default", kLock)));
  pass(1s);
  EXPECT_TRUE(one.holder.holds());
  EXPECT_EQ(stored().holder, "one");
  EXPECT_EQ(one.told, (std::vector<bool>{true, false, true}));
}

TEST_F(HolderTest, CountsAsHoldingOnceItHasSettled) {
  Process& one = start("one", 15s);
  pass(14s);
  EXPECT_EQ(stored().holder, "one");
  EXPECT_FALSE(one.holder.holds());
  pass(2s);
  EXPECT_TRUE(one.holder.holds());
  EXPECT_EQ(one.told, std::vector<bool>{true});
}

TEST_F(HolderTest, OneOfManyHolds) {
  std::vector<Process*> all;
  for (int i = 0; i < 5; ++i) all.push_back(&start(fmt::format("p{}", i)));
  pass(30s);
  EXPECT_EQ(std::ranges::count_if(all, [](Process* one) { return one->holder.holds(); }), 1);
}

struct NoWatching : LeaseTest {
  NoWatching()
      : other_(loop_, {.controllers = false, .forbids = [](auto, std::string_view verb, auto, auto, auto, auto) {
                         return verb == "watch" || verb == "list";
                       }}) {}
  ~NoWatching() override {
    loop_.run(process_->stop());
    loop_.run(other_.stop());
  }
  sandbox::Sandbox other_;
  std::unique_ptr<Process> process_;
};
TEST_F(NoWatching, NeedsOnlyToGetCreateAndUpdate) {
  process_ = std::make_unique<Process>(loop_, other_.api_server(),
                                       HolderOptions{.ns = "default", .name = "lock", .identity = "one"});
  process_->start();
  pass(60s);
  EXPECT_TRUE(process_->holder.holds());
  EXPECT_FALSE(process_->holder.trouble());
}

TEST(HolderOptionsTest, MustMakeSense) {
  EXPECT_TRUE(check({.duration = 30s, .renew_every = 10s}));
  EXPECT_TRUE(check({.duration = 3s, .renew_every = 1s}));
  EXPECT_EQ(check({.duration = 1500ms}).error().message(),
            "the duration of a Lease must be whole seconds, and at least 3");
  EXPECT_EQ(check({.duration = 30s, .renew_every = 20s}).error().message(),
            "a Lease must be renewed at least every half of its duration, and at most twice per second");
}

TEST(Identity, IsOfOneProcess) {
  EXPECT_TRUE(make_identity("pod-0").starts_with("pod-0_"));
  EXPECT_NE(make_identity("pod-0"), make_identity("pod-0"));
}

}  // namespace
}  // namespace fairlead::lease
