// Connections that end under the client: GOAWAY, cuts, a server that restarts.
#include "real_cluster_testing.h"
#include "relay_testing.h"

namespace fairlead::kube {
namespace {

class BrokenConnections : public RealCluster {
 protected:
  Task<void> apply_one(Client& client, size_t number, std::vector<std::string>& failures) {
    std::string name = fmt::format("cm-{}", number % 100);
    Outcome<Reply> outcome = co_await client.apply(config_maps(), ns_, name, config_map(name));
    if (!outcome) failures.push_back(outcome.error().error().message());
  }

  // Applies without a pause, eight at a time, until told to stop.
  struct Story {
    Connection* connection;
    bool over = false;
    size_t sent = 0;
    std::vector<std::string> failures;
  };
  Task<void> keep_applying(Story& story) {
    while (!story.over) co_await apply_one(story.connection->client(), story.sent++, story.failures);
  }
  void begin_applying(Story& story, Scope& scope) {
    for (int worker = 0; worker < 8; ++worker) scope.spawn(keep_applying(story));
  }

  // Until the server has ended so many connections.
  Task<void> apply_over_connections(Story& story, uint64_t connections) {
    Scope scope(loop_, co_await current_cancel());
    begin_applying(story, scope);
    while (story.connection->http().counts().connections < connections && story.sent < 20'000)
      (void)co_await sleep_for(loop_, 1ms);
    story.over = true;
    co_await scope.join();
  }

  // While the relay cuts so often, each time under requests in flight.
  Task<void> apply_under_cuts(Story& story, Relay& relay, int cuts) {
    Scope scope(loop_, co_await current_cancel());
    begin_applying(story, scope);
    for (int i = 0; i < cuts; ++i) {
      size_t enough = story.sent + 20;
      while (story.sent < enough) (void)co_await sleep_for(loop_, 1ms);
      relay.cut();
    }
    story.over = true;
    co_await scope.join();
  }

  // Reads events until the object of that name is added; the names of all that were, on the way.
  Task<std::vector<std::string>> names_until(Watch& watch, std::string wanted) {
    std::vector<std::string> names;
    while (names.empty() || names.back() != wanted) {
      Outcome<WatchEvent> event = co_await watch.next();
      EXPECT_TRUE(event) << (event ? "" : event.error().error().report());
      if (!event) break;
      if (event->type == WatchEvent::Type::added) names.emplace_back(event->object["metadata"]["name"].string_or(""));
    }
    co_return names;
  }
};

TEST_F(BrokenConnections, AServerThatSendsUsElsewhere) {
  // An apiserver that ends one connection in fifty requests.
  wait(restart({"kube-apiserver", "--goaway-chance=0.02"}));
  Story story{.connection = connect_with(variable("KUBECONFIG"))};
  wait(apply_over_connections(story, 10));
  EXPECT_THAT(story.failures, testing::IsEmpty());
  EXPECT_GE(story.connection->http().counts().connections, 10u);
  wait(restart({"kube-apiserver"}));
}

TEST_F(BrokenConnections, AreMadeAgain) {
  Relay relay(variable("FAIRLEAD_CLUSTER_SERVER"));
  std::string token = contents(variable("FAIRLEAD_CLUSTER_ADMIN_TOKEN_FILE"));
  while (token.ends_with('\n')) token.pop_back();
  Story story{.connection = connect_as_user("{token: '" + token + "'}", relay.url())};
  wait(apply_under_cuts(story, relay, 10));
  EXPECT_THAT(story.failures, testing::IsEmpty());
  EXPECT_GE(story.connection->http().counts().connections, 5u);
}

TEST_F(BrokenConnections, AWatchGoesOnAcrossARestart) {
  Connection* watching = connect_with(variable("KUBECONFIG"));
  Watch watch(watching->client(), config_maps(), {.ns = ns_, .label_selector = "app=test"});
  expect_ok(wait(admin().apply(config_maps(), ns_, "before", config_map("before"))));
  EXPECT_THAT(wait(names_until(watch, "before")), testing::ElementsAre("before"));
  wait(restart({"kube-apiserver"}));
  expect_ok(wait(admin().apply(config_maps(), ns_, "after", config_map("after"))));
  EXPECT_THAT(wait(names_until(watch, "after")), testing::ElementsAre("after"));
}

}  // namespace
}  // namespace fairlead::kube
