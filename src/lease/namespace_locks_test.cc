#include "lease/namespace_locks.h"

#include "lease/lease_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::lease {
namespace {

using Mood = Network::Mood;

class LocksTest : public LeaseTest {
 protected:
  LocksTest()
      : network_(loop_, sandbox_.api_server()),
        locks_client_(loop_, network_, nullptr, {.broken_attempts = 1}),
        locks_(locks_client_, {.name = std::string(kLock)},
               [this](const std::string& ns, Lock lock, const std::string& holder) {
                 told_.push_back(fmt::format("{} {} {}", ns, name_of(lock), holder));
               }) {}
  ~LocksTest() override {
    watching_.cancel();
    loop_.run(watching_.join());
  }

  void watch() { watching_.spawn(locks_.run()); }

  Network network_;
  kube::Client locks_client_;
  NamespaceLocks locks_;
  Scope watching_{loop_, nullptr};
  std::vector<std::string> told_;
};

TEST_F(LocksTest, KnowsNothingBeforeTheFirstList) {
  EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
  EXPECT_TRUE(locks_.is_stale());
  watch();
  pass(100ms);
  EXPECT_EQ(locks_.lock_of("default"), Lock::free);
}

TEST_F(LocksTest, LeavesANamespaceAloneOnceItsOperatorHoldsTheLease) {
  watch();
  pass(1s);
  Process& one = start("one");
  pass(1s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
  EXPECT_EQ(locks_.holder_of("default"), "one");
  EXPECT_EQ(locks_.lock_of("kube-system"), Lock::free);
  EXPECT_EQ(locks_.held(), 1u);
  pass(10min);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
  loop_.run(one.stop());
  loop_.run(one.holder.release());
  pass(500ms);
  EXPECT_EQ(locks_.lock_of("default"), Lock::free);
  EXPECT_EQ(told_, (std::vector<std::string>{"default held one", "default free "}));
}

TEST_F(LocksTest, TakesANamespaceBackWhenItsOperatorDied) {
  watch();
  Process& one = start("one");
  pass(25s);
  loop_.run(one.stop());
  TimePoint died = loop_.now();
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
  while (locks_.lock_of("default") == Lock::held) pass(100ms);
  EXPECT_LE(loop_.now() - died, 35s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
  pass(20s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::free);
}

TEST_F(LocksTest, DoesNotBelieveALeaseThatItHasNotSeenRenewed) {
  store({.holder = "dead",
         .duration = 30s,
         .acquired = "2030-01-01T00:00:00.000000Z",
         .renewed = "2030-01-01T00:00:00.000000Z"});
  watch();
  for (int i = 0; i < 34; ++i) {
    pass(1s);
    EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
  }
  pass(6s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::free);
  EXPECT_EQ(told_, (std::vector<std::string>{"default unknown dead", "default free dead"}));
}

TEST_F(LocksTest, ValidatesAnywayWhileItsViewIsStale) {
  watch();
  start("one");
  pass(20s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
  network_.for_reads = Network::Mood::hangs;
  pass(21s);
  EXPECT_TRUE(locks_.is_stale());
  EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
  EXPECT_EQ(locks_.lock_of("other"), Lock::unknown);
  EXPECT_EQ(locks_.held(), 0u);
  EXPECT_TRUE(locks_.trouble());
  network_.for_reads = Network::Mood::good;
  pass(7s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
}

TEST_F(LocksTest, DoesNotBelieveLeasesThatPromiseTooMuch) {
  watch();
  pass(1s);
  store({.holder = "greedy",
         .duration = 24h,
         .acquired = "2030-01-01T00:00:00.000000Z",
         .renewed = "2030-01-01T00:00:00.000000Z"});
  pass(9min);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
  pass(2min);
  EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
}

TEST_F(LocksTest, DoesNotTakeADeletedLeaseForAReleasedOne) {
  watch();
  Process& one = start("one");
  pass(1s);
  loop_.run(one.stop());
  ASSERT_TRUE(loop_.run(client_.remove(leases(), "default", kLock)));
  pass(1s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
  pass(40s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::free);
}

TEST_F(LocksTest, TellsThatANamespaceIsFreeOnceItsDeletedLeaseHasLapsed) {
  watch();
  Process& one = start("one");
  pass(5s);
  loop_.run(one.stop());
  ASSERT_TRUE(loop_.run(client_.remove(leases(), "default", kLock)));
  pass(2min);
  EXPECT_EQ(told_, (std::vector<std::string>{"default held one", "default unknown one", "default free "}));
}

// As where etcd is restored.
TEST_F(LocksTest, ALeaseThatComesBackAsItWasCountsFromThen) {
  watch();
  pass(1s);
  store({.holder = "one",
         .duration = 5min,
         .acquired = "2030-01-01T00:00:00.000000Z",
         .renewed = "2030-01-01T00:00:00.000000Z"});
  pass(4min);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
  sandbox::Store& objects = sandbox_.core().store;
  sandbox::ResourceId id{"coordination.k8s.io", "leases"};
  sandbox::Place place{"default", std::string(kLock)};
  Json lease = *objects.find(id, place);
  objects.remove(id, place);
  pass(30s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::unknown);
  objects.put(id, place, std::move(lease));
  pass(3min);
  EXPECT_EQ(locks_.lock_of("default"), Lock::held);
}

TEST_F(LocksTest, ATroubleIsOverOnceTheLeasesCanBeReadAgain) {
  watch();
  pass(1s);
  network_.for_reads = Mood::loses_requests;
  pass(1min);
  EXPECT_TRUE(locks_.trouble());
  network_.for_reads = Mood::good;
  pass(1min);
  EXPECT_FALSE(locks_.trouble());
}

TEST_F(LocksTest, IgnoresOtherLeases) {
  Json other(Json::Object{{"metadata", Json::Object{{"name", "another"}}}});
  Record{.holder = "x",
         .duration = 30s,
         .acquired = "2030-01-01T00:00:00.000000Z",
         .renewed = "2030-01-01T00:00:00.000000Z"}
      .write_to(other);
  watch();
  pass(1s);
  ASSERT_TRUE(loop_.run(client_.create(leases(), "default", other)));
  pass(10s);
  EXPECT_EQ(locks_.lock_of("default"), Lock::free);
}

}  // namespace
}  // namespace fairlead::lease
