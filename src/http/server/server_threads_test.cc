#include <atomic>
#include <set>

#include "async/background_loop.h"
#include "http/server/server.h"
#include "http/server/server_testing.h"

namespace fairlead::http {
namespace {

// A server with a further loop. Of two connections that are open at the same time, each loop has one.
class ThreadedServerTest : public ServerTest {
 protected:
  ~ThreadedServerTest() override { end(); }

  void serve(ServerSpec spec = {}) {
    spec.identity = make_identity(ca_);
    thread_.run([&]() -> Task<void> {
      std::vector<Server::Helper> helpers;
      helpers.push_back({&helper_->loop(), answer_on(helper_->loop(), helper_go_on_)});
      server_ =
          Server::listen(thread_.loop, std::move(spec), answer_on(thread_.loop, go_on_), std::move(helpers)).value();
      co_return;
    });
  }
  // A server that is closed leaves nothing on its loops.
  void end() {
    if (!server_) return;
    thread_.run([this]() -> Task<void> {
      co_await server_->close();
      server_.reset();
    });
  }

  Server::Handler answer_on(RealLoop& loop, Signal& go_on) {
    return [this, &loop, &go_on](Request request, const Peer&) { return answer(loop, go_on, std::move(request)); };
  }
  Task<Answer> answer(RealLoop& loop, Signal& go_on, Request request) {
    if (request.target == "/wait") {
      ++waiting_;
      bool went_on = (co_await go_on.wait()).has_value();
      --waiting_;
      co_return Answer{.body = body_of(went_on ? "waited" : "cancelled")};
    }
    co_return Answer{.body = body_of(&loop == &thread_.loop ? "own" : "further")};
  }
  void until_waiting_on_both() {
    while (waiting_ < 2) std::this_thread::sleep_for(1ms);
  }
  void go_on_both() {
    for (Signal* signal : {&go_on_, &helper_go_on_}) {
      RealLoop& loop = signal == &go_on_ ? thread_.loop : helper_->loop();
      std::promise<void> done;
      loop.post([&] {
        signal->notify_all();
        done.set_value();
      });
      done.get_future().get();
    }
  }

  std::unique_ptr<BackgroundLoop> helper_ = BackgroundLoop::start();
  Signal helper_go_on_{helper_->loop()};
  std::atomic<int> waiting_ = 0;
};

std::string body_of_answer(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

TEST_F(ThreadedServerTest, EachConnectionGoesToTheLoopThatHasTheFewest) {
  serve();
  std::vector<std::unique_ptr<TestClient>> clients;
  std::multiset<std::string> served_by;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<TestClient>(port(), trusting()));
    served_by.insert(body_of_answer(clients.back()->exchange(get("/"))));
  }
  EXPECT_EQ(served_by.count("own"), 3u);
  EXPECT_EQ(served_by.count("further"), 3u);
  EXPECT_EQ(server_->connections(), 6u);
  // A connection keeps its loop.
  std::string first = clients[0]->exchange(get("/"));
  EXPECT_EQ(clients[0]->exchange(get("/")), first);
}

TEST_F(ThreadedServerTest, DrainWaitsForTheRequestsOfAllLoops) {
  serve();
  TestClient first(port(), trusting()), second(port(), trusting()), idle(port(), trusting()), other(port(), trusting());
  for (TestClient* client : {&first, &second}) client->send(get("/wait"));
  for (TestClient* client : {&idle, &other}) client->exchange(get("/"));
  until_waiting_on_both();
  thread_.ask<bool>([&] { return server_->announce_drain(), true; });
  TestClient fresh(port(), trusting());
  EXPECT_NE(fresh.exchange(get("/")).find("\r\nConnection: close\r\n"), std::string::npos);
  std::string too_early;
  thread_.run([&]() -> Task<void> { too_early = (co_await server_->drain(thread_.loop.now())).error().message(); });
  EXPECT_EQ(too_early, "the time to drain is over, and requests are still in flight: 2");
  for (TestClient* client : {&idle, &other}) EXPECT_EQ(client->read_to_end(), "");

  bool drained = false;
  std::future<void> done =
      thread_.start([&]() -> Task<void> { drained = (co_await server_->drain(thread_.loop.now() + 30s)).has_value(); });
  go_on_both();
  for (TestClient* client : {&first, &second})
    EXPECT_EQ(client->read_answer(), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nwaited");
  for (TestClient* client : {&first, &second, &idle, &other, &fresh}) client->vanish();
  done.get();
  EXPECT_TRUE(drained);
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ThreadedServerTest, CloseEndsWhatIsInFlightOnAllLoops) {
  serve();
  TestClient first(port(), trusting()), second(port(), trusting());
  for (TestClient* client : {&first, &second}) client->send(get("/wait"));
  until_waiting_on_both();
  end();
  EXPECT_EQ(waiting_, 0);
  for (TestClient* client : {&first, &second}) EXPECT_EQ(client->read_to_end(), "");
}

TEST_F(ThreadedServerTest, WhereAllLoopsAreFullTheirIdleConnectionsMakeRoomInTurn) {
  serve({.limits = {.connections = 4, .linger = 20ms}});
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(std::make_unique<TestClient>(port(), trusting()));
    EXPECT_TRUE(clients.back()->exchange(get("/")).starts_with("HTTP/1.1 200 ")) << i;
  }
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(clients[i]->exchange(get("/")).empty(), i < 8) << i;
}

TEST_F(ThreadedServerTest, TheCertificateIsSwappedForAllLoopsAtOnceUnderLoad) {
  serve();
  std::atomic<int> failures = 0, connections = 0;
  std::atomic<bool> over = false;
  auto load = [&] {
    while (!over) {
      TestClient client(port(), trusting());
      for (int i = 0; i < 3; ++i)
        if (!client.exchange(get("/")).starts_with("HTTP/1.1 200 ")) ++failures;
      ++connections;
    }
  };
  std::thread a(load), b(load);
  for (int swaps = 0; swaps < 20 || connections < 50; ++swaps) {
    Identity fresh = make_identity(ca_);
    std::string wanted = fresh.chain.front().sha256_fingerprint();
    EXPECT_TRUE(thread_.ask<bool>([&] { return server_->set_identity(fresh).has_value(); }));
    TestClient first(port(), trusting()), second(port(), trusting());
    EXPECT_EQ(first.server_fingerprint(), wanted);
    EXPECT_EQ(second.server_fingerprint(), wanted);
  }
  over = true;
  a.join();
  b.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(ThreadedServerTest, WhatIsRefusedIsToldOnTheServersOwnLoop) {
  std::vector<int> refused;
  std::set<std::thread::id> told_by;
  serve({.refused = [&](int status, const std::string&) {
    refused.push_back(status);
    told_by.insert(std::this_thread::get_id());
  }});
  for (int i = 0; i < 2; ++i) {
    TestClient own(port(), trusting()), further(port(), trusting());
    for (TestClient* client : {&own, &further})
      EXPECT_TRUE(client->exchange("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
  }
  end();
  EXPECT_EQ(refused, (std::vector<int>{400, 400, 400, 400}));
  EXPECT_EQ(told_by, std::set{thread_.ask<std::thread::id>([] { return std::this_thread::get_id(); })});
}

}  // namespace
}  // namespace fairlead::http
