#include "history/history.h"

#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string map(std::string_view name, std::string_view value) {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\ndata: {{a: \"{}\"}}\n", name,
                     value);
}

class HistoryTest : public RolloutTest {
 protected:
  HistoryTest() : RolloutTest(options_of(*this)) {}

  static sandbox::Options options_of(HistoryTest& test) {
    sandbox::Options options;
    options.forbids = [&test](auto, std::string_view verb, auto, std::string_view resource, auto, auto) {
      return test.forbids_secrets_ && resource == "secrets" && verb == "create";
    };
    return options;
  }

  static Options named() {
    Options options;
    options.name = "shop";
    options.holder = "ann@laptop, process 7";
    return options;
  }
  std::vector<history::Revision> revisions() {
    auto opened = loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop"}));
    return opened ? history::revisions_of(**opened) : std::vector<history::Revision>();
  }
  // "2 done 1 objects, 1 done 2 objects"
  std::string history() {
    std::string text;
    for (const history::Revision& one : revisions())
      text += fmt::format("{}{} {} {} objects", text.empty() ? "" : ", ", one.number, one.how, one.objects);
    return text;
  }

  bool forbids_secrets_ = false;
};

TEST_F(HistoryTest, RunsThatChangeSomethingAreKept) {
  EXPECT_EQ(apply(map("a", "1") + map("b", "1"), named()).revision, 1);
  EXPECT_EQ(apply(map("a", "2") + map("b", "1"), named()).revision, 2);
  EXPECT_EQ(history(), "2 done 2 objects, 1 done 2 objects");
  EXPECT_EQ(revisions()[0].who, "ann@laptop, process 7");
}

TEST_F(HistoryTest, ARunThatChangesNothingIsNotKeptAndSendsNoMore) {
  (void)apply(map("a", "1"), named());
  Ending same = apply(map("a", "1"), named());
  EXPECT_EQ(same.revision, 0);
  EXPECT_EQ(history(), "1 done 1 objects");
  EXPECT_THAT(events(), Not(HasSubstr("secrets")));
  Ending again = apply(map("a", "1"), named());
  EXPECT_EQ(again.requests, same.requests);
}

TEST_F(HistoryTest, ADryRunAndARunOfAPartAreNotKept) {
  Options options = named();
  options.dry_run = true;
  (void)apply(map("a", "1"), options);
  EXPECT_EQ(history(), "");
  options = named();
  options.is_partial = true;
  (void)apply(map("a", "1"), options);
  EXPECT_EQ(history(), "");
}

TEST_F(HistoryTest, ARunThatFailedIsKeptAsSuch) {
  (void)apply(map("a", "1"), named());
  std::string bad = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: {b: c}}\n";
  Ending ending = apply(map("a", "2") + bad, named());
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(history(), "2 failed 2 objects, 1 done 1 objects");
  // And the one that finds everything well again, although it changes nothing.
  EXPECT_EQ(apply(map("a", "2"), named()).revision, 3);
  EXPECT_EQ(apply(map("a", "2"), named()).revision, 0);
}

TEST_F(HistoryTest, WithoutTheRightTheRunIsDoneAllTheSame) {
  forbids_secrets_ = true;
  Ending ending = apply(map("a", "1"), named());
  EXPECT_EQ(ending.how, Ending::How::done);
  EXPECT_EQ(ending.revision, 0);
  EXPECT_THAT(events(), HasSubstr("this run could not be added to the history of the bundle: "));
  EXPECT_EQ(history(), "");
}

TEST_F(HistoryTest, RevisionsAreNotMembers) {
  (void)apply(map("a", "1"), named());
  Options options = named();
  options.prune = true;
  std::string with_secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n";
  EXPECT_EQ(states(apply(with_secret, options)), "Secret default/s created\nConfigMap default/a removed\n");
  EXPECT_FALSE(get("/api/v1/namespaces/default/secrets/fairlead-shop.revision-1").is_null());
  EXPECT_EQ(history(), "2 done 1 objects, 1 done 1 objects");
}

TEST_F(HistoryTest, WhatLeftTheManifestsIsToldUnlessItIsPruned) {
  (void)apply(map("a", "1") + map("b", "1") + map("c", "1"), named());
  Ending left = apply(map("a", "1"), named());
  EXPECT_EQ(states(left), "ConfigMap default/a unchanged\n");
  ASSERT_EQ(left.left.size(), 2u);
  EXPECT_EQ(left.left[0].text(), "ConfigMap default/b");
  EXPECT_EQ(left.left[1].text(), "ConfigMap default/c");
  EXPECT_THAT(events(),
              HasSubstr("2 objects of the bundle are no longer in the manifests: ConfigMap default/b, ConfigMap "
                        "default/c; --prune deletes them"));
  Options options = named();
  options.is_partial = true;
  EXPECT_EQ(apply(map("a", "1"), options).left.size(), 0u);
  options = named();
  options.dry_run = true;
  EXPECT_EQ(apply(map("a", "1"), options).left.size(), 2u);
  options = named();
  options.prune = true;
  EXPECT_EQ(states(apply(map("a", "1"), options)),
            "ConfigMap default/a unchanged\nConfigMap default/b removed\nConfigMap default/c removed\n");
}

TEST_F(HistoryTest, WhatLeftAndIsBeingDeletedNeedsNobodyToPruneIt) {
  std::string held = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, finalizers: [acme.dev/slow]}\n";
  (void)apply(map("a", "1") + held + map("c", "1"), named());
  ASSERT_TRUE(loop_.run(client_.request({.method = "DELETE", .target = "/api/v1/namespaces/default/configmaps/b"})));
  Ending ending = apply(map("a", "1"), named());
  ASSERT_EQ(ending.left.size(), 1u) << events();
  EXPECT_EQ(ending.left[0].text(), "ConfigMap default/c");
}

TEST_F(HistoryTest, TheLastRunIsInTheRecordEvenIfItChangedNothing) {
  (void)apply(map("a", "1"), named());
  Options options = named();
  options.holder = "bob@server, process 9";
  (void)apply(map("a", "1"), options);
  auto opened = loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop"}));
  ASSERT_TRUE(opened);
  EXPECT_EQ(history::last_run_of(**opened)->who, "bob@server, process 9");
  EXPECT_EQ(revisions()[0].who, "ann@laptop, process 7");
}

}  // namespace
}  // namespace fairlead::rollout
