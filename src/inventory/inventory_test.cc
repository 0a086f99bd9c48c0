#include "inventory/inventory.h"

#include "async/scope.h"
#include "sandbox/sandbox.h"

namespace fairlead::inventory {
namespace {

using kube::Outcome;
using std::chrono::seconds;

const object::Resource kConfigMaps{
    .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "", .namespaced = true};

class InventoryTest : public testing::Test {
 protected:
  InventoryTest() : sandbox_(loop_, options()) {
    for (std::string_view ns : {"a", "b"}) make("v1", "Namespace", "", ns, "");
  }
  ~InventoryTest() override { loop_.run(sandbox_.stop()); }

  sandbox::Options options() {
    sandbox::Options options;
    options.controllers = false;
    options.forbids = [this](auto, std::string_view verb, auto, std::string_view resource, std::string_view ns, auto) {
      return forbids_ && forbids_(verb, resource, ns);
    };
    return options;
  }

  std::unique_ptr<Inventory> open(std::string holder) {
    auto opened = loop_.run(Inventory::open(client_, discovery_, named(std::move(holder))));
    EXPECT_TRUE(opened) << opened.error().error().report();
    return opened ? *std::move(opened) : nullptr;
  }
  Options named(std::string holder) {
    Options options;
    options.name = "shop";
    options.holder = std::move(holder);
    return options;
  }
  std::unique_ptr<Inventory> claimed(std::string holder, std::vector<Wanted> wanted = {}) {
    std::unique_ptr<Inventory> inventory = open(std::move(holder));
    EXPECT_EQ(said(loop_.run(inventory->claim(std::move(wanted)))), "");
    return inventory;
  }

  template <class T>
  static std::string said(const Outcome<T>& outcome) {
    return outcome ? "" : outcome.error().error().report();
  }

  // Puts an object there as a rollout would.
  void make(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name,
            std::string_view label) {
    Json object = Json::Object{{"apiVersion", api_version}, {"kind", kind}};
    object.make("metadata").make("name") = name;
    if (!ns.empty()) object.make("metadata").make("namespace") = ns;
    if (!label.empty()) object.make("metadata").make("labels").make(kPartOfLabel) = label;
    auto resource = loop_.run(discovery_.find("", std::string(api_version), std::string(kind)));
    ASSERT_TRUE(resource && *resource);
    EXPECT_EQ(said(loop_.run(client_.apply(**resource, ns, name, object, {{.field_manager = manager_}}))), "");
  }

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

  Json parent() {
    Outcome<kube::Reply> reply = loop_.run(client_.get(kConfigMaps, "default", "fairlead-shop"));
    return reply ? reply->value : Json();
  }
  std::string annotation(std::string_view name) {
    return std::string(parent()["metadata"]["annotations"][name].string_or("none"));
  }
  size_t requests() const {
    size_t sum = 0;
    for (const auto& [verb, count] : client_.counts()) sum += count;
    return sum;
  }
  std::vector<std::string> names(const Outcome<Members>& members) {
    EXPECT_TRUE(members) << said(members);
    std::vector<std::string> names;
    for (const Member& member : members ? members->found : std::vector<Member>()) names.push_back(member.key.text());
    return names;
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

  VirtualLoop loop_;
  std::function<bool(std::string_view verb, std::string_view resource, std::string_view ns)> forbids_;
  sandbox::Sandbox sandbox_;
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
  kube::Discovery discovery_{client_};
  // Who puts objects there.
  std::string manager_ = "fairlead/default/shop";
};

// A server that takes no notice of label selectors, as some aggregated API servers do.
class IgnoresSelectors : public http::Transport {
 public:
  explicit IgnoresSelectors(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (size_t at = request.target.find("labelSelector="); at != std::string::npos) {
      size_t end = request.target.find('&', at);
      request.target.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return to_.open(std::move(request));
  }

 private:
  http::Transport& to_;
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

std::vector<Wanted> config_maps_in(std::string ns) { return {{{"", "ConfigMap", std::move(ns), "x"}, "v1"}}; }

TEST_F(InventoryTest, OpeningOnlyReads) {
  std::unique_ptr<Inventory> inventory = open("ann");
  EXPECT_FALSE(inventory->exists());
  EXPECT_TRUE(parent().is_null());
  EXPECT_EQ(inventory->label_value(), "applyset-p9A8qVu_6JIe1KH43CK8qXKQKjYic-7iaiWS0zTeoUw-v1");
  EXPECT_EQ(inventory->field_manager(), "fairlead/default/shop");
}

TEST_F(InventoryTest, ClaimingWritesTheParent) {
  std::unique_ptr<Inventory> inventory =
      claimed("ann", {{{"apps", "Deployment", "a", "web"}, "v1"}, {{"", "Namespace", "", "a"}, "v1"}});
  Json written = parent();
  EXPECT_EQ(written["metadata"]["labels"].dump(),
            R"({"applyset.kubernetes.io/id":"applyset-p9A8qVu_6JIe1KH43CK8qXKQKjYic-7iaiWS0zTeoUw-v1"})");
  EXPECT_EQ(annotation(kToolingAnnotation), "fairlead/v0.1.0");
  EXPECT_EQ(annotation(kKindsAnnotation), "Deployment.apps,Namespace");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "a");
  EXPECT_EQ(annotation("fairlead.dev/claim"),
            R"({"holder":"ann","since":"2030-01-01T00:00:00.000000Z","renewed":"2030-01-01T00:00:00.000000Z",)"
            R"("renewals":0,"leaseMilliseconds":30000})");
}

TEST_F(InventoryTest, ClaimingUnitesWhatWasAndWhatIsWanted) {
  loop_.run(claimed("ann", config_maps_in("a"))->release());
  claimed("ben", {{{"", "Secret", "b", "x"}, "v1"}});
  EXPECT_EQ(annotation(kKindsAnnotation), "ConfigMap,Secret");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "a,b");
}

TEST_F(InventoryTest, ALiveRunIsNotDisturbed) {
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

TEST_F(InventoryTest, ADeadRunIsTakenOverAfterItsLease) {
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

TEST_F(InventoryTest, ARunThatEndsWhileAnotherWaitsMakesWay) {
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

TEST_F(InventoryTest, ARunThatIsKnownToBeDeadIsTakenOverAtOnce) {
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

TEST_F(InventoryTest, AHoldersNameAloneDoesNotSayThatItIsDead) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  Options options = named("ben");
  options.known_dead = [](std::string_view) { return true; };
  std::unique_ptr<Inventory> ben = *loop_.run(Inventory::open(client_, discovery_, options));
  EXPECT_FALSE(ben->is_free());
  TimePoint start = loop_.now();
  EXPECT_EQ(said(loop_.run(ben->claim({}))), "");
  EXPECT_GE(loop_.now(), start + seconds(29));
}

TEST_F(InventoryTest, AClaimOfLongAgoIsTakenOverAtOnce) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  TimePoint start = loop_.now();
  claimed("ben");
  EXPECT_EQ(loop_.now(), start);
}

TEST_F(InventoryTest, WhoeverHeldItWhileItWasReadMayHaveWrittenSince) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  EXPECT_FALSE(ann->overtaken());
  // The record is as it was read: ann dies without another sign of life.
  std::unique_ptr<Inventory> ben = claimed("ben");
  EXPECT_TRUE(ben->overtaken());
  EXPECT_EQ(said(loop_.run(ben->release())), "");
  EXPECT_FALSE(claimed("eve")->overtaken());
}

TEST_F(InventoryTest, OfTwoThatClaimAtOnceOneWins) {
  std::unique_ptr<Inventory> ann = open("ann"), ben = open("ben");
  EXPECT_EQ(said(loop_.run(ann->claim({}))), "");
  std::string answer;
  (void)beside_keep(*ann, [&]() -> Task<void> { answer = said(co_await ben->claim({})); });
  EXPECT_THAT(answer, testing::HasSubstr("is claimed by another run"));
}

TEST_F(InventoryTest, KeepingGoesOnWhenPeopleEditTheParent) {
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

TEST_F(InventoryTest, KeepingSurvivesAServerThatIsAwayForAWhile) {
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

TEST_F(InventoryTest, KeepingEndsBeforeOthersMayTakeOver) {
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
TEST_F(InventoryTest, AClaimWhoseAnswerComesLateIsNotHeldForLonger) {
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

TEST_F(InventoryTest, AClaimThatNobodyCanWriteHolds) {
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

TEST_F(InventoryTest, AWebhookThatIsInTheWayAgainIsToldAgain) {
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
TEST_F(InventoryTest, AClaimThatNobodyCanWriteHoldsWhenAnswersTakeTime) {
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

TEST_F(InventoryTest, AClaimThatNobodyCouldRenewIsLostToWhoWritesFirst) {
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

TEST_F(InventoryTest, WhoMayBeAtWorkAndWhatIsCoveredCanBeAsked) {
  EXPECT_TRUE(open("ben")->is_free());
  EXPECT_FALSE(open("ben")->covers({"", "ConfigMap", "default", "x"}));
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  std::unique_ptr<Inventory> ben = open("ben");
  EXPECT_FALSE(ben->is_free());
  EXPECT_TRUE(ben->covers({"", "ConfigMap", "a", "x"}));
  EXPECT_TRUE(ben->covers({"", "ConfigMap", "default", "x"}));
  EXPECT_FALSE(ben->covers({"", "ConfigMap", "b", "x"}));
  EXPECT_FALSE(ben->covers({"", "Secret", "a", "x"}));
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  EXPECT_TRUE(ben->is_free());
}

TEST_F(InventoryTest, AParentThatIsDeletedIsAClaimThatIsLost) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  EXPECT_EQ(said(loop_.run(client_.remove(kConfigMaps, "default", "fairlead-shop"))), "");
  EXPECT_EQ(loop_.run(ann->keep()).error().message(),
            "bundle shop in namespace default is no longer claimed by this run: somebody deleted ConfigMap "
            "default/fairlead-shop");
}

TEST_F(InventoryTest, FindsWhatEarlierRunsPutAnywhere) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "old", ann->label_value());
  make("v1", "ConfigMap", "a", "somebody-elses", "applyset-x-v1");
  // Killed here; the next run has moved it to another namespace, and renamed it.
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  std::unique_ptr<Inventory> ben = claimed("ben", config_maps_in("b"));
  make("v1", "ConfigMap", "b", "new", ben->label_value());
  Outcome<Members> members = loop_.run(ben->members(true));
  EXPECT_EQ(names(members), (std::vector<std::string>{"ConfigMap a/old", "ConfigMap b/new"}));
  EXPECT_TRUE(members->found[0].object["metadata"].contains("managedFields"));
  EXPECT_EQ(members->found[0].version, "v1");
  EXPECT_FALSE(members->found[0].uid.empty());

  EXPECT_EQ(said(loop_.run(ben->settle({{"", "ConfigMap", "b", "new"}}))), "");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "b");
  EXPECT_EQ(annotation("fairlead.dev/claim"), "none");
}

TEST_F(InventoryTest, ACopiedLabelMakesNoMember) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "ours", ann->label_value());
  manager_ = "somebody";
  for (std::string_view name : {"copy-1", "copy-2", "copy-3", "copy-4"})
    make("v1", "ConfigMap", "a", name, ann->label_value());
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>{"ConfigMap a/ours"});
  EXPECT_EQ(texts_of(members->foreign_objects),
            std::vector<std::string>{"ConfigMap a/copy-1, ConfigMap a/copy-2, ConfigMap a/copy-3 and 1 more are left "
                                     "alone: they have the bundle's label, but the bundle did not apply them"});
}

TEST_F(InventoryTest, WhatAListReturnsWithoutTheLabelIsNoMember) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "ours", ann->label_value());
  make("v1", "ConfigMap", "b", "theirs", "");
  IgnoresSelectors server(sandbox_.api_server());
  kube::Client client(loop_, server, nullptr, {});
  kube::Discovery discovery(client);
  auto opened = loop_.run(Inventory::open(client, discovery, named("ben")));
  Outcome<Members> members = loop_.run((*opened)->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>{"ConfigMap a/ours"});
  // The other object is the inventory ConfigMap itself.
  EXPECT_EQ(texts_of(members->foreign_objects),
            std::vector<std::string>{"ConfigMap b/theirs, ConfigMap default/fairlead-shop are left alone: the API "
                                     "server returned them without the bundle's label: it ignores label selectors for "
                                     "kind ConfigMap"});
}

TEST_F(InventoryTest, AFieldManagerOfTheUsersIsRemembered) {
  Options options = named("ann");
  options.field_manager = "ci";
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client_, discovery_, options));
  EXPECT_EQ(ann->field_manager(), "ci");
  EXPECT_EQ(said(loop_.run(ann->claim(config_maps_in("a")))), "");
  manager_ = "ci";
  make("v1", "ConfigMap", "a", "x", ann->label_value());
  EXPECT_EQ(said(loop_.run(ann->release())), "");
  EXPECT_EQ(annotation("fairlead.dev/field-managers"), R"(["ci"])");
  EXPECT_EQ(names(loop_.run(open("ben")->members(false))), std::vector<std::string>{"ConfigMap a/x"});
}

TEST_F(InventoryTest, ListsByNamespaceWhereItMustNotListAll) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "x", ann->label_value());
  make("v1", "ConfigMap", "default", "y", ann->label_value());
  forbids_ = [](std::string_view verb, auto, std::string_view ns) { return verb == "list" && ns.empty(); };
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), (std::vector<std::string>{"ConfigMap a/x", "ConfigMap default/y"}));
  EXPECT_TRUE(members->unlisted.empty());
  EXPECT_FALSE(members->found[0].object.contains("data"));
}

TEST_F(InventoryTest, WhatCannotBeListedStaysCovered) {
  std::unique_ptr<Inventory> ann =
      claimed("ann", {{{"", "Secret", "a", "s"}, "v1"}, {{"", "ConfigMap", "b", "x"}, "v1"}});
  forbids_ = [](std::string_view verb, std::string_view resource, auto) {
    return verb == "list" && resource == "secrets";
  };
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>());
  ASSERT_EQ(members->unlisted.size(), 1u);
  EXPECT_EQ(members->unlisted[0].kind, (GroupKind{"", "Secret"}));
  EXPECT_EQ(members->unlisted[0].why.what(), "objects of kind Secret cannot be listed");
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_EQ(annotation(kKindsAnnotation), "Secret");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "a,b");
}

TEST_F(InventoryTest, AKindThatIsNotServedHasNoMembers) {
  std::unique_ptr<Inventory> ann = claimed("ann", {{{"example.com", "Widget", "a", "w"}, "v1"}});
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>());
  EXPECT_TRUE(members->unlisted.empty());
}

TEST_F(InventoryTest, AKindWhoseServerIsDownStaysCovered) {
  const object::Resource api_services{.group = "apiregistration.k8s.io",
                                      .version = "v1",
                                      .kind = "APIService",
                                      .plural = "apiservices",
                                      .singular = "",
                                      .namespaced = false};
  Json nobody = *Json::parse(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
      "metadata":{"name":"v1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1",
      "groupPriorityMinimum":100,"versionPriority":10,"service":{"namespace":"default","name":"nobody"}}})");
  ASSERT_EQ(said(loop_.run(client_.create(api_services, "", nobody))), "");
  kube::Discovery discovery(client_);
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client_, discovery, named("ann")));
  ASSERT_EQ(said(loop_.run(ann->claim(
                {{{"metrics.example.com", "Gauge", "a", "g"}, "v1"}, {{"example.com", "Widget", "b", "w"}, "v1"}}))),
            "");
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>());
  ASSERT_EQ(members->unlisted.size(), 1u);
  EXPECT_EQ(members->unlisted[0].kind, (GroupKind{"metrics.example.com", "Gauge"}));
  EXPECT_EQ(members->unlisted[0].why.message(),
            "the cluster does not serve kind Gauge in metrics.example.com/v1: the server behind APIService "
            "v1.metrics.example.com does not answer");
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_EQ(annotation(kKindsAnnotation), "Gauge.metrics.example.com");
}

TEST_F(InventoryTest, NothingIsToldWithoutAnAnswer) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  (void)loop_.run(ann->members(false));
  sandbox_.set_down(0, true);
  EXPECT_FALSE(loop_.run(ann->members(false)));
}

TEST_F(InventoryTest, WithNothingLeftTheParentGoes) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_TRUE(parent().is_null());
  EXPECT_FALSE(ann->exists());
}

TEST_F(InventoryTest, SettlingALostClaimChangesNothing) {
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

TEST_F(InventoryTest, AClaimThatIsGivenBackWithoutAnAnswerIsNotLost) {
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

TEST_F(InventoryTest, ARunCostsThreeRequestsAndOneAKind) {
  (void)loop_.run(discovery_.all());
  size_t before = requests();
  std::unique_ptr<Inventory> ann =
      claimed("ann", {{{"", "Secret", "a", "s"}, "v1"}, {{"", "ConfigMap", "b", "x"}, "v1"}});
  EXPECT_TRUE(loop_.run(ann->members(true)));
  EXPECT_EQ(said(loop_.run(ann->settle({{"", "Secret", "a", "s"}}))), "");
  EXPECT_EQ(requests() - before, 3u + 2u);
}

TEST_F(InventoryTest, SomebodyElsesConfigMapIsLeftAlone) {
  make("v1", "ConfigMap", "default", "fairlead-shop", "");
  auto opened = loop_.run(Inventory::open(client_, discovery_, named("ann")));
  ASSERT_FALSE(opened);
  EXPECT_EQ(said(opened), R"(error: bundle shop in namespace default cannot be used
  because   ConfigMap default/fairlead-shop already exists and is not the inventory of that bundle
  next      kubectl -n default get configmap fairlead-shop -o yaml
)");
}

TEST_F(InventoryTest, NamesAreChecked) {
  for (const std::string& name : std::vector<std::string>{"", "Shop", "-a", "a.b", "a/b", "..", std::string(54, 'a')}) {
    Options options = named("ann");
    options.name = name;
    EXPECT_FALSE(loop_.run(Inventory::open(client_, discovery_, options))) << name;
    options.name = "shop";
    options.ns = "a/../b";
    EXPECT_FALSE(loop_.run(Inventory::open(client_, discovery_, options)));
  }
}

TEST_F(InventoryTest, AHomeThatIsNotThereIsToldByItsKind) {
  Options options = named("ann");
  options.ns = "nowhere";
  std::unique_ptr<Inventory> inventory = *loop_.run(Inventory::open(client_, discovery_, options));
  Outcome<void> claimed = loop_.run(inventory->claim({}));
  ASSERT_FALSE(claimed);
  EXPECT_TRUE(claimed.error().is(kube::FaultKind::namespace_missing));
}

TEST_F(InventoryTest, AnOwnerIsNamed) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  auto labelled = [](std::string_view label) {
    Json object;
    object.make("metadata").make("labels").make(kPartOfLabel) = label;
    return object;
  };
  Owner owner = loop_.run(find_owner(client_, labelled(ann->label_value())));
  EXPECT_EQ(owner.text, "bundle shop, namespace default");
  EXPECT_EQ(owner.bundle, (BundleName{"shop", "default"}));
  owner = loop_.run(find_owner(client_, labelled("applyset-x-v1")));
  EXPECT_EQ(owner.text, "an ApplySet of another tool: applyset-x-v1");
  EXPECT_FALSE(owner.bundle);
  // The managedFields of the object name the bundle, whether its inventory ConfigMap exists or not.
  make("v1", "ConfigMap", "a", "x", ann->label_value());
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  Outcome<kube::Reply> live = loop_.run(client_.get(kConfigMaps, "a", "x"));
  size_t before = requests();
  EXPECT_EQ(loop_.run(find_owner(client_, live->value)).text, "bundle shop, namespace default");
  EXPECT_EQ(requests(), before);
}

TEST_F(InventoryTest, AClaimThatIsCancelledWhileItIsWrittenCanBeGivenBack) {
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
