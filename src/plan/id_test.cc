#include "plan/id.h"

#include <gmock/gmock.h>

#include <string>
#include <type_traits>
#include <unordered_set>

namespace fairlead::plan {
namespace {

using OtherId = Id<struct OtherTag>;
using testing::ElementsAre;

// Neither numbers nor ids of another kind are taken for a node.
static_assert(!std::is_convertible_v<size_t, NodeId>);
static_assert(!std::is_convertible_v<NodeId, size_t>);
static_assert(!std::is_constructible_v<NodeId, OtherId>);
static_assert(!std::equality_comparable_with<NodeId, OtherId>);
static_assert(!std::is_invocable_v<decltype([](auto& list, auto id) -> decltype(list[id]) { return list[id]; }),
                                   IdVector<NodeId, int>&, OtherId>);
static_assert(std::is_trivially_copyable_v<NodeId> && sizeof(NodeId) == sizeof(uint32_t));

TEST(Id, ListsGiveTheIdsOfTheirElements) {
  IdVector<NodeId, std::string> list;
  NodeId first = list.add("a");
  NodeId second = list.add("b");
  EXPECT_LT(first, second);
  EXPECT_EQ(list[second], "b");
  EXPECT_THAT(list, ElementsAre("a", "b"));
  std::vector<NodeId> ids;
  for (NodeId id : list.ids()) ids.push_back(id);
  EXPECT_THAT(ids, ElementsAre(first, second));
  EXPECT_TRUE(list.ids().contains(second));
  EXPECT_FALSE(list.ids().contains(NodeId(2)));
  EXPECT_EQ(std::unordered_set<NodeId>(ids.begin(), ids.end()).size(), 2u);
}

TEST(Id, AListOfFlagsCanBeChanged) {
  IdVector<NodeId, bool> flags(3);
  flags[NodeId(1)] = true;
  EXPECT_THAT(flags, ElementsAre(false, true, false));
}

TEST(Id, TestsShowTheNumber) { EXPECT_EQ(testing::PrintToString(NodeId(7)), "7"); }

}  // namespace
}  // namespace fairlead::plan
