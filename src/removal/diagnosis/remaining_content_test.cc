#include "removal/diagnosis/remaining_content.h"

#include <gtest/gtest.h>

namespace fairlead::removal {
namespace {

Json with_condition(std::string_view type, std::string_view status, std::string_view name = "x") {
  Json object;
  object.make("metadata").make("name") = name;
  object.make("status").make("conditions") =
      Json::Array{Json::Object{{"type", type}, {"status", status}, {"message", "stale groups"}}};
  return object;
}

TEST(RemainingContent, WhatCannotBeReachedIsNamed) {
  Evidence evidence;
  evidence.object = with_condition("NamespaceDeletionDiscoveryFailure", "False");
  EXPECT_EQ(unreachable_text(evidence, {}), "");
  EXPECT_EQ(unreachable_text(evidence, {.held = {}, .others = 0, .unread = {"widgets.example.com"}}),
            "all widgets.example.com, which cannot be listed");
  evidence.object = with_condition("NamespaceDeletionDiscoveryFailure", "True");
  EXPECT_EQ(unreachable_text(evidence, {}), "what cannot be discovered (stale groups)");
  evidence.api_services = {with_condition("Available", "True", "v1.fine.dev"),
                           with_condition("Available", "False", "v1.dead.dev")};
  EXPECT_EQ(unreachable_text(evidence, {}), "objects that APIService v1.dead.dev serves");
}

TEST(RemainingContent, FinalizersAreListed) {
  RemainingObject one;
  one.object.make("metadata").make("finalizers") = Json::Array{"a.dev/x", "b.dev/y"};
  EXPECT_EQ(one.finalizers(), "a.dev/x, b.dev/y");
}

}  // namespace
}  // namespace fairlead::removal
