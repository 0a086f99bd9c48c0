#include "certs/keeper.h"

#include "certs/sandbox_testing.h"
#include "certs/secret_source.h"

namespace fairlead::certs {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Contest, SlowsDownAfterFiveWrites) {
  Contest contest;
  object::Key key{.name = "a"}, other{.name = "b"};
  TimePoint now{};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(contest.may_write(key, now));
    contest.wrote(key, now);
  }
  EXPECT_FALSE(contest.may_write(key, now + 59s));
  EXPECT_TRUE(contest.may_write(other, now));
  now += 1min;
  EXPECT_TRUE(contest.may_write(key, now));
  contest.wrote(key, now);
  EXPECT_FALSE(contest.may_write(key, now + 119s));
  EXPECT_TRUE(contest.may_write(key, now + 2min));
  // After a quiet hour it is forgotten.
  now += 2h;
  contest.wrote(key, now);
  EXPECT_TRUE(contest.may_write(key, now));
}

TEST(Contest, NoPauseIsSoLongThatItIsForgotten) {
  Contest contest;
  object::Key key{.name = "a"};
  TimePoint now{};
  for (int i = 0; i < 20; ++i) {
    while (!contest.may_write(key, now)) now += 1min;
    now += 1s;
    contest.wrote(key, now);
    EXPECT_EQ(contest.may_write(key, now), i < 4) << i;
  }
}

class KeeperTest : public CertsTest {
 protected:
  KeeperTest() : scope_(loop_, nullptr) {}
  ~KeeperTest() override { end(); }
  // Ends what runs, before what it uses is destroyed.
  void end() {
    scope_.cancel();
    loop_.run(scope_.join());
  }

  Keeper& start(Targets targets = {.webhooks = {"shop"}}) {
    keeper_.emplace(client_, spec_, std::move(targets), proofs_,
                    KeeperOptions{.is_leader = [this] { return is_leader_; },
                                  .say = [this](const std::string& line) { said_.push_back(line); }});
    scope_.spawn(keeper_->run());
    pass(5s);
    return *keeper_;
  }

  bool is_leader_ = true;
  std::optional<Keeper> keeper_;
  Scope scope_;
};

TEST_F(KeeperTest, MakesAndInjects) {
  configure("shop", {hook("a.example.com")});
  Keeper& keeper = start();
  Material material = read_material(secret(), secret("hook-cert-ca"));
  EXPECT_EQ(judge(material, spec_, now()).step, Step::keep);
  EXPECT_EQ(bundle("shop"), material.ca->certificate.to_pem());
  EXPECT_EQ(keeper.status().trouble, "");
  EXPECT_THAT(keeper.status().steps, ElementsAre(Pair("create", 1)));
}

TEST_F(KeeperTest, OnlyTheLeaderWrites) {
  configure("shop", {hook("a.example.com")});
  is_leader_ = false;
  Keeper& keeper = start();
  EXPECT_FALSE(has_secret("hook-cert"));
  is_leader_ = true;
  keeper.wake();
  pass(1s);
  EXPECT_TRUE(has_secret("hook-cert"));
}

TEST_F(KeeperTest, HealsAtOnceWhatIsDeletedOrEmptied) {
  configure("shop", {hook("a.example.com")});
  Keeper& keeper = start();
  Json before = secret();
  remove_secret("hook-cert");
  pass(2s);
  EXPECT_EQ(secret()["data"], before["data"]);
  Json emptied = secret();
  for (std::string_view key : {kCaFile, kCertificateFile, kKeyFile}) emptied.make("data").make(key) = "";
  send("PUT", "/api/v1/namespaces/shop/secrets/hook-cert", emptied.dump());
  pass(2s);
  EXPECT_EQ(secret()["data"].dump(), before["data"].dump());
  remove_secret("hook-cert-ca");
  pass(2s);
  EXPECT_TRUE(has_secret("hook-cert-ca"));
  EXPECT_THAT(keeper.status().steps, ElementsAre(Pair("create", 1), Pair("heal", 3)));
}

TEST_F(KeeperTest, LooksAgainAtOnceIfSomethingChangesWhileItLooks) {
  configure("shop", {hook("a.example.com")});
  Keeper& keeper = start();
  pass(5min);
  uint64_t looks = keeper.status().looks;
  bool is_first = true;
  forbids = [&](std::string_view, std::string_view resource) {
    if (resource == "validatingwebhookconfigurations" && std::exchange(is_first, false)) keeper.wake();
    return false;
  };
  keeper.wake();
  pass(1s);
  EXPECT_EQ(keeper.status().looks, looks + 2);
}

TEST_F(KeeperTest, LooksAgainSoonIfSomethingChangesDuringALookThatFails) {
  configure("shop", {hook("a.example.com")});
  bool is_forbidden = true, changes = false;
  forbids = [&](std::string_view, std::string_view resource) {
    if (resource != "validatingwebhookconfigurations") return false;
    bool answer = is_forbidden;
    // By the time of the answer it is outdated.
    if (std::exchange(changes, false)) {
      is_forbidden = false;
      keeper_->wake();
    }
    return answer;
  };
  Keeper& keeper = start();
  pass(10min);
  EXPECT_NE(keeper.status().trouble, "");
  changes = true;
  keeper.wake();
  pass(6s);
  EXPECT_EQ(keeper.status().trouble, "");
}

TEST_F(KeeperTest, RepairsABundleThatSomebodyEmptiedAndSlowsDownInAFight) {
  configure("shop", {hook("a.example.com")});
  start();
  std::string right = bundle("shop");
  auto empty = [&] {
    Json object = configuration("shop");
    (*object.make("webhooks").if_array())[0].make("clientConfig").if_object()->erase("caBundle");
    send("PUT", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop?fieldManager=argo",
         object.dump());
    pass(2s);
  };
  for (int i = 0; i < 4; ++i) {
    empty();
    EXPECT_EQ(bundle("shop"), right) << i;
  }
  empty();
  EXPECT_EQ(bundle("shop"), "");
  EXPECT_EQ(
      said_.back(),
      "not every caBundle has the CA: webhook a.example.com of ValidatingWebhookConfiguration shop: somebody else "
      "keeps changing it; waiting before it is written again");
  pass(2min);
  EXPECT_EQ(bundle("shop"), right);
}

TEST_F(KeeperTest, RenewsByTheWallClockAndNothingEverExpires) {
  configure("shop", {hook("a.example.com")});
  spec_.validity = 60min;
  spec_.renew_before = 20min;
  Keeper& keeper = start();
  for (int minutes = 0; minutes < 180; minutes += 5) {
    pass(5min);
    Material material = read_material(secret(), secret("hook-cert-ca"));
    Place place;
    place.ca_bundle = to_base64(bundle("shop"));
    ASSERT_EQ(flaw_of(material, trusted_by(place), spec_, now()), std::nullopt) << minutes;
    ASSERT_EQ(trusted_by(place).size(), 1u) << minutes;
  }
  EXPECT_EQ(keeper.status().steps.at("renew-ca"), 4u);
}

TEST_F(KeeperTest, FinishesARotationThatSomebodyElseBegan) {
  configure("shop", {hook("a.example.com")});
  start();
  Store store(client_, spec_);
  Stored stored = loop_.run(store.read()).value();
  Change begun = take_step(Step::begin_rotation, stored.material, spec_, now()).value();
  ASSERT_TRUE(loop_.run(store.write(stored, begun)).value());
  pass(10s);
  EXPECT_EQ(bundle("shop"), begun.after.ca->certificate.to_pem());
  EXPECT_EQ(read_material(secret(), secret("hook-cert-ca")).rotating, false);
}

TEST_F(KeeperTest, SaysThatAConfigurationIsMissing) {
  Keeper& keeper = start();
  EXPECT_EQ(keeper.status().trouble, "the CA cannot be registered: ValidatingWebhookConfiguration shop does not exist");
  configure("shop", {hook("a.example.com")});
  pass(5s);
  EXPECT_EQ(keeper.status().trouble, "");
}

// Watches answer, and then say nothing for ever.
class SilentWatches final : public http::Transport {
 public:
  explicit SilentWatches(Loop& loop, http::Transport& to) : to_(to), never_(loop) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.target.find("watch=") != std::string::npos)
      co_return http::Answer{.headers = {{"Content-Type", "application/json"}},
                             .body = std::make_unique<Silence>(never_)};
    co_return co_await to_.open(std::move(request));
  }

 private:
  struct Silence final : http::Body {
    explicit Silence(Signal& never) : signal(never) {}
    Task<Result<std::optional<std::string>>> read() override {
      if (Result<void> waited = co_await signal.wait(); !waited) co_return fail(std::move(waited).error());
      co_return std::nullopt;
    }
    Signal& signal;
  };
  http::Transport& to_;
  Signal never_;
};

TEST_F(KeeperTest, AServerNoticesAChangeThatItsWatchDoesNotTell) {
  Engine engine = this->engine();
  Material before = ensured(engine).material;
  SilentWatches silent(loop_, sandbox_.api_server());
  kube::Client client(loop_, silent, nullptr, {});
  SecretSource source(client, "shop", "hook-cert");
  scope_.spawn(source.run());
  pass(1s);
  ASSERT_TRUE(source.current());
  EXPECT_EQ(source.current()->chain, before.chain);
  Material after = fresh(spec_, now());
  store(after);
  pass(1min);
  EXPECT_EQ(source.current()->chain, after.chain);
  remove_secret("hook-cert");
  pass(1min);
  EXPECT_EQ(source.trouble(), "Secret shop/hook-cert does not exist");
  end();
}

// A GET of a Secret is carried out at once, and its answer comes late.
class LateReads final : public http::Transport {
 public:
  LateReads(Loop& loop, http::Transport& to) : loop_(loop), to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_read = request.method == "GET" && request.target == "/api/v1/namespaces/shop/secrets/hook-cert";
    Result<http::Answer> answer = co_await to_.open(std::move(request));
    if (is_read) CO_TRY(co_await sleep_for(loop_, 10s));
    co_return answer;
  }

 private:
  Loop& loop_;
  http::Transport& to_;
};

TEST_F(KeeperTest, WhatTheWatchToldMeanwhileIsNewerThanALateAnswer) {
  Engine engine = this->engine();
  Material before = ensured(engine).material;
  LateReads late(loop_, sandbox_.api_server());
  kube::Client client(loop_, late, nullptr, {});
  SecretSource source(client, "shop", "hook-cert");
  scope_.spawn(source.run());
  // A reading is under way.
  pass(35s);
  Material after = fresh(spec_, now());
  store(after);
  pass(1s);
  ASSERT_TRUE(source.current());
  EXPECT_EQ(source.current()->chain, after.chain);
  pass(10s);
  EXPECT_EQ(source.current()->chain, after.chain);
  end();
}

TEST_F(KeeperTest, GoesOnAfterFailures) {
  configure("shop", {hook("a.example.com")});
  bool down = true;
  forbids = [&](std::string_view verb, std::string_view resource) {
    return down && resource == "secrets" && verb == "create";
  };
  Keeper& keeper = start();
  EXPECT_NE(keeper.status().trouble, "");
  EXPECT_EQ(said_.size(), 1u);
  down = false;
  pass(2min);
  EXPECT_EQ(keeper.status().trouble, "");
  EXPECT_TRUE(has_secret("hook-cert"));
}

TEST_F(KeeperTest, AServerGetsThePairFromTheSecretAndKeepsItWhenTheSecretIsLost) {
  SecretSource source(client_, "shop", "hook-cert");
  EXPECT_EQ(source.trouble(), "Secret shop/hook-cert has not been read yet");
  scope_.spawn(source.run());
  pass(1s);
  EXPECT_EQ(source.current(), nullptr);
  EXPECT_EQ(source.trouble(), "Secret shop/hook-cert does not exist");
  int changes = 0;
  auto count = [&]() -> Task<void> {
    while (co_await source.changed().wait()) ++changes;
  };
  scope_.spawn(count());

  Engine engine = this->engine();
  Material material = ensured(engine).material;
  pass(1s);
  ASSERT_TRUE(source.current());
  EXPECT_EQ(source.current()->chain, material.chain);
  EXPECT_EQ(source.current()->origin, "Secret shop/hook-cert");
  EXPECT_EQ(source.trouble(), "");
  EXPECT_EQ(changes, 1);
  // A change that does not concern the pair is none.
  send("PATCH", "/api/v1/namespaces/shop/secrets/hook-cert", R"({"metadata":{"labels":{"a":"b"}}})",
       "application/merge-patch+json");
  pass(1s);
  EXPECT_EQ(changes, 1);
  send("PATCH", "/api/v1/namespaces/shop/secrets/hook-cert", R"({"data":{"tls.key":"AAAA"}})",
       "application/merge-patch+json");
  pass(1s);
  EXPECT_EQ(source.trouble(), "tls.key of Secret shop/hook-cert cannot be used: there is no private key in PEM form");
  EXPECT_EQ(source.current()->chain, material.chain);
  remove_secret("hook-cert");
  pass(1s);
  EXPECT_EQ(source.trouble(), "Secret shop/hook-cert does not exist");
  EXPECT_EQ(source.current()->chain, material.chain);
  EXPECT_EQ(changes, 3);
  end();
}

TEST_F(KeeperTest, AServerGetsAnotherCaOfTheSameCertificate) {
  Engine engine = this->engine();
  Material material = ensured(engine).material;
  SecretSource source(client_, "shop", "hook-cert");
  scope_.spawn(source.run());
  pass(1s);
  ASSERT_TRUE(source.current());
  std::vector<x509::Certificate> both = {material.bundle.front(), fresh(spec_, now()).bundle.front()};
  send("PATCH", "/api/v1/namespaces/shop/secrets/hook-cert",
       fmt::format(R"({{"data":{{"ca.crt":"{}"}}}})", to_base64(x509::to_pem(both))), "application/merge-patch+json");
  pass(1s);
  EXPECT_EQ(source.current()->chain, material.chain);
  EXPECT_EQ(source.current()->ca, both);
  end();
}

class FakeFiles final : public CertificateSource {
 public:
  explicit FakeFiles(Loop& loop) : changed_(loop) {}
  std::shared_ptr<const ServingPair> current() const override { return pair; }
  std::string trouble() const override { return pair ? "" : "no files"; }
  Signal& changed() override { return changed_; }
  std::shared_ptr<const ServingPair> pair;
  Signal changed_;
};

TEST_F(KeeperTest, FilesAreUsedForAsLongAsTheSecretMayNotBeRead) {
  forbids = [](std::string_view, std::string_view resource) { return resource == "secrets"; };
  FakeFiles files(loop_);
  SecretSource source(client_, "shop", "hook-cert", &files);
  scope_.spawn(source.run());
  pass(1min);
  EXPECT_EQ(source.current(), nullptr);
  EXPECT_TRUE(source.trouble().starts_with("Secret shop/hook-cert cannot be read: ")) << source.trouble();
  EXPECT_TRUE(source.trouble().ends_with("; no files")) << source.trouble();
  Material material = fresh(spec_, now());
  files.pair = std::make_shared<ServingPair>(
      ServingPair{.chain = material.chain, .key = *material.key, .ca = material.bundle, .origin = "/certs"});
  files.changed_.notify_all();
  pass(1s);
  EXPECT_EQ(source.current()->origin, "/certs");
  EXPECT_EQ(source.trouble(), "");
  forbids = {};
  Engine engine = this->engine();
  ensured(engine);
  pass(1min);
  EXPECT_EQ(source.current()->origin, "Secret shop/hook-cert");
  end();
}

}  // namespace
}  // namespace fairlead::certs
