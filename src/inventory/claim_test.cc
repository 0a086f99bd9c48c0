// Who holds a bundle: claims are taken, kept, taken over and given back.
#include "inventory/claim.h"

#include <gmock/gmock.h>

#include "async/scope.h"
#include "inventory/inventory_testing.h"

namespace fairlead::inventory {
namespace {

using std::chrono::seconds;

class ClaimTest : public InventoryTest {
 protected:
  // A webhook that fails closed, sees ConfigMaps, and has nobody who answers.
  Task<void> set_webhook(bool there) {
    const object::Resource hooks{.group = "admissionregistration.k8s.io",
                                 .version = "v1",
                                 .kind = "ValidatingWebhookConfiguration",
                                 .plural = "validatingwebhookconfigurations",
                                 .singular = "",
                                 .namespaced = false};
    Json hook = *Json::parse(R"({"apiVersion":"admissionregistration.k8s.io/v1",
        "kind":"ValidatingWebhookConfiguration","metadata":{"name":"maps"},"webhooks":[{"name":"v.maps.example.com",
        "clientConfig":{"service":{"name":"nobody","namespace":"default"}},"rules":[{"apiGroups":[""],
        "apiVersions":["v1"],"operations":["*"],"resources":["configmaps"]}],"failurePolicy":"Fail",
        "sideEffects":"None","admissionReviewVersions":["v1"]}]})");
    auto done = there ? co_await client_.create(hooks, "", hook) : co_await client_.remove(hooks, "", "maps");
    EXPECT_TRUE(done);
    // Until it is in effect.
    (void)co_await sleep_for(loop_, seconds(1));
  }

  // Runs that beside a run that keeps the bundle, until it has ended.
  template <class Work>
  Result<void> beside_keep(Inventory& keeper, Work work) {
    Result<void> kept;
    loop_.run([](Loop& loop, Inventory& keeper, Work& work, Result<void>& kept) -> Task<void> {
      Scope scope(loop, nullptr);
      auto keep = [](Inventory& keeper, Result<void>& kept) -> Task<void> { kept = co_await keeper.keep(); };
      scope.spawn(keep(keeper, kept));
      co_await work();
      scope.cancel();
      co_await scope.join();
    }(loop_, keeper, work, kept));
    return kept;
  }
};

// Requests are carried out at once, and their answers are late.
class LateAnswers : public http::Transport {
 public:
  enum class To { all, stored_writes };
  LateAnswers(Loop& loop, http::Transport& to, Duration delay, To which)
      : loop_(loop), to_(to), delay_(delay), which_(which) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool writes = request.method == "PUT" || request.method == "POST";
    Result<http::Answer> answer = co_await to_.open(std::move(request));
    bool is_stored = writes && answer && answer->status < 300;
    if (is_stored) last_write = loop_.now();
    if (is_stored || which_ == To::all) CO_TRY(co_await sleep_for(loop_, delay_));
    co_return answer;
  }

  TimePoint last_write{};

 private:
  Loop& loop_;
  http::Transport& to_;
  Duration delay_;
  To which_;
};

// Writes are carried out; while `active`, their answers are lost with the connection.
class LostAnswers : public http::Transport {
 public:
  explicit LostAnswers(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool writes = request.method != "GET";
    Result<http::Answer> answer = co_await to_.open(std::move(request));
    if (!active || !writes || !answer || answer->status >= 300) co_return answer;
    ++lost;
    co_return fail(http::may_have_been_processed(Error(ErrorKind::unavailable, "the connection broke")));
  }

  bool active = false;
  int lost = 0;

 private:
  http::Transport& to_;
};

TEST_F(ClaimTest, ALiveRunIsNotDisturbed) {
  std::unique_ptr<Inventory> ann = claimed("ann@laptop, process 7");
  std::unique_ptr<Inventory> ben = open("ben");
  std::string answer;
  Result<void> kept = beside_keep(*ann, [&]() -> Task<void> { answer = said(co_await ben->claim({})); });
  EXPECT_EQ(answer, R"(error: bundle shop in namespace default is claimed by another run
  because   ann@laptop, process 7 claimed it at 2030-01-01T00:00:00.000000Z, and that run is still alive
  next      wait until that run has ended; kubectl -n default describe configmap fairlead-shop shows it
)");
  EXPECT_EQ(kept.error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(ann->claimed());
  EXPECT_FALSE(ben->claimed());
  // It is known as soon as the first sign of life comes.
  EXPECT_LE(loop_.now().time_since_epoch(), seconds(13));
}

TEST_F(ClaimTest, ADeadRunIsTakenOverAfterItsLease) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  Options options = named("ben");
  std::string told;
  options.waiting = [&](const Claim& other, Duration at_most) {
    told += fmt::format("{} for {} s;", other.holder, std::chrono::duration_cast<seconds>(at_most).count());
  };
  std::unique_ptr<Inventory> ben = *loop_.run(Inventory::open(client_, discovery_, options));
  TimePoint start = loop_.now();
  EXPECT_EQ(said(loop_.run(ben->claim({}))), "");
  EXPECT_EQ(loop_.now() - start, seconds(30));
  EXPECT_EQ(told, "ann for 30 s;");
  EXPECT_EQ(annotation(kKindsAnnotation), "ConfigMap");

  // Should it come back to life, it learns of it.
  Result<void> kept = loop_.run(ann->keep());
  EXPECT_EQ(kept.error().report(), R"(error: bundle shop in namespace default is no longer claimed by this run
  because   ben took over the claim
  next      run again when no other run is working on it
)");
  EXPECT_FALSE(ann->claimed());
  EXPECT_TRUE(ben->claimed());
}

TEST_F(ClaimTest, ARunThatEndsWhileAnotherWaitsMakesWay) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  std::unique_ptr<Inventory> ben = open("ben");
  auto both = [](Loop& loop, Inventory& first, Inventory& second, std::string& answer) -> Task<void> {
    Scope scope(loop, nullptr);
    auto end = [](Loop& on, Inventory& inventory) -> Task<void> {
      (void)co_await sleep_for(on, seconds(5));
      (void)co_await inventory.release();
    };
    scope.spawn(end(loop, first));
    answer = said(co_await second.claim({}));
    co_await scope.join();
  };
  std::string answer;
  loop_.run(both(loop_, *ann, *ben, answer));
  EXPECT_EQ(answer, "");
  EXPECT_LE(loop_.now().time_since_epoch(), seconds(8));
}

TEST_F(ClaimTest, ARunThatIsKnownToBeDeadIsTakenOverAtOnce) {
  Options options = named("ann");
  options.origin = "boot 1, process 7";
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client_, discovery_, options));
  EXPECT_EQ(said(loop_.run(ann->claim({}))), "");
  options = named("ben");
  options.known_dead = [](std::string_view origin) { return origin == "boot 1, process 7"; };
  std::unique_ptr<Inventory> ben = *loop_.run(Inventory::open(client_, discovery_, options));
  EXPECT_TRUE(ben->is_free());
  TimePoint start = loop_.now();
  EXPECT_EQ(said(loop_.run(ben->claim({}))), "");
  EXPECT_EQ(loop_.now(), start);
}

TEST_F(ClaimTest, AHoldersNameAloneDoesNotSayThatItIsDead) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  Options options = named("ben");
  options.known_dead = [](std::string_view) { return true; };
  std::unique_ptr<Inventory> ben = *loop_.run(Inventory::open(client_, discovery_, options));
  EXPECT_FALSE(ben->is_free());
  TimePoint start = loop_.now();
  EXPECT_EQ(said(loop_.run(ben->claim({}))), "");
  EXPECT_GE(loop_.now(), start + seconds(29));
}

TEST_F(ClaimTest, AClaimOfLongAgoIsTakenOverAtOnce) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  TimePoint start = loop_.now();
  claimed("ben");
  EXPECT_EQ(loop_.now(), start);
}

TEST_F(ClaimTest, WhoeverHeldItWhileItWasReadMayHaveWrittenSince) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  EXPECT_FALSE(ann->overtaken());
  // The record is as it was read: ann dies without another sign of life.
  std::unique_ptr<Inventory> ben = claimed("ben");
  EXPECT_TRUE(ben->overtaken());
  EXPECT_EQ(said(loop_.run(ben->release())), "");
  EXPECT_FALSE(claimed("eve")->overtaken());
}

TEST_F(ClaimTest, OfTwoThatClaimAtOnceOneWins) {
  std::unique_ptr<Inventory> ann = open("ann"), ben = open("ben");
  EXPECT_EQ(said(loop_.run(ann->claim({}))), "");
  std::string answer;
  (void)beside_keep(*ann, [&]() -> Task<void> { answer = said(co_await ben->claim({})); });
  EXPECT_THAT(answer, testing::HasSubstr("is claimed by another run"));
}

TEST_F(ClaimTest, KeepingGoesOnWhenPeopleEditTheParent) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  Result<void> kept = beside_keep(*ann, [&]() -> Task<void> {
    Json patch = *Json::parse(R"({"metadata":{"labels":{"team":"x"}},"data":{"note":"hello"}})");
    (void)co_await client_.patch(kConfigMaps, "default", "fairlead-shop", kube::PatchType::merge, patch);
    (void)co_await sleep_for(loop_, seconds(100));
  });
  EXPECT_EQ(kept.error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(ann->claimed());
  EXPECT_EQ(ann->claimed_by()->renewals, 10);
  EXPECT_EQ(said(loop_.run(ann->settle({{"", "ConfigMap", "a", "x"}}))), "");
  EXPECT_EQ(parent()["metadata"]["labels"]["team"].string_or(""), "x");
  EXPECT_EQ(parent()["data"]["note"].string_or(""), "hello");
}

TEST_F(ClaimTest, KeepingSurvivesAServerThatIsAwayForAWhile) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  Result<void> kept = beside_keep(*ann, [&]() -> Task<void> {
    (void)co_await sleep_for(loop_, seconds(8));
    sandbox_.set_down(0, true);
    (void)co_await sleep_for(loop_, seconds(10));
    sandbox_.set_down(0, false);
    (void)co_await sleep_for(loop_, seconds(40));
  });
  EXPECT_EQ(kept.error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(ann->claimed());
}

// An API server that has just started forbids for a moment what it allows afterwards.
TEST_F(ClaimTest, KeepingSurvivesARefusalThatPasses) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  Result<void> kept = beside_keep(*ann, [&]() -> Task<void> {
    (void)co_await sleep_for(loop_, seconds(8));
    forbids_ = [](std::string_view verb, auto, auto) { return verb == "update"; };
    (void)co_await sleep_for(loop_, seconds(8));
    forbids_ = {};
    (void)co_await sleep_for(loop_, seconds(40));
  });
  EXPECT_EQ(kept.error().kind(), ErrorKind::cancelled) << kept.error().report();
  EXPECT_TRUE(ann->claimed());
  EXPECT_GE(ann->claimed_by()->renewals, 4);
}

TEST_F(ClaimTest, KeepingEndsBeforeOthersMayTakeOver) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  sandbox_.set_down(0, true);
  TimePoint start = loop_.now();
  Result<void> kept = loop_.run(ann->keep());
  EXPECT_EQ(kept.error().kind(), ErrorKind::timeout);
  EXPECT_EQ(kept.error().what(), "bundle shop in namespace default is no longer claimed by this run");
  EXPECT_LT(loop_.now() - start, seconds(30));
  EXPECT_FALSE(ann->claimed());
}

// Others count from when the server has stored it.
TEST_F(ClaimTest, AClaimWhoseAnswerComesLateIsNotHeldForLonger) {
  for (bool renewed : {false, true}) {
    LateAnswers late(loop_, sandbox_.api_server(), seconds(12), LateAnswers::To::stored_writes);
    kube::Client client(loop_, late, nullptr, {});
    std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client, discovery_, named("ann")));
    ASSERT_EQ(said(loop_.run(ann->claim({}))), "");
    TimePoint stored = late.last_write;
    // A renewal that is stored just after this was; its answer comes, and from then on none does.
    loop_.call_after(renewed ? seconds(5) : Duration(0), [this] { sandbox_.set_down(0, true); });
    Result<void> kept = loop_.run(ann->keep());
    EXPECT_EQ(kept.error().kind(), ErrorKind::timeout);
    if (renewed) EXPECT_GT(late.last_write, stored);
    EXPECT_LT(loop_.now() - late.last_write, seconds(30));
    EXPECT_FALSE(ann->claimed());
    sandbox_.set_down(0, false);
    (void)loop_.run(client_.remove(kConfigMaps, "default", "fairlead-shop"));
  }
}

TEST_F(ClaimTest, AClaimThatNobodyCanWriteHolds) {
  Options options = named("ann");
  std::vector<std::string> told;
  options.held_up = [&](const kube::Fault& fault) { told.push_back(fault.webhook->name); };
  auto opened = loop_.run(Inventory::open(client_, discovery_, std::move(options)));
  ASSERT_TRUE(opened);
  Inventory& ann = **opened;
  EXPECT_EQ(said(loop_.run(ann.claim({}))), "");
  size_t before = 0;
  Result<void> kept = beside_keep(ann, [&]() -> Task<void> {
    co_await set_webhook(true);
    before = requests();
    (void)co_await sleep_for(loop_, seconds(120));
    EXPECT_LT(requests() - before, 60u);
    co_await set_webhook(false);
    (void)co_await sleep_for(loop_, seconds(20));
  });
  EXPECT_EQ(kept.error().kind(), ErrorKind::cancelled) << kept.error().report();
  EXPECT_EQ(told, std::vector<std::string>{"v.maps.example.com"});
  EXPECT_TRUE(ann.claimed());
  EXPECT_GE(Claim::parse(annotation("fairlead.dev/claim")).renewals, 2);
}

TEST_F(ClaimTest, AWebhookThatIsInTheWayAgainIsToldAgain) {
  Options options = named("ann");
  std::vector<std::string> told;
  options.held_up = [&](const kube::Fault& fault) { told.push_back(fault.webhook->name); };
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client_, discovery_, std::move(options)));
  ASSERT_EQ(said(loop_.run(ann->claim({}))), "");
  (void)beside_keep(*ann, [&]() -> Task<void> {
    for (int i = 0; i < 2; ++i)
      for (bool there : {true, false}) {
        co_await set_webhook(there);
        (void)co_await sleep_for(loop_, seconds(60));
      }
  });
  EXPECT_EQ(told, (std::vector<std::string>{"v.maps.example.com", "v.maps.example.com"}));
}

// Its deadline counts from the last time that the claim was read, not from the last renewal.
TEST_F(ClaimTest, AClaimThatNobodyCanWriteHoldsWhenAnswersTakeTime) {
  LateAnswers late(loop_, sandbox_.api_server(), seconds(1), LateAnswers::To::all);
  kube::Client client(loop_, late, nullptr, {});
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client, discovery_, named("ann")));
  ASSERT_EQ(said(loop_.run(ann->claim({}))), "");
  Result<void> kept = beside_keep(*ann, [&]() -> Task<void> {
    co_await set_webhook(true);
    (void)co_await sleep_for(loop_, seconds(60));
  });
  EXPECT_EQ(kept.error().kind(), ErrorKind::cancelled) << kept.error().report();
  EXPECT_TRUE(ann->claimed());
  EXPECT_EQ(Claim::parse(annotation("fairlead.dev/claim")).renewals, 0) << "the webhook was in the way";
}

TEST_F(ClaimTest, AClaimThatNobodyCouldRenewIsLostToWhoWritesFirst) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  Result<void> kept = beside_keep(*ann, [&]() -> Task<void> {
    co_await set_webhook(true);
    (void)co_await sleep_for(loop_, seconds(60));
    co_await set_webhook(false);
    Json patch = *Json::parse(R"({"metadata":{"annotations":{"fairlead.dev/claim":"{\"holder\":\"ben\"}"}}})");
    (void)co_await client_.patch(kConfigMaps, "default", "fairlead-shop", kube::PatchType::merge, patch);
    (void)co_await sleep_for(loop_, seconds(20));
  });
  EXPECT_EQ(kept.error().message(),
            "bundle shop in namespace default is no longer claimed by this run: ben took over the claim");
}

TEST_F(ClaimTest, AParentThatIsDeletedIsAClaimThatIsLost) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  EXPECT_EQ(said(loop_.run(client_.remove(kConfigMaps, "default", "fairlead-shop"))), "");
  EXPECT_EQ(loop_.run(ann->keep()).error().message(),
            "bundle shop in namespace default is no longer claimed by this run: somebody deleted ConfigMap "
            "default/fairlead-shop");
}

TEST_F(ClaimTest, SettlingALostClaimChangesNothing) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  std::unique_ptr<Inventory> ben = claimed("ben");
  EXPECT_EQ(said(loop_.run(ann->settle({}))),
            R"(error: bundle shop in namespace default is no longer claimed by this run
  because   ben took over the claim
  next      run again when no other run is working on it
)");
  EXPECT_EQ(annotation(kKindsAnnotation), "ConfigMap");
}

TEST_F(ClaimTest, AClaimThatIsGivenBackWithoutAnAnswerIsNotLost) {
  LostAnswers server(sandbox_.api_server());
  kube::Client client(loop_, server, nullptr, {});
  // The first removes the claim from the parent, the second deletes the parent.
  for (bool settles : {false, true}) {
    std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client, discovery_, named("ann")));
    server.active = false;
    ASSERT_EQ(said(loop_.run(ann->claim(config_maps_in("a")))), "");
    server.active = true;
    server.lost = 0;
    EXPECT_EQ(said(loop_.run(settles ? ann->settle({}) : ann->release())), "");
    EXPECT_EQ(server.lost, 1);
    EXPECT_FALSE(ann->claimed());
    EXPECT_EQ(parent().is_null(), settles);
    EXPECT_EQ(annotation("fairlead.dev/claim"), "none");
  }
}

TEST_F(ClaimTest, AClaimThatIsTakenWithoutAnAnswerIsNotTakenForThatOfAnotherRun) {
  LostAnswers server(sandbox_.api_server());
  kube::Client client(loop_, server, nullptr, {});
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client, discovery_, named("ann")));
  server.active = true;
  loop_.call_after(std::chrono::milliseconds(100), [&] { server.active = false; });
  TimePoint begun = loop_.now();
  EXPECT_EQ(said(loop_.run(ann->claim(config_maps_in("a")))), "");
  EXPECT_GE(server.lost, 1);
  EXPECT_TRUE(ann->claimed());
  EXPECT_LT(loop_.now() - begun, seconds(2));
}

TEST_F(ClaimTest, AClaimThatIsCancelledWhileItIsWrittenCanBeGivenBack) {
  LateAnswers late(loop_, sandbox_.api_server(), seconds(1), LateAnswers::To::all);
  kube::Client client(loop_, late, nullptr, {});
  kube::Discovery discovery(client);
  auto opened = loop_.run(Inventory::open(client, discovery, named("ann")));
  ASSERT_TRUE(opened);
  CancelSource stop;
  loop_.call_after(std::chrono::milliseconds(500), [&] { stop.cancel(); });
  (void)loop_.run((*opened)->claim({}).governed_by(&stop));
  ASSERT_TRUE(stop.cancelled());
  EXPECT_NE(annotation("fairlead.dev/claim"), "none") << "it was carried out";
  ASSERT_TRUE((*opened)->claimed());
  EXPECT_EQ(said(loop_.run((*opened)->release())), "");
  EXPECT_EQ(annotation("fairlead.dev/claim"), "none");
}

}  // namespace
}  // namespace fairlead::inventory
