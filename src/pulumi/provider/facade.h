// How Pulumi sees a resource or a data source of the core.
//
// This is the room's first header. The core is what the provider for Terraform has, too
// (terraform/provider/resource.h): resources with attributes, plans and applies. The room gives them Pulumi's names and
// values, and its protocol (server.h). A Facade says what differs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terraform/provider/resource.h"

namespace fairlead::pulumi {

// A property with one object, or a list of them, in place of an attribute with their text.
struct FreeForm {
  std::string property;
  std::string attribute;
  bool is_list = false;
  std::string description;
};

struct Facade {
  // "KubeObject", "getObject"
  std::string name;
  std::string description;
  const terraform::Schema* schema = nullptr;
  // Attributes for which Pulumi has means of its own. They are never set.
  std::vector<std::string_view> hidden;
  // The property of an attribute, where it is not the attribute's name in camelCase.
  std::map<std::string_view, std::string_view> renamed;
  std::optional<FreeForm> free_form;
  // Descriptions that differ, by attribute.
  std::map<std::string_view, std::string_view> descriptions;
  // The attribute for each of Pulumi's custom time limits: "timeouts.create".
  std::string create_time, update_time, delete_time;
  // Computed attributes whose values are known before a create.
  terraform::Value::Members planned;

  // "fairlead:index:KubeObject"
  std::string token() const;
  // "yamlBody" of "yaml_body".
  std::string property_of(std::string_view attribute) const;
  bool shows(std::string_view attribute) const;
  // Null if there is none.
  const terraform::Attribute* attribute_of(std::string_view property) const;
};

struct ResourceFacade : Facade {
  std::unique_ptr<terraform::Resource> resource;
  // Pulumi's id of the resource. By default the attribute `id`.
  std::function<std::string(const terraform::Value& state)> id_of;
  // The id for Resource::import(). None: the resource cannot be imported.
  std::function<Result<std::string>(std::string_view id)> import_id_of;
  // The inputs of a resource that was imported.
  std::function<Result<Json>(const terraform::Value& state)> imported_inputs;
  // Whether a configuration says nothing that is not so already, of a resource that was imported and not applied since.
  std::function<bool(const terraform::Value& state, const terraform::Value& config)> is_as_imported;
};

struct FunctionFacade : Facade {
  std::unique_ptr<terraform::DataSource> source;
  // Attributes that have these values in a preview, so that nothing waits.
  terraform::Value::Members in_preview;
};

// Everything that the provider offers.
struct Catalog {
  std::vector<ResourceFacade> resources;
  std::vector<FunctionFacade> functions;
};

// "apiVersion" of "api_version".
std::string camel_case(std::string_view name);

// The text with attributes and names in Pulumi's words: "ignoreFields" for ignore_fields, "adopt: true" for adopt =
// true.
std::string in_words_of_pulumi(std::string_view text, const Facade& facade);

}  // namespace fairlead::pulumi
