#include "cli/runs/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/temp_folder_testing.h"

namespace fairlead::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PlanFile::Object object(std::string name, std::string action, std::string live = "", std::string wanted = "") {
  return {.key = {.group = "", .kind = "ConfigMap", .ns = "shop", .name = std::move(name)},
          .action = std::move(action),
          .live = std::move(live),
          .wanted = std::move(wanted)};
}

PlanFile example() {
  return {.context = "prod",
          .server = "https://127.0.0.1:6443",
          .ns = "shop",
          .namespace_is_chosen = true,
          .bundle = "shop",
          .digest_key = "abc",
          .flags = {{.name = "--filename", .values = {"/a.yaml", "/b.yaml"}}, {.name = "--prune", .values = {"true"}}},
          .behind = {"--set", "x=y"},
          .objects = {object("a", "change", "1", "2"), object("b", "none")}};
}

TEST(PlanFileTest, ReadingGivesBackWhatWasWritten) {
  TempFolder folder;
  std::string path = folder.path_of("shop.plan");
  ASSERT_TRUE(write_plan_file(example(), path));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  Result<PlanFile> file = read_plan_file(path);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(*file, example());
}

TEST(PlanFileTest, AFolderThatIsNotThere) {
  TempFolder folder;
  Result<void> written = write_plan_file(example(), folder.path_of("no/shop.plan"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message(),
            "the plan cannot be written to " + folder.path_of("no/shop.plan") + ": No such file or directory");
}

TEST(PlanFileTest, WhatIsNoPlan) {
  for (std::string_view text : {"", "{", "[]", "{}", "kind: x"}) {
    Result<PlanFile> file = parse_plan_file(text, "x.plan");
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().report(), "error: x.plan is not a plan\n  next      fairlead plan … --out FILE\n");
  }
  Result<PlanFile> other = parse_plan_file(R"({"kind":"FairleadPlan","schemaVersion":99})", "x.plan");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().what(), "x.plan was made by another version of Fairlead");
}

TEST(PlanFileTest, APlanThatIsNotThere) {
  Result<PlanFile> file = read_plan_file("/no/such/file");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message(), HasSubstr("the plan /no/such/file cannot be read: No such file or directory"));
}

TEST(PlanFileTest, TheSamePlanHasNoChanges) {
  EXPECT_THAT(changes_since(example().objects, example().objects), IsEmpty());
}

TEST(PlanFileTest, ChangesAreNamed) {
  std::vector<PlanFile::Object> planned = {object("cluster", "change", "1", "2"), object("files", "change", "1", "2"),
                                           object("both", "change", "1", "2"),    object("drift", "none"),
                                           object("made", "create", "none", "2"), object("left", "none")};
  std::vector<PlanFile::Object> now = {object("cluster", "change", "9", "2"),
                                       object("files", "change", "1", "9"),
                                       object("both", "change", "8", "9"),
                                       object("drift", "change", "1", "2"),
                                       object("made", "none"),
                                       object("new", "create", "none", "3")};
  EXPECT_THAT(
      changes_since(planned, now),
      ElementsAre("ConfigMap shop/cluster changed in the cluster", "ConfigMap shop/files changed in the manifests",
                  "ConfigMap shop/both changed in the cluster and in the manifests",
                  "ConfigMap shop/drift was planned as \"none\", and is now \"change\"",
                  "ConfigMap shop/made was planned as \"create\", and is now \"none\"",
                  "ConfigMap shop/new is not in the plan",
                  "ConfigMap shop/left is in the plan, and not there any more"));
}

TEST(PlanFileTest, KeysDiffer) {
  EXPECT_EQ(new_digest_key().size(), 64U);
  EXPECT_NE(new_digest_key(), new_digest_key());
}

}  // namespace
}  // namespace fairlead::cli
