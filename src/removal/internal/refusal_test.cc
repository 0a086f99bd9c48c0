#include "removal/internal/refusal.h"

#include <gtest/gtest.h>

#include "inventory/applyset.h"

namespace fairlead::removal {
namespace {

const inventory::BundleName kShop{.name = "shop", .home = "default"};

Json of_shop() {
  Json object;
  object.make("metadata").make("labels").make(inventory::kPartOfLabel) = kShop.label_value();
  object.make("metadata").make("managedFields") =
      Json::Array{Json::Object{{"manager", kShop.field_manager()}, {"operation", "Apply"}}};
  return object;
}

std::string refusal(const std::string& name) {
  inventory::Identity shop{.label_value = kShop.label_value(), .managers = {kShop.field_manager()}};
  object::Key key{.group = "", .kind = "Namespace", .ns = "", .name = name};
  std::optional<Error> error = refusal_of(key, of_shop(), shop, false, {});
  return error ? error->cause()->message() : "none";
}

TEST(Refusal, ABundleDoesNotTakeANamespaceOfKubernetesWithIt) {
  EXPECT_EQ(refusal("shop"), "none");
  for (std::string_view name : {"default", "kube-node-lease", "kube-public", "kube-system"})
    EXPECT_EQ(refusal(std::string(name)), "it is a namespace of Kubernetes itself") << name;
}

}  // namespace
}  // namespace fairlead::removal
