#include "pulumi/provider/package_schema.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace fairlead::pulumi {
namespace {

using terraform::Attribute;
using terraform::Nesting;
using terraform::Type;

std::string pascal_case(std::string_view name) {
  std::string out = camel_case(name);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

Json any() { return Json::Object{{"$ref", "pulumi.json#/Any"}}; }

Json texts(const std::set<std::string>& names) {
  Json::Array out;
  for (const std::string& name : names) out.emplace_back(name);
  return Json(std::move(out));
}

class Writer {
 public:
  explicit Writer(const Facade& facade) : facade_(facade) {}

  std::map<std::string, Json> types;

  // The properties of the facade: inputs, or everything.
  void put_properties(const Facade& facade, bool inputs_only, Json::Object& properties,
                      std::set<std::string>& required) {
    for (const Attribute& attribute : facade.schema->attributes) {
      bool is_input = attribute.required || attribute.optional;
      if (!facade.shows(attribute.name) || (inputs_only && !is_input)) continue;
      std::string property = facade.property_of(attribute.name);
      properties.append(property, property_spec(attribute, ""));
      if (attribute.required || (!inputs_only && attribute.computed && !is_input)) required.insert(property);
    }
    if (!facade.free_form) return;
    Json spec = facade.free_form->is_list ? Json(Json::Object{{"type", "array"}, {"items", any()}}) : any();
    spec.make("description") = facade.free_form->description;
    properties.append(facade.free_form->property, std::move(spec));
  }

 private:
  Json reference(std::string name, Json::Object properties, const std::set<std::string>& required) {
    std::string token = "fairlead:index:" + name;
    Json spec = Json::Object{{"type", "object"}, {"properties", std::move(properties)}};
    // The same type as an input says what is required.
    std::set<std::string> all = required;
    if (auto known = types.find(token); known != types.end())
      for (const Json& one : known->second["required"].items()) all.insert(std::string(one.string_or("")));
    if (!all.empty()) spec.make("required") = texts(all);
    types.insert_or_assign(token, std::move(spec));
    return Json::Object{{"$ref", "#/types/" + token}};
  }

  static Json collection(Nesting nesting, Json element) {
    if (nesting == Nesting::single || nesting == Nesting::none) return element;
    if (nesting == Nesting::map) return Json::Object{{"type", "object"}, {"additionalProperties", std::move(element)}};
    return Json::Object{{"type", "array"}, {"items", std::move(element)}};
  }

  Json property_spec(const Attribute& attribute, const std::string& parent) {
    Json spec;
    std::string name = parent + pascal_case(attribute.name);
    if (attribute.nesting == Nesting::none) {
      spec = type_spec(attribute.type, name);
    } else {
      Json::Object properties;
      std::set<std::string> required;
      for (const Attribute& nested : attribute.nested) {
        // Explicit providers take the place of clusters with names.
        if (attribute.name == "cluster" && nested.name == "name") continue;
        properties.append(camel_case(nested.name), property_spec(nested, name));
        if (nested.required) required.insert(camel_case(nested.name));
      }
      spec = collection(attribute.nesting, reference(name, std::move(properties), required));
    }
    auto own = facade_.descriptions.find(attribute.name);
    bool has_own = parent.empty() && own != facade_.descriptions.end();
    std::string description = in_words_of_pulumi(has_own ? own->second : attribute.description, facade_);
    if (!description.empty()) spec.make("description") = std::move(description);
    if (attribute.sensitive) spec.make("secret") = true;
    return spec;
  }

  Json type_spec(const Type& type, const std::string& name) {
    switch (type.kind()) {
      case Type::Kind::string: return Json::Object{{"type", "string"}};
      case Type::Kind::number: return Json::Object{{"type", "number"}};
      case Type::Kind::boolean: return Json::Object{{"type", "boolean"}};
      case Type::Kind::map:
        return Json::Object{{"type", "object"}, {"additionalProperties", type_spec(type.element(), name)}};
      case Type::Kind::list:
      case Type::Kind::set: {
        std::string one = name.ends_with('s') ? name.substr(0, name.size() - 1) : name;
        return Json::Object{{"type", "array"}, {"items", type_spec(type.element(), one)}};
      }
      case Type::Kind::object: {
        Json::Object properties;
        std::set<std::string> required;
        for (const auto& [field, of] : type.fields()) {
          properties.append(camel_case(field), type_spec(of, name + pascal_case(field)));
          required.insert(camel_case(field));
        }
        return reference(name, std::move(properties), required);
      }
      case Type::Kind::dynamic:
      case Type::Kind::tuple: break;
    }
    return any();
  }

  const Facade& facade_;
};

Json object_spec(Json::Object properties, const std::set<std::string>& required) {
  Json spec = Json::Object{{"properties", std::move(properties)}};
  if (!required.empty()) spec.make("required") = texts(required);
  return spec;
}

void add_types(Json& package, Writer& writer) {
  for (auto& [token, spec] : writer.types) {
    Json& known = package.make("types").make(token);
    // An input says what is required; the same type as an output does not.
    if (known.is_null() || !known.contains("required")) known = std::move(spec);
  }
}

}  // namespace

Json package_schema(const Facade& provider, const Catalog& catalog, std::string_view version) {
  Json package = Json::Object{
      {"name", "fairlead"},
      {"displayName", "Fairlead"},
      {"version", version},
      {"description",
       "Kubernetes objects and bundles, rolled out by Fairlead: resources wait for the webhooks that guard them."},
      {"keywords", Json::Array{"kubernetes", "webhook", "category/infrastructure", "kind/native"}},
      {"license", "Apache-2.0"},
      {"meta", Json::Object{{"moduleFormat", "(.*)"}}},
      {"language",
       Json::Object{{"nodejs", Json::Object{{"packageName", "@fairlead/pulumi"},
                                            {"respectSchemaVersion", true},
                                            {"dependencies", Json::Object{{"@pulumi/pulumi", "^3.142.0"}}}}},
                    {"python", Json::Object{{"packageName", "pulumi_fairlead"},
                                            {"respectSchemaVersion", true},
                                            {"requires", Json::Object{{"pulumi", ">=3.142.0,<4.0.0"}}},
                                            {"pyproject", Json::Object{{"enabled", true}}}}}}}};
  {
    Writer writer(provider);
    Json::Object settings;
    std::set<std::string> required;
    writer.put_properties(provider, true, settings, required);
    package.make("config").make("variables") = settings;
    package.make("provider") = Json::Object{
        {"description",
         "The cluster of resources that describe none. Without any setting, the one that kubectl would use."},
        {"inputProperties", std::move(settings)}};
    add_types(package, writer);
  }
  for (const ResourceFacade& resource : catalog.resources) {
    Writer writer(resource);
    Json::Object inputs, all;
    std::set<std::string> required_inputs, required;
    writer.put_properties(resource, true, inputs, required_inputs);
    writer.put_properties(resource, false, all, required);
    Json spec = object_spec(std::move(all), required);
    spec.make("description") = resource.description;
    spec.make("inputProperties") = std::move(inputs);
    if (!required_inputs.empty()) spec.make("requiredInputs") = texts(required_inputs);
    package.make("resources").make(resource.token()) = std::move(spec);
    add_types(package, writer);
  }
  for (const FunctionFacade& function : catalog.functions) {
    Writer writer(function);
    Json::Object inputs, all;
    std::set<std::string> required_inputs, required;
    writer.put_properties(function, true, inputs, required_inputs);
    writer.put_properties(function, false, all, required);
    package.make("functions").make(function.token()) =
        Json::Object{{"description", function.description},
                     {"inputs", object_spec(std::move(inputs), required_inputs)},
                     {"outputs", object_spec(std::move(all), required)}};
    add_types(package, writer);
  }
  return package;
}

}  // namespace fairlead::pulumi
