#include "webhook/server/reviewer.h"

#include <set>

#include "webhook/server/admission_server_testing.h"

namespace fairlead::webhook {
namespace {

TEST_F(AdmissionServerTest, APolicyThatTakesTooLongIsAnsweredForBeforeTheDeadline) {
  auto running = run({.reviews = {.quick_bytes = 0}, .drain = 0s});
  EXPECT_EQ(exchange(*running, post(std::string(kWidgets) + "?timeout=50ms", widget_review("wait"))),
            "HTTP/1.1 504 Gateway Timeout\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 30\r\n\r\n"
            "there was no decision in time\n");
  EXPECT_EQ(running->probe("/healthz"), "200 ok\n");
  gate_->open();
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review(""))), testing::HasSubstr(R"("allowed":true)"));
}

// The usual time would be over at once.
TEST_F(AdmissionServerTest, TheTimeThatTheRequestGivesCounts) {
  auto running = run({.reviews = {.quick_bytes = 0, .timeout = 0s}, .drain = 0s});
  TestClient patient(running->port(), trusting());
  patient.send(post(std::string(kWidgets) + "?timeout=30s", widget_review("wait")));
  gate_->until_waiting(1);
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review("wait"))), testing::StartsWith("HTTP/1.1 504 "));
  gate_->open();
  EXPECT_THAT(patient.read_answer(), testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, ALateReviewIsUnderWayUntilItsPolicyHasEnded) {
  auto running = run({.reviews = {.in_flight = 1, .quick_bytes = 0}, .drain = 0s});
  EXPECT_THAT(exchange(*running, post(std::string(kWidgets) + "?timeout=50ms", widget_review("wait"))),
              testing::StartsWith("HTTP/1.1 504 "));
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review(""))), testing::StartsWith("HTTP/1.1 429 "));
  gate_->open();
  running->until([&] { return running->server->metrics().in_flight == 0; });
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review(""))), testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, WhatIsTooMuchIsShed) {
  auto running = run({.reviews = {.in_flight = 1, .quick_bytes = 0}, .drain = 0s});
  TestClient first(running->port(), trusting());
  first.send(post(kWidgets, widget_review("wait")));
  gate_->until_waiting(1);
  EXPECT_EQ(exchange(*running, post(kWidgets, widget_review(""))),
            "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n"
            "Content-Length: 36\r\n\r\ntoo many reviews at once; try again\n");
  gate_->open();
  EXPECT_THAT(first.read_answer(), testing::HasSubstr(R"("allowed":true)"));
  EXPECT_EQ(running->server->metrics().decisions(kWidgets, Decided::shed), 1U);
}

TEST_F(AdmissionServerTest, SmallReviewsDoNotWaitBehindLargeOnes) {
  auto running = run({.reviews = {.in_flight = 1, .workers = 1}, .drain = 0s});
  std::string padding(20'000, ' ');
  // A large one that takes its time, and one that waits for it.
  TestClient first(running->port(), trusting());
  first.send(post(kWidgets, widget_review("wait") + padding));
  gate_->until_waiting(1);
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review("") + padding)), testing::StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(exchange(*running, post(kWidgets, widget_review(""))), testing::HasSubstr(R"("allowed":true)"));
  gate_->open();
  EXPECT_THAT(first.read_answer(), testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, LargeReviewsAreReadOneAfterAnotherWhereTheyAreTooMuchTogether) {
  auto running = run({.reviews = {.workers = 4, .large_bytes_at_once = 50'000, .timeout = 300ms}, .drain = 0s});
  std::string large = widget_review("wait") + std::string(30'000, ' ');
  TestClient first(running->port(), trusting()), second(running->port(), trusting());
  first.send(post(std::string(kWidgets) + "?timeout=30s", large));
  gate_->until_waiting(1);
  // It never starts, and is given up when its time is over.
  EXPECT_THAT(second.exchange(post(kWidgets, large)), testing::StartsWith("HTTP/1.1 504 "));
  EXPECT_EQ(running->thread.ask<size_t>([&] { return running->server->metrics().in_flight; }), 1U);
  {
    std::lock_guard lock(gate_->mutex);
    EXPECT_EQ(gate_->waiting, 1);
  }
  second.send(post(std::string(kWidgets) + "?timeout=30s", large));
  running->until([&] { return running->server->metrics().in_flight == 2; });
  gate_->open();
  EXPECT_THAT(first.read_answer(), testing::HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(second.read_answer(), testing::HasSubstr(R"("allowed":true)"));
}

TEST_F(AdmissionServerTest, ALargeReviewThatIsGivenUpBeforeItBeginsMakesRoom) {
  auto running =
      run({.reviews = {.in_flight = 2, .workers = 4, .large_bytes_at_once = 50'000, .timeout = 100ms}, .drain = 0s});
  std::string large = widget_review("wait") + std::string(30'000, ' ');
  TestClient first(running->port(), trusting());
  first.send(post(std::string(kWidgets) + "?timeout=30s", large));
  gate_->until_waiting(1);
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(exchange(*running, post(kWidgets, large)), testing::StartsWith("HTTP/1.1 504 ")) << i;
  gate_->open();
  EXPECT_THAT(first.read_answer(), testing::HasSubstr(R"("allowed":true)"));
}

// Of four connections that are open at the same time, each of the two loops serves some, also while the server looks at
// itself.
class ThreadsTest : public AdmissionServerTest {
 protected:
  void connect(Running& running) {
    for (int i = 0; i < 4; ++i) clients_.push_back(std::make_unique<TestClient>(running.port(), trusting()));
  }
  // To be cleared at the end: a server that stops waits for its peers to close, too.
  std::vector<std::unique_ptr<TestClient>> clients_;
};

TEST_F(ThreadsTest, ReviewsOfAllLoopsAreCountedAndLoggedLineByLine) {
  auto running = run();
  connect(*running);
  constexpr int kEach = 100;
  std::vector<std::thread> load;
  for (auto& client : clients_)
    load.emplace_back([&client] {
      for (int i = 0; i < kEach; ++i)
        EXPECT_THAT(client->exchange(post(kWidgets, widget_review("deny"))), testing::HasSubstr(R"("allowed":false)"));
    });
  for (std::thread& each : load) each.join();
  EXPECT_EQ(running->server->metrics().decisions(kWidgets, Decided::denied), 4U * kEach);
  clients_.clear();
  running->finish();
  size_t reviews = 0;
  std::string last;
  for (std::string_view left = running->logged; !left.empty();) {
    Result<Json> line = Json::parse(left.substr(0, left.find('\n')));
    ASSERT_TRUE(line.has_value()) << left.substr(0, 500);
    reviews += (*line)["message"].string_or("") == "review" ? 1 : 0;
    std::string time((*line)["time"].string_or(""));
    EXPECT_LE(last, time);
    last = std::move(time);
    left.remove_prefix(left.find('\n') + 1);
  }
  EXPECT_EQ(reviews, 4U * kEach);
}

TEST_F(ThreadsTest, TheLimitIsOneForAllLoops) {
  auto running = run({.reviews = {.in_flight = 4, .workers = 4, .quick_bytes = 0}, .drain = 0s});
  connect(*running);
  for (auto& client : clients_) client->send(post(kWidgets, widget_review("wait")));
  gate_->until_waiting(4);
  connect(*running);
  for (size_t i = 4; i < 8; ++i) {
    std::string answer = clients_[i]->exchange(post(kWidgets, widget_review("")));
    EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 429 "));
    EXPECT_THAT(answer, testing::HasSubstr("\r\nRetry-After: 1\r\n"));
  }
  EXPECT_EQ(running->thread.ask<size_t>([&] { return running->server->metrics().in_flight; }), 4U);
  gate_->open();
  for (size_t i = 0; i < 4; ++i) EXPECT_THAT(clients_[i]->read_answer(), testing::HasSubstr(R"("allowed":true)"));
  clients_.clear();
}

TEST_F(ThreadsTest, LeasesAreLookedAtOnTheServersOwnLoop) {
  struct Asked : Territory {
    std::optional<std::string> left_to(Route::Kind, const std::string&) const override {
      asked_by.insert(std::this_thread::get_id());
      return "the operator of team";
    }
    Coordination coordination() const override { return {}; }
    mutable std::set<std::thread::id> asked_by;
  } territory;
  auto running = run({.drain = 0s}, nullptr, &territory);
  connect(*running);
  for (auto& client : clients_)
    EXPECT_THAT(client->exchange(post(kWidgets, widget_review("deny"))), testing::HasSubstr("the operator of team"));
  auto own = running->thread.ask<std::thread::id>([] { return std::this_thread::get_id(); });
  EXPECT_EQ(territory.asked_by, std::set{own});
  clients_.clear();
}

TEST(DefaultThreads, AreAsManyAsThereAreProcessorsToUse) {
  auto threads = [](std::string_view cpu_max, size_t processors) {
    DefaultThreads found = default_threads(cpu_max, processors);
    return std::pair(found.serving, found.workers);
  };
  EXPECT_EQ(threads("", 0), std::pair(1UZ, 2UZ));
  EXPECT_EQ(threads("", 1), std::pair(1UZ, 2UZ));
  EXPECT_EQ(threads("", 3), std::pair(3UZ, 3UZ));
  EXPECT_EQ(threads("max 100000", 64), std::pair(4UZ, 4UZ));
  EXPECT_EQ(threads("50000 100000", 64), std::pair(1UZ, 2UZ));
  EXPECT_EQ(threads("250000 100000", 64), std::pair(3UZ, 3UZ));
  EXPECT_EQ(threads("900000 100000", 64), std::pair(4UZ, 4UZ));
  for (std::string_view odd : {"0 0", "-1 100000", "1", "x y", "100000 0"})
    EXPECT_EQ(threads(odd, 8), std::pair(4UZ, 4UZ)) << odd;
}

TEST(ReviewTimeout, IsReadFromTheQuery) {
  EXPECT_EQ(timeout_in("timeout=10s"), 10s);
  EXPECT_EQ(timeout_in("a=b&timeout=250ms&c=d"), 250ms);
  EXPECT_EQ(timeout_in("timeout=5m"), 30s);
  for (std::string_view none : {"", "timeout=", "timeout=0s", "timeout=-1s", "timeout=5", "xtimeout=5s", "timeout=5sx"})
    EXPECT_EQ(timeout_in(none), std::nullopt) << none;
  EXPECT_EQ(time_to_decide(10s), 9500ms);
  EXPECT_EQ(time_to_decide(1s), 900ms);
}

}  // namespace
}  // namespace fairlead::webhook
