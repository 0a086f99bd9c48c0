#include "webhook/server/server.h"

#include <atomic>

#include "base/base64.h"
#include "sandbox/sandbox.h"
#include "webhook/server/admission_server_testing.h"
#include "webhook/server/coordination.h"

namespace fairlead::webhook {
namespace {

TEST_F(AdmissionServerTest, ReviewsAreAnsweredLoggedAndCounted) {
  auto running = run();
  EXPECT_EQ(exchange(*running, post(kWidgets, widget_review(""))),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 101\r\n\r\n"
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true}})");
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review("deny"))), testing::HasSubstr(R"("allowed":false)"));
  EXPECT_THAT(exchange(*running, post(std::string(kWidgets) + "?timeout=5s", widget_review("throw"))),
              testing::EndsWith("\r\n\r\nthe policy for widgets.example.com failed: out of range\n"));
  EXPECT_THAT(
      running->probe("/metrics"),
      testing::AllOf(testing::HasSubstr("fairlead_webhook_reviews_total{path=\"/validate-example-com-v1-widget\","
                                        "decision=\"denied\"} 1\n"),
                     testing::HasSubstr("fairlead_webhook_review_duration_seconds_count{path=\"/validate-example-"
                                        "com-v1-widget\"} 3\n"),
                     testing::HasSubstr("fairlead_webhook_certificate_expiry_timestamp_seconds{certificate=\"ca\"}"),
                     testing::HasSubstr("fairlead_webhook_reviews_in_flight 0\n")));
  running->finish();
  EXPECT_THAT(running->logged,
              testing::HasSubstr(R"("level":"info","message":"review","path":"/validate-example-com-v1-widget",)"
                                 R"("resource":"widgets.example.com","version":"v1","namespace":"team","name":"w",)"
                                 R"("operation":"CREATE","user":"jane","decision":"denied",)"
                                 R"("cause":"spec.do must not be \"deny\"","milliseconds":)"));
  EXPECT_THAT(running->logged, testing::HasSubstr(R"("decision":"failed","cause":"the policy for widgets.example.com )"
                                                  R"(failed: out of range")"));
  EXPECT_THAT(running->logged, testing::Not(testing::HasSubstr("hunter2")));
}

TEST_F(AdmissionServerTest, WhatOthersDecideOnIsLetThrough) {
  struct NotTeam : Territory {
    std::optional<std::string> left_to(Route::Kind, const std::string& ns) const override {
      return ns == "team" ? std::optional<std::string>("the operator of team") : std::nullopt;
    }
    Coordination coordination() const override { return {.lease_held = {}, .namespaces_left = 1, .view_stale = false}; }
  } territory;
  auto running = run({.drain = 0s}, nullptr, &territory);
  EXPECT_THAT(
      exchange(*running, post(kWidgets, widget_review("deny"))),
      testing::EndsWith(R"("uid":"u-1","allowed":true,"auditAnnotations":{"left-to":"the operator of team"}}})"));
  EXPECT_THAT(running->probe("/metrics"), testing::AllOf(testing::HasSubstr("decision=\"elsewhere\"} 1\n"),
                                                         testing::HasSubstr("\nfairlead_webhook_namespaces_left 1\n")));
  running->finish();
  EXPECT_THAT(running->logged, testing::HasSubstr(R"("decision":"elsewhere","cause":"left to the operator of team")"));
}

TEST_F(AdmissionServerTest, TroublesBesideItAreTold) {
  struct Alone : Territory {
    std::optional<std::string> left_to(Route::Kind, const std::string&) const override { return std::nullopt; }
    Coordination coordination() const override {
      return {
          .lease_held = false, .namespaces_left = {}, .view_stale = {}, .trouble = "the Lease is not held: forbidden"};
    }
  } territory;
  auto running = run({.drain = 0s}, nullptr, &territory);
  running->until_ready();
  EXPECT_EQ(running->probe("/readyz"), "200 ok\nwarning: the Lease is not held: forbidden\n");
  running->finish();
  EXPECT_THAT(running->logged, testing::HasSubstr(R"("level":"warning","message":"trouble","cause":"the Lease is not )"
                                                  R"(held: forbidden"})"));
}

TEST_F(AdmissionServerTest, WhatIsNoReviewIsRefused) {
  auto running = run({.body_bytes = 100, .drain = 0s});
  auto status_and_text = [&](std::string_view request) {
    std::string answer = exchange(*running, request);
    return answer.substr(9, 4) + answer.substr(answer.find("\r\n\r\n") + 4);
  };
  EXPECT_EQ(status_and_text(post("/nowhere", "{}")), "404 there is no webhook at /nowhere\n");
  EXPECT_EQ(status_and_text(fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", kWidgets)),
            "405 reviews are sent with POST\n");
  EXPECT_EQ(status_and_text(post(kWidgets, "{}", "text/plain")), "415 reviews are sent as application/json\n");
  EXPECT_EQ(status_and_text(post(kWidgets, "{}", "application/json; charset=utf-8")).substr(0, 12), "400 expected");
  EXPECT_EQ(status_and_text(post(kWidgets, std::string(101, ' '))), "413 the body of the request is too large\n");
  EXPECT_EQ(running->probe("/elsewhere"), "404 there are /healthz, /readyz and /metrics\n");
  // What no policy sees is counted, and logged.
  EXPECT_FALSE(
      TestClient(running->port(), ClientTls{.roots = {test_ca("other").certificate}, .identity = {}}).connected());
  running->until(
      [&] { return running->server->metrics().text().find("status=\"handshake\"} 1\n") != std::string::npos; });
  EXPECT_THAT(running->probe("/metrics"),
              testing::AllOf(testing::HasSubstr("\nfairlead_webhook_refused_total{status=\"405\"} 1\n"),
                             testing::HasSubstr("\nfairlead_webhook_refused_total{status=\"413\"} 1\n"),
                             testing::HasSubstr("\nfairlead_webhook_refused_total{status=\"415\"} 1\n")));
  running->finish();
  EXPECT_THAT(running->logged,
              testing::HasSubstr(R"("message":"a request was refused","status":413,"peer":"127.0.0.1:)"));
  EXPECT_THAT(running->logged, testing::HasSubstr(R"("message":"a TLS handshake failed","peer":"127.0.0.1:)"));
}

TEST_F(AdmissionServerTest, WithoutACertificateItWaitsAndDoesNotEnd) {
  Running running({.host = std::string(kHost), .drain = 0s}, routes_, nullptr);
  running.use(nullptr, "cannot read tls.crt");
  running.until([&] { return running.server->not_ready() == "there is no certificate yet: cannot read tls.crt"; });
  EXPECT_EQ(running.probe("/healthz"), "200 ok\n");
  EXPECT_EQ(running.probe("/readyz"), "503 there is no certificate yet: cannot read tls.crt\n");
  running.use(serving_pair(ca_, leaf_));
  running.until_ready();
  EXPECT_EQ(running.probe("/readyz"), "200 ok\n");
  EXPECT_THAT(exchange(running, post(kWidgets, widget_review(""))), testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, AFirstPairThatTlsCannotUseDoesNotEndIt) {
  auto mixed = std::make_shared<certs::ServingPair>(*serving_pair(ca_, leaf_));
  mixed->key = test_leaf(ca_).key;
  Running running({.host = std::string(kHost), .drain = 0s}, routes_, mixed);
  std::string why =
      "there is no certificate yet: a test cannot be used: the server's private key does not belong to its certificate";
  running.until([&] { return running.server->not_ready() == why; });
  EXPECT_EQ(running.probe("/healthz"), "200 ok\n");
  EXPECT_EQ(running.probe("/readyz"), "503 " + why + "\n");
  running.use(serving_pair(ca_, leaf_));
  running.until_ready();
}

TEST_F(AdmissionServerTest, IsReadyOnlyWhenEveryBundleOfItsOwnVerifies) {
  TestSurroundings cluster;
  Caller own{.configuration = "ValidatingWebhookConfiguration w, webhook v", .is_own = true, .ca_bundle = ""};
  Caller foreign{.configuration = "MutatingWebhookConfiguration x, webhook y", .is_own = false, .ca_bundle = "QQ=="};
  cluster.known = Callers{.found = {own, foreign}, .missing = {}};
  auto running = run({.drain = 0s}, &cluster);
  running->until([&] {
    return running->server->not_ready() == "ValidatingWebhookConfiguration w, webhook v has no caBundle yet";
  });
  EXPECT_EQ(running->probe("/readyz"), "503 ValidatingWebhookConfiguration w, webhook v has no caBundle yet\n");
  own.ca_bundle = to_base64(ca_.certificate.to_pem());
  running->thread.ask<bool>([&] { return cluster.known = Callers{.found = {own, foreign}, .missing = {}}, true; });
  running->until_ready();
  // What is known stays true while the API server is away.
  int looks = 0;
  running->thread.ask<bool>([&] {
    cluster.known = fail(ErrorKind::unavailable, "gone");
    looks = cluster.looks;
    return true;
  });
  // What the first of these looks found has been taken up.
  running->until([&] { return cluster.looks >= looks + 2; });
  EXPECT_EQ(running->probe("/readyz"), "200 ok\n");
  running->thread.ask<bool>([&] { return cluster.known = Callers{.found = {own}, .missing = {}}, true; });
  // A certificate of another authority is served: not ready until the bundle has it.
  x509::KeyPair other = test_ca("other");
  running->use(serving_pair(other, test_leaf(other)));
  running->until([&] { return !running->server->not_ready().empty(); });
  own.ca_bundle = to_base64(ca_.certificate.to_pem() + other.certificate.to_pem());
  running->thread.ask<bool>([&] { return cluster.known = Callers{.found = {own}, .missing = {}}, true; });
  running->until_ready();
  running->finish();
  EXPECT_THAT(running->logged, testing::HasSubstr("\"level\":\"warning\",\"message\":\"the caBundle of "
                                                  "MutatingWebhookConfiguration x, webhook y cannot be read"));
}

// A server that holds a Lease in a cluster of its own.
class HoldingTest : public AdmissionServerTest {
 protected:
  ~HoldingTest() override {
    if (!running_) return;
    running_->finish();
    running_->thread.run([this]() -> Task<void> {
      holding_->cancel();
      co_await holding_->join();
      holding_.reset();
      holder_.reset();
      client_.reset();
      co_await sandbox_->stop();
      sandbox_.reset();
    });
  }
  void start() {
    running_ = run({.drain = 0s, .drain_limit = 1h}, &cluster_);
    running_->thread.ask<bool>([this] {
      Loop& loop = running_->thread.loop;
      sandbox_ = std::make_unique<sandbox::Sandbox>(loop, sandbox::Options{.controllers = false});
      client_ = std::make_unique<kube::Client>(loop, sandbox_->api_server(), nullptr, kube::Client::Options());
      holder_ = std::make_unique<lease::Holder>(
          *client_, lease::HolderOptions{.ns = "default", .name = "lock", .identity = "pod-0_1"});
      holding_ = std::make_unique<Scope>(loop, nullptr);
      holding_->spawn(hold_while_ready(*running_->server, *holder_, running_->stop));
      return true;
    });
  }
  void until_held(bool held) {
    running_->until([this, held] { return holder_->holds() == held; });
  }
  void say(Callers callers) {
    running_->thread.ask<bool>([&] { return cluster_.known = std::move(callers), true; });
  }

  TestSurroundings cluster_;
  std::unique_ptr<Running> running_;
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<lease::Holder> holder_;
  std::unique_ptr<Scope> holding_;
};

TEST_F(HoldingTest, TheLeaseIsHeldOnlyWhileEveryConfigurationOfItsOwnCallsTheServer) {
  Callers none{.found = {}, .missing = {"there is no configuration w"}};
  cluster_.known = none;
  start();
  running_->until([this] { return running_->server->not_ready() == "there is no configuration w"; });
  EXPECT_FALSE(holder_->record().has_value());
  say({});
  until_held(true);
  say(none);
  until_held(false);
  running_->until([this] { return holder_->record() && holder_->record()->holder.empty(); });
  EXPECT_EQ(running_->probe("/readyz"), "503 there is no configuration w\n");
}

TEST_F(HoldingTest, TheLeaseIsKeptWhileTheServerDrainsAndGivenUpIfItIsUninstalled) {
  cluster_.still = std::numeric_limits<int>::max();
  start();
  until_held(true);
  running_->ask_to_stop();
  running_->until([this] { return running_->server->metrics().draining; });
  EXPECT_TRUE(running_->thread.ask<bool>([this] { return holder_->holds(); }));
  say({.found = {}, .missing = {"there is no configuration w"}});
  until_held(false);
  running_->thread.ask<bool>([this] { return cluster_.still = 0, true; });
}

TEST_F(HoldingTest, TheLeaseIsKeptWhileAServerThatIsNotReadyDrains) {
  cluster_.still = std::numeric_limits<int>::max();
  start();
  until_held(true);
  running_->ask_to_stop();
  running_->until([this] { return running_->server->metrics().draining; });
  say({.found = {{.configuration = "configuration w", .is_own = true, .ca_bundle = ""}}, .missing = {}});
  running_->until([this] { return running_->server->not_ready() == "configuration w has no caBundle yet"; });
  // Whoever gives it up has done so after some looks.
  int looks = running_->thread.ask<int>([this] { return cluster_.looks; });
  running_->until([&] { return cluster_.looks > looks + 3; });
  EXPECT_TRUE(running_->thread.ask<bool>([this] { return holder_->holds(); }));
  say({.found = {}, .missing = {"there is no configuration w"}});
  until_held(false);
  running_->thread.ask<bool>([this] { return cluster_.still = 0, true; });
}

TEST_F(AdmissionServerTest, CertificatesChangeUnderLoadAndBadOnesAreNotTakenUp) {
  auto running = run();
  running->until_ready();
  std::atomic<int> failures = 0, requests = 0;
  auto load = [&] {
    for (int i = 0; i < 20; ++i) {
      TestClient client(running->port(), trusting());
      for (int j = 0; j < 5; ++j, ++requests)
        if (client.exchange(post(kWidgets, widget_review(""))).find(R"("allowed":true)") == std::string::npos)
          ++failures;
    }
  };
  std::thread a(load), b(load);
  x509::KeyPair last = leaf_;
  while (requests < 200) {
    last = test_leaf(ca_);
    running->use(serving_pair(ca_, last));
  }
  a.join();
  b.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(running->thread.ask<size_t>([&] { return running->logged.find("\"not ready\""); }), std::string::npos);
  running->use(serving_pair(ca_, last), "tls.key does not belong to tls.crt");
  running->until_ready();
  EXPECT_EQ(TestClient(running->port(), trusting()).server_fingerprint(), last.certificate.sha256_fingerprint());
  EXPECT_EQ(running->probe("/readyz"), "200 ok, with the last good certificate: tls.key does not belong to tls.crt\n");
  EXPECT_THAT(running->probe("/metrics"),
              testing::AllOf(testing::HasSubstr("fairlead_webhook_certificate_reloads_total{result=\"failure\"} 1\n"),
                             testing::HasSubstr("\nfairlead_webhook_certificate_kept 1\n")));
  running->use(serving_pair(ca_, last));
  running->until([&] { return running->server->metrics().keeps_earlier_certificate == false; });
  EXPECT_EQ(running->probe("/readyz"), "200 ok\n");
}

TEST_F(AdmissionServerTest, APairThatNobodyWouldAcceptDoesNotReplaceAGoodOne) {
  auto running = run();
  running->until_ready();
  auto served = [&] { return TestClient(running->port(), trusting()).server_fingerprint(); };
  std::string good = leaf_.certificate.sha256_fingerprint();
  auto is_kept = [&](const x509::KeyPair& leaf, const std::string& why) {
    running->use(serving_pair(ca_, leaf));
    running->until([&] { return running->server->metrics().keeps_earlier_certificate; });
    EXPECT_EQ(running->probe("/readyz"),
              fmt::format("200 ok, with the last good certificate: a test cannot be used: {}\n", why));
    EXPECT_EQ(served(), good);
    running->use(serving_pair(ca_, leaf_));
    running->until([&] { return !running->server->metrics().keeps_earlier_certificate; });
  };
  is_kept(test_leaf(ca_, {.dns_names = {"other.team.svc"}}),
          "certificate is valid for other.team.svc, not hook.team.svc");
  is_kept(test_leaf(ca_, {.usages = {x509::Usage::client}}), "certificate is not for use by a server");
  is_kept(test_leaf(test_ca("other")), "certificate is signed by unknown authority \"other\"");
  x509::KeyPair next = test_leaf(ca_);
  uint64_t before = running->thread.ask<uint64_t>([&] { return running->server->metrics().reloads(); });
  running->use(serving_pair(ca_, next));
  running->until([&] { return running->server->metrics().reloads() > before; });
  EXPECT_EQ(served(), next.certificate.sha256_fingerprint());
  running->finish();
  EXPECT_THAT(running->logged,
              testing::HasSubstr(R"("level":"warning","message":"the last good certificate is kept",)"
                                 R"("cause":"a test cannot be used: certificate is not for use by a server"})"));
}

TEST_F(AdmissionServerTest, AnythingIsBetterThanAPairThatHasExpired) {
  x509::KeyPair expired =
      x509::make_leaf(ca_, {.dns_names = {std::string(kHost)}, .validity = 1s}, RealClock().wall_now() - 1h).value();
  Running running({.host = std::string(kHost), .drain = 0s}, routes_, serving_pair(ca_, expired));
  running.until([&] { return running.server->not_ready().starts_with("a test: certificate has expired"); });
  running.use(serving_pair(ca_, test_leaf(ca_, {.dns_names = {"other.team.svc", "localhost"}})));
  running.until([&] { return running.server->not_ready().find("not hook.team.svc") != std::string::npos; });
  EXPECT_EQ(running.probe("/readyz"),
            "503 a test: certificate is valid for other.team.svc, localhost, not hook.team.svc\n");
}

TEST_F(AdmissionServerTest, StoppingLosesNoRequest) {
  TestSurroundings cluster;
  cluster.still = 2;
  // Long enough for what the test does; it is not waited for where the test ends the server.
  auto running = run({.reviews = {.quick_bytes = 0}, .drain = 1s, .drain_limit = 10s}, &cluster);
  TestClient in_flight(running->port(), trusting());
  in_flight.send(post(kWidgets, widget_review("wait")));
  TestClient idle(running->port(), trusting());
  gate_->until_waiting(1);
  running->ask_to_stop();
  running->until([&] { return running->server->metrics().draining; });
  EXPECT_EQ(running->probe("/readyz"), "503 the server is stopping\n");
  EXPECT_EQ(running->probe("/healthz"), "200 ok\n");
  // Connections that are there, and new ones: answered, and told to go elsewhere.
  for (TestClient* client : {&idle, static_cast<TestClient*>(nullptr)}) {
    TestClient fresh(running->port(), trusting());
    std::string answer = (client ? client : &fresh)->exchange(post(kWidgets, widget_review("")));
    EXPECT_THAT(answer, testing::AllOf(testing::HasSubstr("\r\nConnection: close\r\n"),
                                       testing::HasSubstr(R"("allowed":true)")));
  }
  // The endpoint is there for one more look, then nothing is accepted; what is in flight is still waited for.
  running->until([&] { return cluster.asked == 2; });
  gate_->open();
  EXPECT_THAT(in_flight.read_answer(), testing::HasSubstr(R"("allowed":true)"));
  running->ended.get();
  EXPECT_TRUE(running->result.has_value());
}

TEST_F(AdmissionServerTest, AnApiServerThatHangsDoesNotKeepItFromStopping) {
  TestSurroundings cluster;
  auto running = run({.drain = 0s, .drain_limit = 1s}, &cluster);
  Signal never(running->thread.loop);
  running->thread.ask<bool>([&] { return (cluster.hangs = &never) != nullptr; });
  running->finish();
  EXPECT_TRUE(running->result.has_value());
  EXPECT_EQ(cluster.asked, 1);
}

TEST_F(AdmissionServerTest, AnApiServerThatFailsDoesNotEndTheDrain) {
  TestSurroundings cluster;
  cluster.failing = 3;
  cluster.still = 6;
  auto running = run({.drain = 0s, .drain_limit = 1h}, &cluster);
  running->finish();
  EXPECT_EQ(cluster.asked, 6);
}

TEST_F(AdmissionServerTest, ConnectionsThatStallAtTheProbesBlockNoProbe) {
  auto running = run();
  running->until_ready();
  std::vector<std::unique_ptr<TestClient>> stalled;
  for (int i = 0; i < 60; ++i) {
    stalled.push_back(std::make_unique<TestClient>(running->server->probe_port()));
    stalled.back()->send("GET /healthz HTTP/1.1\r\nHo");
  }
  EXPECT_EQ(running->probe("/healthz"), "200 ok\n");
  EXPECT_EQ(running->probe("/readyz"), "200 ok\n");
}

TEST_F(AdmissionServerTest, BodiesThatDoNotComeKeepNoReviewOut) {
  auto running = run({.reviews = {.quick_bytes = 0}, .drain = 0s});
  std::vector<std::unique_ptr<TestClient>> announcing;
  for (int i = 0; i < 9; ++i) {
    announcing.push_back(std::make_unique<TestClient>(running->port(), trusting()));
    announcing.back()->send(
        fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    "Content-Length: 8388608\r\n\r\n{{",
                    kWidgets));
  }
  std::string large = widget_review("") + std::string(100'000, ' ');
  EXPECT_THAT(exchange(*running, post(kWidgets, large)), testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, ARollingRestartLosesNoRequest) {
  auto first = run({.drain = 300ms});
  std::atomic<uint16_t> endpoint = first->port();
  std::atomic<int> failures = 0, requests = 0;
  std::atomic<bool> over = false;
  auto load = [&] {
    while (!over) {
      TestClient client(endpoint, trusting());
      std::string answer;
      do {
        answer = client.exchange(post(kWidgets, widget_review("")));
        ++requests;
        if (answer.find(R"("allowed":true)") == std::string::npos) ++failures;
      } while (!over && !answer.empty() && answer.find("Connection: close") == std::string::npos);
    }
  };
  std::thread a(load), b(load);
  for (int i = 0; i < 3; ++i) {
    auto next = run({.drain = 300ms});
    next->until_ready();
    int before = requests;
    while (requests < before + 20) std::this_thread::sleep_for(1ms);
    first->ask_to_stop();
    endpoint = next->port();
    first->finish();
    first = std::move(next);
  }
  over = true;
  a.join();
  b.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(AdmissionServerTest, ApiServersMayHaveToShowACertificate) {
  x509::KeyPair client_ca = test_ca("client CA");
  auto running = run({.clients = http::ClientTrust{.roots = {client_ca.certificate}}, .drain = 0s});
  running->until_ready();
  EXPECT_EQ(exchange(*running, post(kWidgets, widget_review(""))), "");
  x509::KeyPair leaf = test_leaf(client_ca, {.common_name = "apiserver", .usages = {x509::Usage::client}});
  ClientTls with = trusting();
  with.identity = http::Identity{{leaf.certificate}, leaf.key};
  EXPECT_THAT(TestClient(running->port(), with).exchange(post(kWidgets, widget_review(""))),
              testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, APortThatIsTakenIsAnError) {
  auto first = run();
  http::LoopThread thread;
  TestCertificates certificates(thread.loop);
  certificates.pair = serving_pair(ca_, leaf_);
  CancelSource stop;
  thread.run([&]() -> Task<void> {
    Log log(thread.loop, [](std::string_view) {});
    ServeSpec spec{.address = "127.0.0.1", .port = first->server->port(), .probe_port = 0};
    AdmissionServer second(thread.loop, spec, routes_, certificates, nullptr, log);
    Result<void> result = co_await second.run(stop);
    EXPECT_EQ(result.error().message(),
              fmt::format("cannot listen on 127.0.0.1:{}: Address already in use", first->server->port()));
  });
}

}  // namespace
}  // namespace fairlead::webhook
