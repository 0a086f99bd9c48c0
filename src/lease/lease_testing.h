// For the tests of this room: a sandbox on a virtual loop, and operators that come and go.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "async/scope.h"
#include "lease/holder.h"
#include "lease/namespace_locks.h"
#include "sandbox/sandbox.h"

namespace fairlead::lease {

using namespace std::chrono_literals;

inline constexpr std::string_view kLock = "lock";

// A network that can lose requests and answers.
class Network final : public http::Transport {
 public:
  enum class Mood { good, loses_requests, loses_answers, hangs };

  Network(Loop& loop, http::Transport& server) : loop_(loop), server_(server) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    bool writes = request.method != "GET";
    Mood mood = writes ? for_writes : for_reads;
    if (std::optional<http::Answer> own = answers ? answers(request) : std::nullopt) co_return *std::move(own);
    if (mood == Mood::loses_answers) (void)co_await server_.open(request);
    if (mood == Mood::hangs)
      while (true) CO_TRY(co_await sleep_for(loop_, 1h));
    if (mood != Mood::good)
      co_return fail(http::may_have_been_processed(Error(ErrorKind::unavailable, "the connection broke")));
    bool streams = request.long_lived;
    Result<http::Answer> answer = co_await server_.open(std::move(request));
    if (!streams) CO_TRY(co_await sleep_for(loop_, delay_of_answers));
    co_return answer;
  }

  Mood for_reads = Mood::good;
  Mood for_writes = Mood::good;
  Duration delay_of_answers{};
  // Returns an answer to give instead of carrying the request out.
  std::function<std::optional<http::Answer>(const http::Request&)> answers;

 private:
  Loop& loop_;
  http::Transport& server_;
};

// A process with a Holder.
class Process {
 public:
  Process(Loop& loop, http::Transport& server, HolderOptions options)
      : network(loop, server),
        client(loop, network, nullptr, {.broken_attempts = 1}),
        holder(client, std::move(options), [this](bool holds) { told.push_back(holds); }),
        scope_(loop, nullptr) {}

  void start() { scope_.spawn(holder.run()); }
  // As if the process was killed.
  Task<void> stop() {
    scope_.cancel();
    co_await scope_.join();
  }

  Network network;
  kube::Client client;
  Holder holder;
  std::vector<bool> told;

 private:
  Scope scope_;
};

class LeaseTest : public testing::Test {
 protected:
  LeaseTest()
      : sandbox_(loop_, {.controllers = false}),
        client_(loop_, sandbox_.api_server(), nullptr, {}),
        scope_(loop_, nullptr) {}
  ~LeaseTest() override {
    for (const std::unique_ptr<Process>& process : processes_) loop_.run(process->stop());
    scope_.cancel();
    loop_.run(scope_.join());
    loop_.run(sandbox_.stop());
  }

  Process& add(std::string identity, Duration settle = {}) {
    HolderOptions options{
        .ns = "default", .name = std::string(kLock), .identity = std::move(identity), .settle = settle};
    return *processes_.emplace_back(std::make_unique<Process>(loop_, sandbox_.api_server(), std::move(options)));
  }
  Process& start(std::string identity, Duration settle = {}) {
    Process& process = add(std::move(identity), settle);
    process.start();
    return process;
  }

  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  Json lease() {
    kube::Outcome<kube::Reply> reply = loop_.run(client_.get(leases(), "default", kLock));
    return reply ? reply->value : Json();
  }
  Record stored() { return Record::parse(lease()); }
  // Writes the Lease as another program would.
  void store(const Record& record) {
    Json now = lease();
    bool is_there = !now.is_null();
    if (!is_there) now.make("metadata").make("name") = kLock;
    record.write_to(now);
    kube::Outcome<kube::Reply> reply = loop_.run(is_there ? client_.replace(leases(), "default", kLock, now)
                                                          : client_.create(leases(), "default", now));
    ASSERT_TRUE(reply) << reply.error().error().message();
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  Scope scope_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace fairlead::lease
