// Helpers for tests of fairlead_object.
#pragma once

#include "terraform/object/object.h"
#include "terraform/objects/resource_testing.h"

namespace fairlead::terraform {

inline constexpr std::string_view kSettings = "/api/v1/namespaces/default/configmaps/settings";

inline std::string config_map(std::string_view data, std::string_view name = "settings") {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata: {}\n", name, data);
}

inline std::string deployment_of(std::string_view spec) {
  return fmt::format(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{{}selector: {{matchLabels: {{app: "
      "web}}}}, "
      "template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: web:1}}]}}}}}}\n",
      spec);
}

class ObjectTest : public ResourceTest {
 protected:
  ObjectTest() : ResourceTest(make_object_resource()) {}

  static Value with(std::string_view yaml, Value::Members more = {}) {
    Value config = Value::object(std::move(more));
    config.make("yaml_body") = yaml;
    return config;
  }
  std::string_view shown(std::string_view path) {
    return state_["managed_state_projection"][path].string_or("nothing");
  }
};

}  // namespace fairlead::terraform
