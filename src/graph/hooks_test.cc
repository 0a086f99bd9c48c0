#include "graph/hooks.h"

#include <gtest/gtest.h>

namespace fairlead::graph {
namespace {

// Returns when a hook with that delete policy is deleted.
std::string deleted(std::string_view policy) {
  Json annotations(Json::Object{{"helm.sh/hook", "pre-install"}, {"helm.sh/hook-delete-policy", policy}});
  std::optional<Hook> hook = read_hook(annotations, false);
  if (!hook) return "no hook";
  return fmt::format("{}{}{}", hook->delete_before ? "before " : "", hook->delete_succeeded ? "succeeded " : "",
                     hook->delete_failed ? "failed " : "");
}

TEST(Hooks, AreDeletedBeforeTheyRunAgainUnlessTheirPolicySaysOtherwise) {
  std::optional<Hook> plain = read_hook(Json(Json::Object{{"helm.sh/hook", "pre-install"}}), false);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->delete_before);
  EXPECT_FALSE(plain->delete_succeeded);
  EXPECT_FALSE(plain->delete_failed);
  EXPECT_EQ(deleted(" "), "before ");
  EXPECT_EQ(deleted("before-hook-creation"), "before ");
  EXPECT_EQ(deleted("hook-succeeded"), "succeeded ");
  EXPECT_EQ(deleted("hook-succeeded, hook-failed"), "succeeded failed ");
}

}  // namespace
}  // namespace fairlead::graph
