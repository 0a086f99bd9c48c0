#include "removal/run.h"

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

// A run that deletes namespace team.
class RunTest : public RemovalTest {
 protected:
  RunTest() {
    run_.make_plan({.targets = 1});
    run_.edit(NodeId(0)).uid = "uid-team";
  }
  // Shows the namespace with so many ConfigMaps left in it. Returns true if that is progress.
  bool moves_with_left(int count) {
    pass(std::chrono::seconds(1));
    Json::Object condition{
        {"type", "NamespaceContentRemaining"},
        {"status", "True"},
        {"message", fmt::format("Some resources are remaining: configmaps. has {} resource instances", count)}};
    Json::Object metadata{{"name", "team"}, {"uid", "uid-team"}, {"deletionTimestamp", "2030-01-01T00:00:00Z"}};
    run_.see(NodeId(0), Json::Object{{"kind", "Namespace"},
                                     {"metadata", std::move(metadata)},
                                     {"status", Json::Object{{"conditions", Json::Array{std::move(condition)}}}}});
    return run_.state(NodeId(0)).moved_at == loop_.now();
  }

  removal::Run run_{
      loop_, journal_, {}, {{.key = {"", "Namespace", "", "team"}, .version = "v1", .source = {}, .uid = {}}}};
};

TEST_F(RunTest, ObjectsThatComeAndGoAreNoProgress) {
  EXPECT_TRUE(moves_with_left(3));
  EXPECT_TRUE(moves_with_left(2));
  EXPECT_FALSE(moves_with_left(3));
  EXPECT_FALSE(moves_with_left(2));
  EXPECT_TRUE(moves_with_left(1));
}

TEST_F(RunTest, AnObjectThatGoesIsProgressOfItsNamespaceAlone) {
  auto target = [](object::Key key) { return Target{.key = std::move(key), .version = "v1", .source = {}, .uid = {}}; };
  removal::Run run(loop_, journal_, {},
                   {target({"", "Namespace", "", "team"}), target({"", "Namespace", "", "other"}),
                    target({"", "ConfigMap", "team", "a"})});
  run.make_plan({.targets = 3});
  pass(std::chrono::seconds(1));
  run.gone(NodeId(2));
  EXPECT_EQ(run.state(NodeId(0)).moved_at, loop_.now());
  EXPECT_NE(run.state(NodeId(1)).moved_at, loop_.now());
}

}  // namespace
}  // namespace fairlead::removal
