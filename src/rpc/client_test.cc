// The client against our own server, on a real socket.
#include "rpc/client.h"

#include <gtest/gtest.h>

#include "async/scope.h"
#include "rpc/server.h"

namespace fairlead::rpc {
namespace {

struct Both {
  explicit Both(const Services& services)
      : server(Server::listen(loop, {}, services).value()),
        client(std::make_unique<Client>(loop, fmt::format("127.0.0.1:{}", server->port()))) {}
  ~Both() {
    loop.run(client->close());
    loop.run(server->close());
  }

  RealLoop loop;
  std::unique_ptr<Server> server;
  std::unique_ptr<Client> client;
};

Services services() {
  Services services;
  services.add("/s/Echo", [](std::string message) -> Task<Answer> { co_return message; });
  services.add("/s/Refuse", [](std::string) -> Task<Answer> {
    co_return std::unexpected(Status{Code::failed_precondition, "not now"});
  });
  return services;
}

TEST(RpcClient, CallsAreAnswered) {
  Services all = services();
  Both both(all);
  EXPECT_EQ(both.loop.run(both.client->call("/s/Echo", "hello")).value(), "hello");
  std::string large(300'000, 'x');
  EXPECT_EQ(both.loop.run(both.client->call("/s/Echo", large)).value(), large);
  EXPECT_EQ(both.loop.run(both.client->call("/s/Echo", "")).value(), "");
}

TEST(RpcClient, CallsRunSideBySide) {
  Services all = services();
  Both both(all);
  std::vector<std::string> answers;
  auto story = [&]() -> Task<void> {
    Scope scope(both.loop, nullptr);
    auto one = [&](std::string text) -> Task<void> {
      answers.push_back((co_await both.client->call("/s/Echo", text)).value());
    };
    for (int i = 0; i < 10; ++i) scope.spawn(one(std::to_string(i)));
    co_await scope.join();
  };
  both.loop.run(story());
  EXPECT_EQ(answers.size(), 10u);
}

TEST(RpcClient, ARefusalHasItsCode) {
  Services all = services();
  Both both(all);
  Answer answer = both.loop.run(both.client->call("/s/Refuse", ""));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::failed_precondition);
  EXPECT_EQ(answer.error().message, "not now");
}

TEST(RpcClient, NobodyThereIsUnavailable) {
  RealLoop loop;
  Client client(loop, "127.0.0.1:1");
  Answer answer = loop.run(client.call("/s/Echo", ""));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_EQ(answer.error().message, "the program at 127.0.0.1:1 cannot be reached");
  loop.run(client.close());
}

}  // namespace
}  // namespace fairlead::rpc
