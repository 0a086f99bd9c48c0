#include "schema/types/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schema/types/internal/builtin_table.h"

namespace fairlead::schema {
namespace {

TEST(Builtin, KnowsAnOrdinaryKind) {
  SchemaPtr schema = builtin_schema("apps", "v1", "Deployment");
  ASSERT_TRUE(schema);
  const Type& root = (*schema)[schema->root];
  EXPECT_EQ(root.name, "apps.v1.Deployment");
  const Type& spec = (*schema)[root.field("spec")->type];
  EXPECT_TRUE(spec.field("selector")->required);
  EXPECT_EQ((*schema)[spec.field("selector")->type].map, MapKind::atomic);
  EXPECT_EQ(spec.field("paused")->presence, Presence::left_if_empty);
  EXPECT_EQ(spec.field("replicas")->presence, Presence::kept);
  EXPECT_EQ(spec.field("strategy")->presence, Presence::always);
  EXPECT_EQ(spec.field("nosuch"), nullptr);
  EXPECT_EQ(spec.member("nosuch"), kNoType);
  const Type& pod = (*schema)[(*schema)[spec.field("template")->type].field("spec")->type];
  const Type& containers = (*schema)[pod.field("containers")->type];
  EXPECT_EQ(containers.list, ListKind::map);
  EXPECT_EQ(containers.keys, std::vector<std::string>{"name"});
  const Type& container = (*schema)[containers.item];
  const Type& ports = (*schema)[container.field("ports")->type];
  EXPECT_EQ(ports.keys, (std::vector<std::string>{"containerPort", "protocol"}));
  const Field* protocol = (*schema)[ports.item].field("protocol");
  EXPECT_EQ(protocol->fallback, Json("TCP"));
  EXPECT_EQ((*schema)[protocol->type].values, (std::vector<std::string>{"SCTP", "TCP", "UDP"}));
}

TEST(Builtin, KnowsGranularAndAtomicReferencesToOneType) {
  SchemaPtr schema = builtin_schema("", "v1", "PersistentVolume");
  ASSERT_TRUE(schema);
  const Type& spec = (*schema)[(*schema)[schema->root].field("spec")->type];
  EXPECT_EQ((*schema)[spec.field("claimRef")->type].map, MapKind::granular);
  SchemaPtr event = builtin_schema("", "v1", "Event");
  EXPECT_EQ((*event)[(*event)[event->root].field("involvedObject")->type].map, MapKind::atomic);
}

TEST(Builtin, TakesATypeThatLeadsBackToItself) {
  SchemaPtr schema = builtin_schema("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  ASSERT_TRUE(schema);
  EXPECT_LT(schema->types.size(), 200u);
}

TEST(Builtin, DoesNotKnowWhatIsNotThere) {
  EXPECT_FALSE(builtin_schema("apps", "v2", "Deployment"));
  EXPECT_FALSE(builtin_schema("", "", ""));
  EXPECT_FALSE(builtin_schema("apps", "v1", "Deploymen"));
}

// Every line can be read; a broken one would end the process.
TEST(Builtin, ReadsTheWholeTable) {
  for (std::string_view line : table::types) {
    Schema schema;
    TypeId id = add_builtin_type(schema, line.substr(0, line.find(' ')));
    EXPECT_LT(id, schema.types.size());
  }
  EXPECT_TRUE(std::is_sorted(table::types.begin(), table::types.end(), [](std::string_view a, std::string_view b) {
    return a.substr(0, a.find(' ')) < b.substr(0, b.find(' '));
  }));
}

TEST(Builtin, ListsResourcesAsDiscoveryDoes) {
  std::vector<Resource> resources = builtin_resources();
  auto find = [&](std::string_view group, std::string_view name) -> const Resource& {
    return *std::find_if(resources.begin(), resources.end(),
                         [&](const Resource& one) { return one.group == group && one.name == name; });
  };
  const Resource& deployments = find("apps", "deployments");
  EXPECT_EQ(deployments.version, "v1");
  EXPECT_EQ(deployments.singular, "deployment");
  EXPECT_EQ(deployments.kind, "Deployment");
  EXPECT_TRUE(deployments.namespaced);
  EXPECT_EQ(deployments.short_names, std::vector<std::string>{"deploy"});
  EXPECT_EQ(deployments.categories, std::vector<std::string>{"all"});
  EXPECT_EQ(deployments.columns.at(1).name, "Ready");
  const Resource& scale = find("apps", "deployments/scale");
  EXPECT_EQ(scale.kind, "Scale");
  EXPECT_EQ(scale.kind_group, "autoscaling");
  EXPECT_FALSE(find("", "nodes").namespaced);
  for (const Resource& resource : resources) {
    bool has_schema = builtin_schema(resource.kind_group.empty() ? resource.group : resource.kind_group,
                                     resource.kind_version.empty() ? resource.version : resource.kind_version,
                                     resource.kind) != nullptr;
    // Options of a connection are no objects.
    static const std::set<std::string_view> kNone = {"PodAttachOptions", "PodExecOptions",   "PodPortForwardOptions",
                                                     "PodProxyOptions",  "NodeProxyOptions", "ServiceProxyOptions"};
    EXPECT_TRUE(has_schema || kNone.contains(resource.kind)) << resource.name;
  }
}

}  // namespace
}  // namespace fairlead::schema
