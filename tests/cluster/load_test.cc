// Many requests at once, long lists, and a server that wants fewer.
#include "real_cluster_testing.h"

namespace fairlead::kube {
namespace {

class Load : public RealCluster {
 protected:
  // Applies so many ConfigMaps side by side; how many were accepted.
  Task<size_t> apply_many(Client& client, size_t count, std::vector<std::string>& failures) {
    size_t accepted = 0;
    Scope scope(loop_, co_await current_cancel());
    for (size_t i = 0; i < count; ++i) scope.spawn(apply_one(client, i, accepted, failures));
    co_await scope.join();
    co_return accepted;
  }

  Task<void> apply_one(Client& client, size_t number, size_t& accepted, std::vector<std::string>& failures) {
    // Behind kube-root-ca.crt: the server asks for one more page where the namespace goes on behind what was selected.
    std::string name = fmt::format("map-{:04}", number);
    Outcome<Reply> outcome = co_await client.apply(config_maps(), ns_, name, config_map(name));
    if (outcome) ++accepted;
    else failures.push_back(outcome.error().error().message());
  }

  Task<void> watch_until_synced(Client& client, size_t& synced, Signal& all_synced, size_t wanted) {
    Watch watch(client, config_maps(), {.ns = ns_});
    while (true) {
      Outcome<WatchEvent> event = co_await watch.next();
      if (!event) co_return;
      if (event->type == WatchEvent::Type::synced && ++synced == wanted) all_synced.notify_all();
    }
  }

  // So many watches open at the same time, each of them a stream of its own.
  Task<void> watch_many(Client& client, size_t count, size_t& synced) {
    Signal all_synced(loop_);
    Scope scope(loop_, co_await current_cancel());
    for (size_t i = 0; i < count; ++i) scope.spawn(watch_until_synced(client, synced, all_synced, count));
    while (synced < count)
      if (!co_await all_synced.wait()) break;
    scope.cancel();
    co_await scope.join();
  }
};

TEST_F(Load, AThousandObjectsInPages) {
  std::vector<std::string> failures;
  EXPECT_EQ(wait(apply_many(admin(), 1000, failures)), 1000u) << testing::PrintToString(failures);
  uint64_t before = admin().counts().contains("list") ? admin().counts().at("list") : 0;
  Outcome<List> listed = wait(admin().list(config_maps(), {.ns = ns_, .label_selector = "app=test", .page = 100}));
  expect_ok(listed);
  std::set<std::string> names;
  for (const Json& item : listed->items) names.emplace(item["metadata"]["name"].string_or(""));
  EXPECT_EQ(listed->items.size(), 1000u);
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_EQ(admin().counts().at("list") - before, 10u);
}

TEST_F(Load, MoreStreamsThanOneConnectionHas) {
  size_t synced = 0;
  wait(watch_many(admin(), 250, synced));
  EXPECT_EQ(synced, 250u);
  EXPECT_GT(admin_->http().counts().connections, 1u);
}

TEST_F(Load, AnOrdinaryUserWhoIsTurnedAwayComesAgain) {
  grant("plain-user");
  // One seat for this user, and no queue: everything beyond one request at a time is a 429.
  object::Resource levels{.group = "flowcontrol.apiserver.k8s.io",
                          .version = "v1",
                          .kind = "PriorityLevelConfiguration",
                          .plural = "prioritylevelconfigurations"};
  object::Resource schemas{
      .group = "flowcontrol.apiserver.k8s.io", .version = "v1", .kind = "FlowSchema", .plural = "flowschemas"};
  Json level = *Json::parse(fmt::format(
      R"({{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{{"name":"{}"}},
      "spec":{{"type":"Limited","limited":{{"nominalConcurrencyShares":1,"lendablePercent":0,"borrowingLimitPercent":0,
      "limitResponse":{{"type":"Reject"}}}}}}}})",
      ns_));
  Json schema = *Json::parse(fmt::format(
      R"({{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema","metadata":{{"name":"{0}"}},
      "spec":{{"priorityLevelConfiguration":{{"name":"{0}"}},"matchingPrecedence":2,
      "rules":[{{"subjects":[{{"kind":"User","user":{{"name":"plain-user"}}}}],
      "resourceRules":[{{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["{0}"]}}]}}]}}}})",
      ns_));
  expect_ok(wait(admin().apply(levels, "", ns_, level)));
  expect_ok(wait(admin().apply(schemas, "", ns_, schema)));
  Connection* user = connect_with(variable("FAIRLEAD_CLUSTER_USER_KUBECONFIG"));
  // It takes the server a moment to follow; until then nobody is turned away.
  std::vector<std::string> failures;
  uint64_t needed = 0;
  while (needed < 50 * 64 && (needed == 0 || user->client().counts().at("apply") == needed)) {
    EXPECT_EQ(wait(apply_many(user->client(), 64, failures)), 64u) << testing::PrintToString(failures);
    needed += 64;
  }
  EXPECT_GT(user->client().counts().at("apply"), needed) << "nobody was turned away";
  EXPECT_LT(user->http().counts().in_flight_limit, 64u);
  expect_ok(wait(admin().remove(schemas, "", ns_)));
  expect_ok(wait(admin().remove(levels, "", ns_)));
}

}  // namespace
}  // namespace fairlead::kube
