#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::plan {
namespace {

using State = Plan::State;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Plan, NodesStartWhenTheirNeedsAreMetAtTheirLevel) {
  Plan plan({Role::work, Role::work, Role::work}, {{.node = NodeId(1), .needs = NodeId(0), .level = Level::stored},
                                                   {.node = NodeId(2), .needs = NodeId(0), .level = Level::done}});
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0)));
  EXPECT_THAT(plan.take_startable(), IsEmpty()) << "each is returned once";
  EXPECT_TRUE(plan.is_needed_done(NodeId(0)));
  EXPECT_FALSE(plan.is_needed_done(NodeId(1)));
  plan.stored(NodeId(0));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(1)));
  plan.done(NodeId(0));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(2)));
  EXPECT_EQ(plan.unsettled(), 2);
}

TEST(Plan, HelpersAreStartedAndNotCountedAndExcludedNodesAreNeither) {
  Plan plan({Role::helper, Role::excluded, Role::work}, {});
  EXPECT_EQ(plan.unsettled(), 1);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0), NodeId(2)));
  plan.failed(NodeId(0));
  EXPECT_EQ(plan.unsettled(), 1);
}

TEST(Plan, AMilestoneIsNamedAndAGroupIsReplacedByItsNeeds) {
  // 4 needs the milestone 2, which needs 0; and the group 3, which needs 0 and 1.
  Plan plan({Role::work, Role::work, Role::milestone, Role::group, Role::work},
            {{.node = NodeId(2), .needs = NodeId(0), .reason = "in it"},
             {.node = NodeId(3), .needs = NodeId(0), .reason = "own"},
             {.node = NodeId(3), .needs = NodeId(1)},
             {.node = NodeId(4), .needs = NodeId(2), .reason = "wave 1"},
             {.node = NodeId(4), .needs = NodeId(3), .reason = "all of these"}});
  auto texts = [&](size_t at_most) {
    std::vector<std::string> all;
    for (const Edge& edge : plan.unmet(NodeId(4), at_most))
      all.push_back(fmt::format("{} {}", edge.needs.index(), edge.reason));
    return all;
  };
  EXPECT_THAT(texts(9), ElementsAre("2 wave 1", "0 own", "1 all of these"));
  EXPECT_THAT(texts(2), ElementsAre("2 wave 1", "0 own"));
  plan.done(NodeId(0));
  EXPECT_THAT(texts(9), ElementsAre("1 all of these"));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0), NodeId(1)));
  plan.done(NodeId(1));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(4)));
}

TEST(Plan, AFailureBlocksWhatWasNotStartedHoweverFarAway) {
  Plan plan({Role::work, Role::work, Role::milestone, Role::work, Role::work},
            {{.node = NodeId(1), .needs = NodeId(0), .level = Level::stored},
             {.node = NodeId(2), .needs = NodeId(0)},
             {.node = NodeId(3), .needs = NodeId(2)},
             {.node = NodeId(4), .needs = NodeId(3)}});
  plan.stored(NodeId(0));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0), NodeId(1)));
  plan.failed(NodeId(0));
  plan.done(NodeId(0));
  EXPECT_EQ(plan.state(NodeId(0)), State::failed) << "a settled node stays as it is";
  EXPECT_EQ(plan.state(NodeId(1)), State::started);
  EXPECT_EQ(plan.state(NodeId(4)), State::blocked);
  EXPECT_EQ(plan.root_cause(NodeId(4)), NodeId(0));
  EXPECT_THAT(plan.blocked_by(NodeId(0)), ElementsAre(NodeId(3), NodeId(4))) << "without the milestone";
  EXPECT_EQ(plan.unsettled(), 1);
}

TEST(Plan, ANodeThatWasStoredAndFailedBlocksOnlyThoseThatNeedMoreOfIt) {
  // 2 to 4 need the node 0, each at another level; and the node 1, which is not done yet.
  Plan plan({Role::work, Role::work, Role::work, Role::work, Role::work},
            {{.node = NodeId(2), .needs = NodeId(0), .level = Level::stored},
             {.node = NodeId(2), .needs = NodeId(1)},
             {.node = NodeId(3), .needs = NodeId(0), .level = Level::alive},
             {.node = NodeId(3), .needs = NodeId(1)},
             {.node = NodeId(4), .needs = NodeId(0), .level = Level::done},
             {.node = NodeId(4), .needs = NodeId(1)}});
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0), NodeId(1)));
  plan.stored(NodeId(0));
  plan.failed(NodeId(0));
  EXPECT_THAT(plan.blocked_by(NodeId(0)), ElementsAre(NodeId(3), NodeId(4)));
  EXPECT_EQ(plan.unmet(NodeId(2)).size(), 1) << "only node 1 is left";
  plan.done(NodeId(1));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(2)));
}

TEST(Plan, ANodeThatFailedBeforeItWasStoredBlocksAll) {
  Plan plan({Role::work, Role::work, Role::work}, {{.node = NodeId(1), .needs = NodeId(0), .level = Level::stored},
                                                   {.node = NodeId(2), .needs = NodeId(0), .level = Level::alive}});
  plan.failed(NodeId(0));
  EXPECT_THAT(plan.blocked_by(NodeId(0)), ElementsAre(NodeId(1), NodeId(2)));
}

TEST(Plan, AliveIsMetAsSoonAsTheNodeIsStored) {
  Plan plan({Role::work, Role::work}, {{.node = NodeId(1), .needs = NodeId(0), .level = Level::alive}});
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0)));
  plan.stored(NodeId(0));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(1)));
  EXPECT_FALSE(plan.is_needed_done(NodeId(0)));
}

TEST(Components, AreTheNodesThatReachEachOther) {
  Adjacency<NodeId> adjacency(5);
  constexpr std::pair<uint32_t, uint32_t> kEdges[] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}};
  for (auto [from, to] : kEdges) adjacency.count(NodeId(from));
  adjacency.lay_out();
  for (auto [from, to] : kEdges) adjacency.add(NodeId(from), NodeId(to));
  EXPECT_THAT(components(adjacency), ElementsAre(2, 2, 2, 1, 0));
}

}  // namespace
}  // namespace fairlead::plan
