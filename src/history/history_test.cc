#include "history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/base64.h"
#include "history/compress.h"
#include "sandbox/sandbox.h"

namespace fairlead::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

object::Object object_of(std::string_view json, object::Source source = {.file = "k8s/a.yaml", .line = 3}) {
  auto object = object::Object::from(*Json::parse(json), std::move(source));
  EXPECT_TRUE(object);
  return *std::move(object);
}

object::Object config_map(const std::string& name, const std::string& value) {
  return object_of(
      fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":"default"}},
                                  "data":{{"a":"{}"}}}})",
                  name, value));
}

object::Object secret(const std::string& password) {
  return object_of(fmt::format(
      R"({{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"s","namespace":"default","annotations":
          {{"kubectl.kubernetes.io/last-applied-configuration":"{0}"}}}},"stringData":{{"password":"{0}"}}}})",
      password));
}

TEST(Compress, WhatIsCompressedComesBack) {
  std::string text(100000, 'x');
  EXPECT_LT(compress(text).size(), 1000u);
  EXPECT_EQ(uncompress(compress(text), 100000), text);
  EXPECT_EQ(uncompress(compress(""), 0), "");
  EXPECT_EQ(uncompress(compress(text), 99999).error().kind(), ErrorKind::limit);
  EXPECT_EQ(uncompress("no gzip", 100).error().kind(), ErrorKind::protocol);
  EXPECT_EQ(uncompress(compress(text).substr(0, 50), 1000000).error().kind(), ErrorKind::protocol);
  EXPECT_EQ(uncompress("", 100).error().kind(), ErrorKind::protocol);
}

TEST(Revisions, TheListIsReadAsItWasWritten) {
  Revision one{.number = 1,
               .how = "done",
               .who = "ann@laptop, process 7",
               .when = "2030-01-01T00:00:00Z",
               .version = "0.1.0",
               .objects = 3,
               .digest = "abc",
               .chunks = 1};
  Revision two = one;
  two.number = 2;
  two.note = "rollback to revision 1";
  two.has_secrets = true;
  two.has_delete_hooks = true;
  EXPECT_THAT(parse_revisions(dump({one, two})), ElementsAre(two, one));
}

TEST(Revisions, AHostileListIsNoHarm) {
  EXPECT_TRUE(parse_revisions("").empty());
  EXPECT_TRUE(parse_revisions("{}").empty());
  EXPECT_TRUE(parse_revisions(R"([1, {"revision":-1}, {"revision":"1"}])").empty());
  auto revisions = parse_revisions(R"([{"revision":3,"who":"a\u001b[31mb\n","chunks":1000000},{"revision":3}])");
  ASSERT_EQ(revisions.size(), 1u);
  EXPECT_LE(revisions[0].chunks, 100);
  std::string long_text(100000, 'x');
  EXPECT_LE(parse_revisions(fmt::format(R"([{{"revision":1,"who":"{}"}}])", long_text))[0].who.size(), 400u);
}

TEST(Revisions, ValuesOfSecretsAreKeptAsHashesOnly) {
  KeptObject kept_secret = kept(secret("hunter2"), "created", false, "salt");
  std::string text = dump(1, {kept_secret}).text;
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, Not(HasSubstr(to_base64("hunter2"))));
  EXPECT_FALSE(kept_secret.object.value().contains("data"));
  EXPECT_EQ(kept_secret.hashes["password"], Json(hash_of(to_base64("hunter2"), "password", "salt")));
  EXPECT_NE(hash_of(to_base64("hunter2"), "password", "salt"), hash_of(to_base64("hunter2"), "password", "other"));
  EXPECT_NE(hash_of(to_base64("hunter2"), "password", "salt"), hash_of(to_base64("hunter2"), "key", "salt"));
  // Unless somebody asked for them.
  EXPECT_THAT(dump(1, {kept(secret("hunter2"), "created", true, "salt")}).text, HasSubstr("hunter2"));
}

TEST(Revisions, TheDigestIsThatOfTheManifests) {
  auto digest = [](std::string_view outcome, object::Object object) {
    return dump(1, {kept(object, outcome, false, "salt")}).digest;
  };
  EXPECT_EQ(digest("created", config_map("a", "1")), digest("unchanged", config_map("a", "1")));
  EXPECT_NE(digest("created", config_map("a", "1")), digest("created", config_map("a", "2")));
  EXPECT_NE(digest("created", secret("1")), digest("created", secret("2")));
}

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() : sandbox_(loop_, options()) {
    auto opened = loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop", .holder = "ann"}));
    EXPECT_TRUE(opened);
    inventory_ = *std::move(opened);
    EXPECT_TRUE(loop_.run(inventory_->claim({})));
  }
  ~HistoryTest() override { loop_.run(sandbox_.stop()); }

  sandbox::Options options() {
    sandbox::Options options;
    options.controllers = false;
    options.forbids = [this](auto, std::string_view verb, auto, std::string_view resource, auto, auto) {
      return resource == "secrets" && verb == forbidden_;
    };
    return options;
  }

  Result<int64_t> keep(std::vector<object::Object> objects, std::string how = "done", bool with_secrets = false) {
    history::Run run{.how = std::move(how), .who = "ann", .note = {}, .with_secrets = with_secrets, .objects = {}};
    for (const object::Object& object : objects)
      run.objects.push_back(kept(object, "created", with_secrets, inventory_->label_value()));
    return loop_.run(keep_revision(client_, *inventory_, run));
  }
  Result<std::vector<KeptObject>> read(int64_t number) {
    for (const Revision& one : revisions_of(*inventory_))
      if (one.number == number) return loop_.run(read_revision(client_, *inventory_, one));
    return fail(ErrorKind::not_found, "not listed");
  }
  std::string value_of(int64_t number) {
    auto objects = read(number);
    return objects ? std::string(objects->front().object.value()["data"]["a"].string_or("?"))
                   : objects.error().message();
  }
  Json get(const std::string& target) {
    auto reply = loop_.run(client_.request({.target = target}));
    return reply ? reply->value : Json();
  }
  std::vector<std::string> secret_names() {
    std::vector<std::string> names;
    for (const Json& one : get("/api/v1/namespaces/default/secrets")["items"].items())
      names.emplace_back(one["metadata"]["name"].string_or(""));
    return names;
  }
  void create(const object::Object& object) {
    object::Resource secrets{.group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .namespaced = true};
    ASSERT_TRUE(loop_.run(client_.create(secrets, object.ns(), object.value())));
  }
  Result<Restored> restored(int64_t number, OtherValues other = OtherValues::refuse) {
    return loop_.run(restore(client_, *read(number), other, inventory_->label_value()));
  }

  VirtualLoop loop_;
  std::string forbidden_;
  sandbox::Sandbox sandbox_;
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
  kube::Discovery discovery_{client_};
  std::unique_ptr<inventory::Inventory> inventory_;
};

std::string noise(size_t size) {
  std::minstd_rand random(1);
  std::string text;
  while (text.size() < size) text += static_cast<char>('!' + random() % 90);
  std::erase_if(text, [](char c) { return c == '"' || c == '\\'; });
  return text;
}

TEST_F(HistoryTest, ManifestsComeBackWithTheirSources) {
  ASSERT_EQ(keep({config_map("a", "1"), config_map("b", "2")}), 1);
  auto objects = read(1);
  ASSERT_TRUE(objects) << objects.error().report();
  ASSERT_EQ(objects->size(), 2u);
  EXPECT_EQ((*objects)[0].object.value(), config_map("a", "1").value());
  EXPECT_EQ((*objects)[0].object.source().text(), "k8s/a.yaml:3");
  EXPECT_EQ((*objects)[0].outcome, "created");
}

TEST_F(HistoryTest, TheRecordOwnsTheSecretAndTakesTheListAlong) {
  ASSERT_TRUE(keep({config_map("a", "1")}));
  Json secret = get("/api/v1/namespaces/default/secrets/fairlead-shop.revision-1");
  EXPECT_EQ(secret["type"], Json("fairlead.dev/revision"));
  EXPECT_EQ(secret["metadata"]["ownerReferences"].item(0)["uid"], Json(inventory_->uid()));
  EXPECT_FALSE(secret["metadata"]["labels"].contains(inventory::kPartOfLabel));
  ASSERT_TRUE(loop_.run(inventory_->release()));
  auto again = loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop"}));
  ASSERT_TRUE(again);
  ASSERT_EQ(revisions_of(**again).size(), 1u);
  EXPECT_EQ(revisions_of(**again)[0].who, "ann");
}

TEST_F(HistoryTest, TheLastTenAreKept) {
  for (int i = 1; i <= 13; ++i) ASSERT_EQ(keep({config_map("a", std::to_string(i))}), i);
  EXPECT_EQ(secret_names().size(), 10u);
  std::vector<Revision> revisions = revisions_of(*inventory_);
  ASSERT_EQ(revisions.size(), 10u);
  EXPECT_EQ(revisions.front().number, 13);
  EXPECT_EQ(revisions.back().number, 4);
  for (int i = 4; i <= 13; ++i) EXPECT_EQ(value_of(i), std::to_string(i));
}

TEST_F(HistoryTest, TheSameAgainPushesNothingOut) {
  ASSERT_EQ(keep({config_map("a", "1")}), 1);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(keep({config_map("a", "2")}, "failed"), 2);
  EXPECT_EQ(keep({config_map("a", "2")}, "done"), 3);
  EXPECT_EQ(revisions_of(*inventory_).size(), 3u);
}

TEST_F(HistoryTest, ARunThatWasKilledAfterItWroteItsManifestsIsReplaced) {
  ASSERT_EQ(keep({config_map("a", "1")}), 1);
  // The list of the second run was never written.
  std::string list(inventory_->annotation("fairlead.dev/revisions"));
  ASSERT_EQ(keep({config_map("a", "killed")}), 2);
  inventory_->annotate("fairlead.dev/revisions", list);
  ASSERT_EQ(keep({config_map("a", "2")}), 2);
  EXPECT_EQ(value_of(2), "2");
}

TEST_F(HistoryTest, WhatAKilledRunWroteIsDeletedAsWell) {
  ASSERT_EQ(keep({config_map("a", "1")}), 1);
  std::string list(inventory_->annotation("fairlead.dev/revisions"));
  ASSERT_EQ(keep({config_map("a", noise(900000)), config_map("b", noise(900000))}), 2);
  inventory_->annotate("fairlead.dev/revisions", list);
  EXPECT_EQ(secret_names().size(), 3u);
  loop_.run(delete_revisions(client_, *inventory_));
  EXPECT_TRUE(secret_names().empty());
}

TEST_F(HistoryTest, ARevisionWhosePlaceWasTakenSaysSo) {
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(keep({config_map("a", std::to_string(i))}));
  std::string list(inventory_->annotation("fairlead.dev/revisions"));
  ASSERT_EQ(keep({config_map("a", "killed")}), 11);
  inventory_->annotate("fairlead.dev/revisions", list);
  EXPECT_EQ(value_of(1), "the manifests of revision 1 are not kept: a newer revision, 11, has taken its place");
}

TEST_F(HistoryTest, ASecretOfSomebodyElseIsNotTouched) {
  object::Object other = object_of(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"fairlead-shop.revision-1","namespace":"default"},
          "data":{"x":"eA=="}})");
  create(other);
  auto number = keep({config_map("a", "1")});
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().message(),
            "Secret default/fairlead-shop.revision-1 is there already, and is not a revision of this bundle");
  EXPECT_EQ(get("/api/v1/namespaces/default/secrets/fairlead-shop.revision-1")["data"].dump(), R"({"x":"eA=="})");
  EXPECT_TRUE(revisions_of(*inventory_).empty());
}

TEST_F(HistoryTest, ASecretThatIsNoLongerTheBundlesIsNotRead) {
  ASSERT_EQ(keep({config_map("a", "1")}), 1);
  kube::Call patch{.verb = "patch",
                   .method = "PATCH",
                   .target = "/api/v1/namespaces/default/secrets/fairlead-shop.revision-1",
                   .content_type = "application/merge-patch+json",
                   .body = R"({"metadata":{"labels":null,"ownerReferences":null}})"};
  ASSERT_TRUE(loop_.run(client_.request(patch)));
  EXPECT_EQ(value_of(1),
            "the manifests of revision 1 are not kept: Secret default/fairlead-shop.revision-1 does not hold them");
}

TEST_F(HistoryTest, ASecretThatIsNoLongerTheBundlesIsNotDeleted) {
  for (std::string_view value : {"1", "2"}) ASSERT_TRUE(keep({config_map("a", std::string(value))}));
  kube::Call patch{.verb = "patch",
                   .method = "PATCH",
                   .target = "/api/v1/namespaces/default/secrets/fairlead-shop.revision-1",
                   .content_type = "application/merge-patch+json",
                   .body = R"({"metadata":{"labels":null,"ownerReferences":null}})"};
  ASSERT_TRUE(loop_.run(client_.request(patch)));
  loop_.run(delete_revisions(client_, *inventory_));
  EXPECT_EQ(secret_names(), std::vector<std::string>{"fairlead-shop.revision-1"});
}

TEST_F(HistoryTest, LargeManifestsAreInSeveralSecrets) {
  std::vector<object::Object> objects;
  for (int i = 0; i < 3; ++i) objects.push_back(config_map(fmt::format("m{}", i), noise(900000)));
  ASSERT_EQ(keep(objects), 1);
  EXPECT_EQ(revisions_of(*inventory_)[0].chunks, 3);
  EXPECT_THAT(secret_names(),
              ElementsAre("fairlead-shop.revision-1", "fairlead-shop.revision-1.1", "fairlead-shop.revision-1.2"));
  auto read_back = read(1);
  ASSERT_TRUE(read_back) << read_back.error().report();
  EXPECT_EQ(read_back->size(), 3u);
  loop_.run(delete_revisions(client_, *inventory_));
  EXPECT_TRUE(secret_names().empty());
  EXPECT_EQ(
      read(1).error().message(),
      "the manifests of revision 1 are not kept: Secret default/fairlead-shop.revision-1 does not exist any more");
}

TEST_F(HistoryTest, ASmallRevisionLeavesNoneOfTheSecretsOfTheLargeOneThatItReplaces) {
  ASSERT_EQ(keep({config_map("m", noise(2000000))}), 1);
  EXPECT_GT(revisions_of(*inventory_)[0].chunks, 1);
  for (int i = 2; i <= 11; ++i) ASSERT_EQ(keep({config_map("m", std::to_string(i))}), i);
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) expected.push_back(fmt::format("fairlead-shop.revision-{}", i));
  EXPECT_EQ(secret_names(), expected);
}

TEST_F(HistoryTest, ManifestsThatAreTooLargeAreListedAndNotKept) {
  std::vector<object::Object> objects;
  for (int i = 0; i < 10; ++i) objects.push_back(config_map(fmt::format("m{}", i), noise(900000)));
  ASSERT_EQ(keep(objects), 1);
  EXPECT_TRUE(secret_names().empty());
  EXPECT_EQ(read(1).error().message(),
            "the manifests of revision 1 are not kept: they are too large to be kept in the cluster");
}

TEST_F(HistoryTest, WithoutTheRightToWriteNothingIsListed) {
  forbidden_ = "create";
  auto number = keep({config_map("a", "1")});
  ASSERT_FALSE(number);
  EXPECT_TRUE(revisions_of(*inventory_).empty());
}

TEST_F(HistoryTest, WhatToGoBackTo) {
  ASSERT_TRUE(keep({config_map("a", "1")}));
  auto chosen = [&](int64_t number) {
    auto revision = revision_to_go_back_to(revisions_of(*inventory_), number, "shop");
    return revision ? std::to_string(revision->number) : revision.error().report();
  };
  EXPECT_EQ(chosen(0),
            "error: bundle shop has no revision to go back to\n"
            "  because   no earlier run that was done applied anything else\n"
            "  next      fairlead history shop\n");
  ASSERT_TRUE(keep({config_map("a", "2")}));
  EXPECT_EQ(chosen(0), "1");
  ASSERT_TRUE(keep({config_map("a", "3")}, "failed"));
  EXPECT_EQ(chosen(0), "2");
  ASSERT_TRUE(keep({config_map("a", "2")}));
  EXPECT_EQ(chosen(0), "1");
  EXPECT_EQ(chosen(3), "3");
  EXPECT_EQ(chosen(9),
            "error: bundle shop has no revision 9\n"
            "  next      fairlead history shop\n");
}

TEST_F(HistoryTest, ValuesOfSecretsComeFromTheClusterIfTheyAreTheSame) {
  ASSERT_TRUE(keep({secret("hunter2")}));
  create(object_of(fmt::format(R"({{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"s","namespace":"default"}},
                                   "data":{{"password":"{}","more":"eA=="}}}})",
                               to_base64("hunter2"))));
  auto whole = restored(1);
  ASSERT_TRUE(whole) << whole.error().report();
  EXPECT_EQ(whole->objects[0].value()["data"].dump(), fmt::format(R"({{"password":"{}"}})", to_base64("hunter2")));
  EXPECT_TRUE(whole->warnings.empty());
}

TEST_F(HistoryTest, OtherValuesOfSecretsAreRefusedUnlessAskedFor) {
  ASSERT_TRUE(keep({secret("hunter2")}));
  create(secret("new"));
  EXPECT_EQ(restored(1).error().report(),
            "error: values of Secrets are needed that were not kept: Secret default/s (key password)\n"
            "  because   the cluster has other values by now\n"
            "  next      fairlead rollback … --current-secrets keeps the values that are in the cluster\n");
  auto current = restored(1, OtherValues::keep);
  ASSERT_TRUE(current);
  EXPECT_EQ(current->objects[0].value()["data"]["password"], Json(to_base64("new")));
  EXPECT_THAT(current->warnings, ElementsAre("the values in the cluster stay, since those of that revision were not "
                                             "kept: Secret default/s (key password)"));
}

TEST_F(HistoryTest, ValuesOfSecretsThatAreNowhereAreRefused) {
  ASSERT_TRUE(keep({secret("hunter2")}));
  for (OtherValues other : {OtherValues::refuse, OtherValues::keep})
    EXPECT_EQ(restored(1, other).error().report(),
              "error: values of Secrets are needed that were not kept: Secret default/s (key password)\n"
              "  because   they are not in the cluster either\n"
              "  next      apply the manifests of that time again; apply --keep-secrets keeps values from then on\n");
}

TEST_F(HistoryTest, KeptValuesOfSecretsNeedNoCluster) {
  ASSERT_TRUE(keep({secret("hunter2")}, "done", true));
  auto whole = restored(1);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->objects[0].value()["stringData"]["password"], Json("hunter2"));
}

TEST_F(HistoryTest, TheLastRunIsNotedInTheRecord) {
  EXPECT_FALSE(last_run_of(*inventory_));
  note_run(*inventory_, {.who = "ann", .how = "done", .objects = 4}, loop_.clock().wall_now());
  ASSERT_TRUE(loop_.run(inventory_->release()));
  auto again = loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop"}));
  auto run = last_run_of(**again);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->who, "ann");
  EXPECT_EQ(run->how, "done");
  EXPECT_EQ(run->objects, 4);
  EXPECT_THAT(run->when, testing::StartsWith("2030-01-01T00:00:"));
}

}  // namespace
}  // namespace fairlead::history
