#include "wait/target.h"

#include <gtest/gtest.h>

namespace fairlead::wait {
namespace {

// The targets as texts, or the error.
std::string read(std::vector<std::string> words, Selection selection = {}) {
  Result<std::vector<Target>> targets = read_targets(words, selection);
  if (!targets) return targets.error().message();
  std::string text;
  for (const Target& target : *targets) text += fmt::format("{}{}", text.empty() ? "" : "; ", target.text());
  return text;
}

TEST(TargetTest, Names) {
  EXPECT_EQ(read({"deployment/web", "crd/widgets.example.com", "deployment/web"}),
            "deployment/web; crd/widgets.example.com");
  EXPECT_EQ(read({"pod", "a", "b"}), "pod/a; pod/b");
  EXPECT_EQ(read({"pod", "a", "b", "a"}), "pod/a; pod/b");
  EXPECT_EQ(read({"pod,job"}, {.selector = "app=web"}), "pod,job -l app=web");
  EXPECT_EQ(read({"webhook"}, {.all = true}),
            "validatingwebhookconfigurations.admissionregistration.k8s.io,"
            "mutatingwebhookconfigurations.admissionregistration.k8s.io --all");
}

TEST(TargetTest, Webhooks) {
  EXPECT_EQ(read_targets({"webhook/config"}, {}).value().front(),
            (Target{.kinds = {"webhook"}, .name = "config", .is_webhook = true}));
  EXPECT_EQ(read_targets({"webhook/config/v.example.com"}, {}).value().front(),
            (Target{.kinds = {"webhook"}, .name = "config", .is_webhook = true, .hook = "v.example.com"}));
  // A kind of that name in another group is meant by its group.
  EXPECT_FALSE(read_targets({"webhooks.example.com/x"}, {}).value().front().is_webhook);
}

TEST(TargetTest, WhatIsWrong) {
  EXPECT_EQ(read({}), "nothing says what to wait for: give KIND/NAME, KIND with -l or --all, or -f FILE");
  EXPECT_EQ(read({"pod"}), "\"pod\" names no object: write pod/NAME, or give -l SELECTOR or --all");
  EXPECT_EQ(read({"pod/a", "b"}), "\"b\" is not KIND/NAME, as the others are");
  EXPECT_EQ(read({"pod/a"}, {.all = true}), "KIND/NAME cannot be used together with -l or --all: give the kind alone");
  EXPECT_EQ(read({"pod", "a"}, {.selector = "a=b"}), "a name cannot be used together with -l or --all");
  EXPECT_EQ(read({"pod"}, {.selector = "a=b", .all = true}), "-l and --all cannot be used together");
  EXPECT_TRUE(read({"pod"}, {.selector = "a in"}).starts_with("-l: \"a in\" cannot be read: "));
  EXPECT_TRUE(read({"pod/.."}).starts_with("\"pod/..\" is not KIND/NAME: "));
  EXPECT_TRUE(read({"pod/a/b"}).starts_with("\"pod/a/b\" is not KIND/NAME: "));
  EXPECT_EQ(read({"/a"}), "\"/a\" is not KIND/NAME");
}

}  // namespace
}  // namespace fairlead::wait
