// The members of a bundle: which objects are found, and which are left alone.
#include "inventory/inventory_testing.h"

namespace fairlead::inventory {
namespace {

class MembersTest : public InventoryTest {
 protected:
  std::vector<std::string> names(const Outcome<Members>& members) {
    EXPECT_TRUE(members) << said(members);
    std::vector<std::string> names;
    for (const Member& member : members ? members->found : std::vector<Member>()) names.push_back(member.key.text());
    return names;
  }
};

// A server that takes no notice of label selectors, as some aggregated API servers do.
class IgnoresSelectors : public http::Transport {
 public:
  explicit IgnoresSelectors(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (size_t at = request.target.find("labelSelector="); at != std::string::npos) {
      size_t end = request.target.find('&', at);
      request.target.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return to_.open(std::move(request));
  }

 private:
  http::Transport& to_;
};

TEST_F(MembersTest, FindsWhatEarlierRunsPutAnywhere) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "old", ann->label_value());
  make("v1", "ConfigMap", "a", "somebody-elses", "applyset-x-v1");
  // Killed here; the next run has moved it to another namespace, and renamed it.
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  std::unique_ptr<Inventory> ben = claimed("ben", config_maps_in("b"));
  make("v1", "ConfigMap", "b", "new", ben->label_value());
  Outcome<Members> members = loop_.run(ben->members(true));
  EXPECT_EQ(names(members), (std::vector<std::string>{"ConfigMap a/old", "ConfigMap b/new"}));
  EXPECT_TRUE(members->found[0].object["metadata"].contains("managedFields"));
  EXPECT_EQ(members->found[0].version, "v1");
  EXPECT_FALSE(members->found[0].uid.empty());

  EXPECT_EQ(said(loop_.run(ben->settle({{"", "ConfigMap", "b", "new"}}))), "");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "b");
  EXPECT_EQ(annotation("fairlead.dev/claim"), "none");
}

TEST_F(MembersTest, ACopiedLabelMakesNoMember) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "ours", ann->label_value());
  manager_ = "somebody";
  for (std::string_view name : {"copy-1", "copy-2", "copy-3", "copy-4"})
    make("v1", "ConfigMap", "a", name, ann->label_value());
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>{"ConfigMap a/ours"});
  EXPECT_EQ(texts_of(members->foreign_objects),
            std::vector<std::string>{"ConfigMap a/copy-1, ConfigMap a/copy-2, ConfigMap a/copy-3 and 1 more are left "
                                     "alone: they have the bundle's label, but the bundle did not apply them"});
}

TEST_F(MembersTest, WhatAListReturnsWithoutTheLabelIsNoMember) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "ours", ann->label_value());
  make("v1", "ConfigMap", "b", "theirs", "");
  IgnoresSelectors server(sandbox_.api_server());
  kube::Client client(loop_, server, nullptr, {});
  kube::Discovery discovery(client);
  auto opened = loop_.run(Inventory::open(client, discovery, named("ben")));
  Outcome<Members> members = loop_.run((*opened)->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>{"ConfigMap a/ours"});
  // The other object is the inventory ConfigMap itself.
  EXPECT_EQ(texts_of(members->foreign_objects),
            std::vector<std::string>{"ConfigMap b/theirs, ConfigMap default/fairlead-shop are left alone: the API "
                                     "server returned them without the bundle's label: it ignores label selectors for "
                                     "kind ConfigMap"});
}

TEST_F(MembersTest, AFieldManagerOfTheUsersIsRemembered) {
  Options options = named("ann");
  options.field_manager = "ci";
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client_, discovery_, options));
  EXPECT_EQ(ann->field_manager(), "ci");
  EXPECT_EQ(said(loop_.run(ann->claim(config_maps_in("a")))), "");
  manager_ = "ci";
  make("v1", "ConfigMap", "a", "x", ann->label_value());
  EXPECT_EQ(said(loop_.run(ann->release())), "");
  EXPECT_EQ(annotation("fairlead.dev/field-managers"), R"(["ci"])");
  EXPECT_EQ(names(loop_.run(open("ben")->members(false))), std::vector<std::string>{"ConfigMap a/x"});
}

TEST_F(MembersTest, ListsByNamespaceWhereItMustNotListAll) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  make("v1", "ConfigMap", "a", "x", ann->label_value());
  make("v1", "ConfigMap", "default", "y", ann->label_value());
  forbids_ = [](std::string_view verb, auto, std::string_view ns) { return verb == "list" && ns.empty(); };
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), (std::vector<std::string>{"ConfigMap a/x", "ConfigMap default/y"}));
  EXPECT_TRUE(members->unlisted.empty());
  EXPECT_FALSE(members->found[0].object.contains("data"));
}

TEST_F(MembersTest, WhatCannotBeListedStaysCovered) {
  std::unique_ptr<Inventory> ann =
      claimed("ann", {{{"", "Secret", "a", "s"}, "v1"}, {{"", "ConfigMap", "b", "x"}, "v1"}});
  forbids_ = [](std::string_view verb, std::string_view resource, auto) {
    return verb == "list" && resource == "secrets";
  };
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>());
  ASSERT_EQ(members->unlisted.size(), 1u);
  EXPECT_EQ(members->unlisted[0].kind, (GroupKind{"", "Secret"}));
  EXPECT_EQ(members->unlisted[0].why.what(), "objects of kind Secret cannot be listed");
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_EQ(annotation(kKindsAnnotation), "Secret");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "a,b");
}

TEST_F(MembersTest, AKindThatIsNotServedHasNoMembers) {
  std::unique_ptr<Inventory> ann = claimed("ann", {{{"example.com", "Widget", "a", "w"}, "v1"}});
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>());
  EXPECT_TRUE(members->unlisted.empty());
}

TEST_F(MembersTest, AKindWhoseServerIsDownStaysCovered) {
  const object::Resource api_services{.group = "apiregistration.k8s.io",
                                      .version = "v1",
                                      .kind = "APIService",
                                      .plural = "apiservices",
                                      .singular = "",
                                      .namespaced = false};
  Json nobody = *Json::parse(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
      "metadata":{"name":"v1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1",
      "groupPriorityMinimum":100,"versionPriority":10,"service":{"namespace":"default","name":"nobody"}}})");
  ASSERT_EQ(said(loop_.run(client_.create(api_services, "", nobody))), "");
  kube::Discovery discovery(client_);
  std::unique_ptr<Inventory> ann = *loop_.run(Inventory::open(client_, discovery, named("ann")));
  ASSERT_EQ(said(loop_.run(ann->claim(
                {{{"metrics.example.com", "Gauge", "a", "g"}, "v1"}, {{"example.com", "Widget", "b", "w"}, "v1"}}))),
            "");
  Outcome<Members> members = loop_.run(ann->members(false));
  EXPECT_EQ(names(members), std::vector<std::string>());
  ASSERT_EQ(members->unlisted.size(), 1u);
  EXPECT_EQ(members->unlisted[0].kind, (GroupKind{"metrics.example.com", "Gauge"}));
  EXPECT_EQ(members->unlisted[0].why.message(),
            "the cluster does not serve kind Gauge in metrics.example.com/v1: the server behind APIService "
            "v1.metrics.example.com does not answer");
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_EQ(annotation(kKindsAnnotation), "Gauge.metrics.example.com");
}

TEST_F(MembersTest, NothingIsToldWithoutAnAnswer) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  (void)loop_.run(ann->members(false));
  sandbox_.set_down(0, true);
  EXPECT_FALSE(loop_.run(ann->members(false)));
}

}  // namespace
}  // namespace fairlead::inventory
