#include "inventory/inventory.h"

#include "inventory/inventory_testing.h"

namespace fairlead::inventory {
namespace {

TEST_F(InventoryTest, OpeningOnlyReads) {
  std::unique_ptr<Inventory> inventory = open("ann");
  EXPECT_FALSE(inventory->exists());
  EXPECT_TRUE(parent().is_null());
  EXPECT_EQ(inventory->label_value(), "applyset-p9A8qVu_6JIe1KH43CK8qXKQKjYic-7iaiWS0zTeoUw-v1");
  EXPECT_EQ(inventory->field_manager(), "fairlead/default/shop");
}

TEST_F(InventoryTest, ClaimingWritesTheParent) {
  std::unique_ptr<Inventory> inventory =
      claimed("ann", {{{"apps", "Deployment", "a", "web"}, "v1"}, {{"", "Namespace", "", "a"}, "v1"}});
  Json written = parent();
  EXPECT_EQ(written["metadata"]["labels"].dump(),
            R"({"applyset.kubernetes.io/id":"applyset-p9A8qVu_6JIe1KH43CK8qXKQKjYic-7iaiWS0zTeoUw-v1"})");
  EXPECT_EQ(annotation(kToolingAnnotation), "fairlead/v0.1.0");
  EXPECT_EQ(annotation(kKindsAnnotation), "Deployment.apps,Namespace");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "a");
  EXPECT_EQ(annotation("fairlead.dev/claim"),
            R"({"holder":"ann","since":"2030-01-01T00:00:00.000000Z","renewed":"2030-01-01T00:00:00.000000Z",)"
            R"("renewals":0,"leaseMilliseconds":30000})");
}

TEST_F(InventoryTest, ClaimingUnitesWhatWasAndWhatIsWanted) {
  loop_.run(claimed("ann", config_maps_in("a"))->release());
  claimed("ben", {{{"", "Secret", "b", "x"}, "v1"}});
  EXPECT_EQ(annotation(kKindsAnnotation), "ConfigMap,Secret");
  EXPECT_EQ(annotation(kNamespacesAnnotation), "a,b");
}

TEST_F(InventoryTest, WhoMayBeAtWorkAndWhatIsCoveredCanBeAsked) {
  EXPECT_TRUE(open("ben")->is_free());
  EXPECT_FALSE(open("ben")->covers({"", "ConfigMap", "default", "x"}));
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  std::unique_ptr<Inventory> ben = open("ben");
  EXPECT_FALSE(ben->is_free());
  EXPECT_TRUE(ben->covers({"", "ConfigMap", "a", "x"}));
  EXPECT_TRUE(ben->covers({"", "ConfigMap", "default", "x"}));
  EXPECT_FALSE(ben->covers({"", "ConfigMap", "b", "x"}));
  EXPECT_FALSE(ben->covers({"", "Secret", "a", "x"}));
  (void)loop_.run(sleep_for(loop_, std::chrono::hours(3)));
  EXPECT_TRUE(ben->is_free());
}

TEST_F(InventoryTest, WithNothingLeftTheParentGoes) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_TRUE(parent().is_null());
  EXPECT_FALSE(ann->exists());
}

TEST_F(InventoryTest, AParentThatSomebodyDeletesAtTheSameTimeIsGone) {
  std::unique_ptr<Inventory> ann = claimed("ann", config_maps_in("a"));
  ASSERT_EQ(said(loop_.run(client_.remove(kConfigMaps, "default", "fairlead-shop"))), "");
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  EXPECT_FALSE(ann->exists());
  EXPECT_FALSE(ann->claimed());
}

TEST_F(InventoryTest, ARunCostsThreeRequestsAndOneAKind) {
  (void)loop_.run(discovery_.all());
  size_t before = requests();
  std::unique_ptr<Inventory> ann =
      claimed("ann", {{{"", "Secret", "a", "s"}, "v1"}, {{"", "ConfigMap", "b", "x"}, "v1"}});
  EXPECT_TRUE(loop_.run(ann->members(true)));
  EXPECT_EQ(said(loop_.run(ann->settle({{"", "Secret", "a", "s"}}))), "");
  EXPECT_EQ(requests() - before, 3u + 2u);
}

TEST_F(InventoryTest, SomebodyElsesConfigMapIsLeftAlone) {
  make("v1", "ConfigMap", "default", "fairlead-shop", "");
  auto opened = loop_.run(Inventory::open(client_, discovery_, named("ann")));
  ASSERT_FALSE(opened);
  EXPECT_EQ(said(opened), R"(error: bundle shop in namespace default cannot be used
  because   ConfigMap default/fairlead-shop already exists and is not the inventory of that bundle
  next      kubectl -n default get configmap fairlead-shop -o yaml
)");
}

TEST_F(InventoryTest, NamesAreChecked) {
  for (const std::string& name : std::vector<std::string>{"", "Shop", "-a", "a.b", "a/b", "..", std::string(54, 'a')}) {
    Options options = named("ann");
    options.name = name;
    EXPECT_FALSE(loop_.run(Inventory::open(client_, discovery_, options))) << name;
    options.name = "shop";
    options.ns = "a/../b";
    EXPECT_FALSE(loop_.run(Inventory::open(client_, discovery_, options)));
  }
}

TEST_F(InventoryTest, AHomeThatIsNotThereIsToldByItsKind) {
  Options options = named("ann");
  options.ns = "nowhere";
  std::unique_ptr<Inventory> inventory = *loop_.run(Inventory::open(client_, discovery_, options));
  Outcome<void> claimed = loop_.run(inventory->claim({}));
  ASSERT_FALSE(claimed);
  EXPECT_TRUE(claimed.error().is(kube::FaultKind::namespace_missing));
}

TEST_F(InventoryTest, AnOwnerIsNamed) {
  std::unique_ptr<Inventory> ann = claimed("ann");
  auto labelled = [](std::string_view label) {
    Json object;
    object.make("metadata").make("labels").make(kPartOfLabel) = label;
    return object;
  };
  Owner owner = loop_.run(find_owner(client_, labelled(ann->label_value())));
  EXPECT_EQ(owner.text, "bundle shop, namespace default");
  EXPECT_EQ(owner.bundle, (BundleName{"shop", "default"}));
  owner = loop_.run(find_owner(client_, labelled("applyset-x-v1")));
  EXPECT_EQ(owner.text, "an ApplySet of another tool: applyset-x-v1");
  EXPECT_FALSE(owner.bundle);
  // The managedFields of the object name the bundle, whether its inventory ConfigMap exists or not.
  make("v1", "ConfigMap", "a", "x", ann->label_value());
  EXPECT_EQ(said(loop_.run(ann->settle({}))), "");
  Outcome<kube::Reply> live = loop_.run(client_.get(kConfigMaps, "a", "x"));
  size_t before = requests();
  EXPECT_EQ(loop_.run(find_owner(client_, live->value)).text, "bundle shop, namespace default");
  EXPECT_EQ(requests(), before);
}

}  // namespace
}  // namespace fairlead::inventory
