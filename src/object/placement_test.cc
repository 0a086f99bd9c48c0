#include "object/placement.h"

#include <gtest/gtest.h>

namespace fairlead::object {
namespace {

TEST(Placement, PutsAnObjectIntoItsNamespace) {
  const std::string team = "team";
  auto placed = [&](std::string ns, bool namespaced) {
    Key key{.group = "", .kind = "ConfigMap", .ns = std::move(ns), .name = "c"};
    EXPECT_FALSE(place(key, namespaced, {.name = team}));
    return key.ns;
  };
  EXPECT_EQ(placed("", true), "team");
  EXPECT_EQ(placed("own", true), "own");
  EXPECT_EQ(placed("own", false), "") << "its kind has no namespace";
}

TEST(Placement, RefusesAnotherNamespaceThanTheOneThatTheUserChose) {
  const std::string team = "team";
  Key key{.group = "", .kind = "ConfigMap", .ns = "own", .name = "c"};
  std::optional<Error> error = place(key, true, {.name = team, .is_chosen = true});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->report(),
            "error: ConfigMap own/c is not for the namespace that was asked for, team\n"
            "  next      --namespace=own, or no --namespace at all\n");
  Key same{.group = "", .kind = "ConfigMap", .ns = "team", .name = "c"};
  EXPECT_FALSE(place(same, true, {.name = team, .is_chosen = true}));
}

}  // namespace
}  // namespace fairlead::object
