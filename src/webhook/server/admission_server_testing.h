// For the tests of the server: a running one, and what it asks.
#pragma once

#include <condition_variable>
#include <mutex>

#include "http/server/blocking_client_testing.h"
#include "webhook/server/server.h"
#include "webhook/server/server_testing.h"

namespace fairlead::webhook {

using http::ClientTls;
using http::TestClient;

// What the cluster would say, as a test wants it.
struct TestSurroundings : Surroundings {
  Task<Result<Callers>> callers() override {
    ++looks;
    co_return known;
  }
  Task<Result<bool>> is_endpoint() override {
    ++asked;
    if (hangs) CO_TRY(co_await hangs->wait());
    if (asked <= failing) co_return fail(ErrorKind::unavailable, "gone");
    co_return asked < still;
  }
  Result<Callers> known = Callers();
  int looks = 0;
  int asked = 0;
  int still = 0;
  // So many questions fail first.
  int failing = 0;
  // Nobody answers.
  Signal* hangs = nullptr;
};

// Lets policies wait until the test opens it.
struct Gate {
  void pass() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [this] { return is_open; });
  }
  void until_waiting(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting >= count; });
  }
  void open() {
    std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  bool is_open = false;
};

// A server on a thread of its own, with a further one that serves every other connection.
class Running {
 public:
  Running(ServeSpec spec, const Routes& routes, std::shared_ptr<const certs::ServingPair> pair,
          Surroundings* surroundings = nullptr, const Territory* territory = nullptr) {
    spec.address = "127.0.0.1";
    spec.port = spec.probe_port = 0;
    spec.serving_threads = 2;
    spec.check_unready = 1ms;
    spec.check = 5ms;
    certificates.pair = std::move(pair);
    thread.ask<bool>([&] {
      log = std::make_unique<Log>(thread.loop, [this](std::string_view lines) { logged += lines; });
      server =
          std::make_unique<AdmissionServer>(thread.loop, std::move(spec), routes, certificates, surroundings, *log);
      if (territory) server->limit_to(*territory);
      return true;
    });
    ended = thread.start([this]() -> Task<void> { result = co_await server->run(stop); });
    until([&] { return server->probe_port() != 0; });
  }
  ~Running() {
    finish();
    thread.ask<bool>([this] {
      server.reset();
      log.reset();
      return true;
    });
  }

  void until(const std::function<bool()>& condition) {
    while (!thread.ask<bool>(condition)) std::this_thread::sleep_for(1ms);
  }
  void until_ready() {
    until([this] { return server->not_ready().empty(); });
  }
  void use(std::shared_ptr<const certs::ServingPair> pair, std::string why = {}) {
    thread.ask<bool>([&] {
      certificates.pair = std::move(pair);
      certificates.why = std::move(why);
      certificates.changed().notify_all();
      return true;
    });
  }
  void ask_to_stop() {
    thread.ask<bool>([this] { return stop.cancel(), true; });
  }
  void finish() {
    if (!ended.valid()) return;
    ask_to_stop();
    ended.get();
  }
  std::string probe(std::string_view path) {
    TestClient client(server->probe_port());
    std::string answer = client.exchange(fmt::format("GET {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path));
    return answer.substr(9, 4) + answer.substr(answer.find("\r\n\r\n") + 4);
  }
  uint16_t port() {
    return thread.ask<uint16_t>([this] { return server->port(); });
  }

  http::LoopThread thread;
  CancelSource stop;
  TestCertificates certificates{thread.loop};
  std::string logged;
  std::unique_ptr<Log> log;
  std::unique_ptr<AdmissionServer> server;
  Result<void> result;
  std::future<void> ended;
};

inline std::string post(std::string_view path, std::string_view body, std::string_view type = "application/json") {
  return fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", path, type,
                     body.size(), body);
}

class AdmissionServerTest : public testing::Test {
 protected:
  std::unique_ptr<Running> run(ServeSpec spec = {.drain = 0s}, Surroundings* surroundings = nullptr,
                               const Territory* territory = nullptr) {
    spec.host = kHost;
    auto running =
        std::make_unique<Running>(std::move(spec), routes_, serving_pair(ca_, leaf_), surroundings, territory);
    running->until([&] { return running->server->port() != 0; });
    return running;
  }
  ClientTls trusting() const { return {.roots = {ca_.certificate}, .identity = {}}; }
  std::string exchange(Running& running, std::string_view request) {
    return TestClient(running.port(), trusting()).exchange(request);
  }

  x509::KeyPair ca_ = test_ca();
  x509::KeyPair leaf_ = test_leaf(ca_);
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::shared_ptr<WidgetPolicy> policy_ = [this] {
    auto policy = std::make_shared<WidgetPolicy>();
    policy->wait = [gate = gate_] { gate->pass(); };
    return policy;
  }();
  Routes routes_ = Routes::make(widget_set(policy_)).value();
};

}  // namespace fairlead::webhook
