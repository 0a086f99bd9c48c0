#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::plan {
namespace {

using State = Plan::State;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Plan, NodesStartWhenTheirNeedsAreMetAtTheirLevel) {
  Plan plan({Role::work, Role::work, Role::work},
            {{.node = 1, .needs = 0, .level = Level::stored}, {.node = 2, .needs = 0, .level = Level::done}});
  EXPECT_THAT(plan.take_startable(), ElementsAre(0));
  EXPECT_THAT(plan.take_startable(), IsEmpty()) << "each is returned once";
  EXPECT_TRUE(plan.is_needed_done(0));
  EXPECT_FALSE(plan.is_needed_done(1));
  plan.stored(0);
  EXPECT_THAT(plan.take_startable(), ElementsAre(1));
  plan.done(0);
  EXPECT_THAT(plan.take_startable(), ElementsAre(2));
  EXPECT_EQ(plan.unsettled(), 2);
}

TEST(Plan, HelpersAreStartedAndNotCountedAndExcludedNodesAreNeither) {
  Plan plan({Role::helper, Role::excluded, Role::work}, {});
  EXPECT_EQ(plan.unsettled(), 1);
  EXPECT_THAT(plan.take_startable(), ElementsAre(0, 2));
  plan.failed(0);
  EXPECT_EQ(plan.unsettled(), 1);
}

TEST(Plan, AMilestoneIsNamedAndAGroupIsReplacedByItsNeeds) {
  // 4 needs the milestone 2, which needs 0; and the group 3, which needs 0 and 1.
  Plan plan({Role::work, Role::work, Role::milestone, Role::group, Role::work},
            {{.node = 2, .needs = 0, .reason = "in it"},
             {.node = 3, .needs = 0, .reason = "own"},
             {.node = 3, .needs = 1},
             {.node = 4, .needs = 2, .reason = "wave 1"},
             {.node = 4, .needs = 3, .reason = "all of these"}});
  auto texts = [&](size_t at_most) {
    std::vector<std::string> all;
    for (const Edge& edge : plan.unmet(4, at_most)) all.push_back(fmt::format("{} {}", edge.needs, edge.reason));
    return all;
  };
  EXPECT_THAT(texts(9), ElementsAre("2 wave 1", "0 own", "1 all of these"));
  EXPECT_THAT(texts(2), ElementsAre("2 wave 1", "0 own"));
  plan.done(0);
  EXPECT_THAT(texts(9), ElementsAre("1 all of these"));
  EXPECT_THAT(plan.take_startable(), ElementsAre(0, 1));
  plan.done(1);
  EXPECT_THAT(plan.take_startable(), ElementsAre(4));
}

TEST(Plan, AFailureBlocksWhatWasNotStartedHoweverFarAway) {
  Plan plan({Role::work, Role::work, Role::milestone, Role::work, Role::work},
            {{.node = 1, .needs = 0, .level = Level::stored},
             {.node = 2, .needs = 0},
             {.node = 3, .needs = 2},
             {.node = 4, .needs = 3}});
  plan.stored(0);
  EXPECT_THAT(plan.take_startable(), ElementsAre(0, 1));
  plan.failed(0);
  plan.done(0);
  EXPECT_EQ(plan.state(0), State::failed) << "a settled node stays as it is";
  EXPECT_EQ(plan.state(1), State::started);
  EXPECT_EQ(plan.state(4), State::blocked);
  EXPECT_EQ(plan.root_cause(4), 0);
  EXPECT_THAT(plan.blocked_by(0), ElementsAre(3, 4)) << "without the milestone";
  EXPECT_EQ(plan.unsettled(), 1);
}

TEST(Plan, ANodeThatWasStoredAndFailedBlocksOnlyThoseThatNeedMoreOfIt) {
  // 2 to 4 need the node 0, each at another level; and the node 1, which is not done yet.
  Plan plan({Role::work, Role::work, Role::work, Role::work, Role::work},
            {{.node = 2, .needs = 0, .level = Level::stored},
             {.node = 2, .needs = 1},
             {.node = 3, .needs = 0, .level = Level::alive},
             {.node = 3, .needs = 1},
             {.node = 4, .needs = 0, .level = Level::done},
             {.node = 4, .needs = 1}});
  EXPECT_THAT(plan.take_startable(), ElementsAre(0, 1));
  plan.stored(0);
  plan.failed(0);
  EXPECT_THAT(plan.blocked_by(0), ElementsAre(3, 4));
  EXPECT_EQ(plan.unmet(2).size(), 1) << "only node 1 is left";
  plan.done(1);
  EXPECT_THAT(plan.take_startable(), ElementsAre(2));
}

TEST(Plan, ANodeThatFailedBeforeItWasStoredBlocksAll) {
  Plan plan({Role::work, Role::work, Role::work},
            {{.node = 1, .needs = 0, .level = Level::stored}, {.node = 2, .needs = 0, .level = Level::alive}});
  plan.failed(0);
  EXPECT_THAT(plan.blocked_by(0), ElementsAre(1, 2));
}

TEST(Plan, AliveIsMetAsSoonAsTheNodeIsStored) {
  Plan plan({Role::work, Role::work}, {{.node = 1, .needs = 0, .level = Level::alive}});
  EXPECT_THAT(plan.take_startable(), ElementsAre(0));
  plan.stored(0);
  EXPECT_THAT(plan.take_startable(), ElementsAre(1));
  EXPECT_FALSE(plan.is_needed_done(0));
}

TEST(Components, AreTheNodesThatReachEachOther) {
  Adjacency adjacency(5);
  constexpr std::pair<uint32_t, uint32_t> kEdges[] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}};
  for (auto [from, to] : kEdges) adjacency.count(from);
  adjacency.lay_out();
  for (auto [from, to] : kEdges) adjacency.add(from, to);
  EXPECT_THAT(components(adjacency), ElementsAre(2, 2, 2, 1, 0));
}

}  // namespace
}  // namespace fairlead::plan
