#include "kube/pod_log.h"

#include <gtest/gtest.h>

#include "kube/scripted_transport_testing.h"

namespace fairlead::kube {
namespace {

struct World {
  VirtualLoop loop;
  ScriptedTransport server{loop};
  Client client{loop, server, nullptr, {}};
};

std::vector<std::string> lines_of(const std::vector<std::string>& pieces, size_t max_line = LogLines::kMaxLine) {
  std::vector<std::string> lines;
  LogLines reader(max_line);
  auto sink = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& piece : pieces) reader.feed(piece, sink);
  reader.finish(sink);
  return lines;
}

TEST(PodLog, TheLastLinesOfAContainerAreRead) {
  World world;
  world.server.say({.body = "one\ntwo\n", .headers = {{"Content-Type", "text/plain"}}});
  Outcome<std::string> log = world.loop.run(read_log(
      world.client, "shop", "web-1", {.container = "app", .previous = true, .tail_lines = 10, .limit_bytes = 99}));
  ASSERT_TRUE(log);
  EXPECT_EQ(*log, "one\ntwo\n");
  EXPECT_EQ(world.server.seen[0].target,
            "/api/v1/namespaces/shop/pods/web-1/log?container=app&previous=true&tailLines=10&limitBytes=99");
}

TEST(PodLog, AContainerWithoutALogIsAFault) {
  World world;
  world.server.say(
      {.status = 400, .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400,
                        "message":"container \"app\" in pod \"web-1\" is waiting to start: ContainerCreating"})"});
  Outcome<std::string> log = world.loop.run(read_log(world.client, "shop", "web-1"));
  ASSERT_FALSE(log);
  ASSERT_TRUE(log.error().fault());
  EXPECT_EQ(log.error().fault()->message, "container \"app\" in pod \"web-1\" is waiting to start: ContainerCreating");
}

TEST(PodLog, ANameThatIsNoNameIsNotSent) {
  World world;
  Outcome<std::string> log = world.loop.run(read_log(world.client, "shop", ""));
  EXPECT_FALSE(log);
  EXPECT_TRUE(world.server.seen.empty());
}

TEST(PodLog, AFollowedLogArrivesInPieces) {
  World world;
  world.server.say({.stream = {{.text = "one\ntw"}, {.text = "o\n"}, {}}});
  auto follow = [](World& in) -> Task<std::vector<std::string>> {
    Outcome<http::Answer> answer = co_await follow_log(in.client, "shop", "web-1", {.container = "app"});
    std::vector<std::string> pieces;
    if (!answer) co_return pieces;
    while (true) {
      Result<std::optional<std::string>> piece = co_await answer->body->read();
      if (!piece || !*piece) break;
      pieces.push_back(**piece);
    }
    co_return pieces;
  };
  EXPECT_EQ(lines_of(world.loop.run(follow(world))), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(world.server.seen[0].target, "/api/v1/namespaces/shop/pods/web-1/log?container=app&follow=true");
  EXPECT_TRUE(world.server.seen[0].long_lived);
}

TEST(LogLines, LinesAreCutAtTheirLimitAndEmptyOnesKept) {
  EXPECT_EQ(lines_of({"a\n\nb"}), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines_of({"abcdef", "ghi\nx\n"}, 4), (std::vector<std::string>{"abcd", "x"}));
  EXPECT_EQ(lines_of({}), std::vector<std::string>{});
}

}  // namespace
}  // namespace fairlead::kube
