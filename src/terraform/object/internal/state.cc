#include "terraform/object/internal/state.h"

#include <fmt/format.h>

#include "terraform/objects/attributes.h"
#include "terraform/projection/import_id.h"

namespace fairlead::terraform {

std::string revision_of(const Json& object, const Flat& projection) {
  std::string all(object["metadata"]["uid"].string_or(""));
  for (const auto& [path, value] : projection) all += fmt::format("\n{}={}", path, value);
  return short_digest(all);
}

Flat outputs_of(const Json& object, const ObjectSettings& settings) {
  Flat outputs;
  for (const std::string& text : settings.outputs) {
    Result<fields::Path> place = parse_place(text);
    const Json* value = place ? find_place(object, *place) : nullptr;
    if (!value) continue;
    bool is_text = value->is_string();
    if (is_hidden(object, *place, settings.rules)) outputs[text] = hashed_value(*value);
    else outputs[text] = is_text ? std::string(value->string_or("")) : with_hashed_secrets(*value, {}).dump();
  }
  return outputs;
}

void set_unknown(Value& planned) {
  for (const char* name : {"revision", "managed_fields", "managed_state_projection", "output_values"})
    planned.make(name) = Value::unknown();
}

void set_read(Value& state, const Json& object, const ObjectSettings& settings) {
  Flat before = flat_of(state["managed_state_projection"]);
  state.make("managed_state_projection") =
      value_of(projection_of(object, settings.field_manager, settings.rules, before));
  state.make("managed_fields") = value_of(owners_of(object, settings.rules));
  state.make("output_values") = value_of(outputs_of(object, settings));
}

Value identity_of(const Value& state, const Value& before) {
  std::optional<Reference> reference = reference_of(state["object_ref"]);
  if (!reference) return {};
  auto text = [](const std::string& value) { return value.empty() ? Value() : Value(value); };
  auto kept = [&](const char* name) { return before[name].is_known() ? before[name] : Value(); };
  return Value::object({{"context", kept("context")},
                        {"cluster", kept("cluster")},
                        {"group", text(reference->key.group)},
                        {"kind", reference->key.kind},
                        {"namespace", text(reference->key.ns)},
                        {"name", reference->key.name}});
}

namespace {

// The content of a kubeconfig is a secret, its path is none.
bool is_content(std::string_view kubeconfig) { return kubeconfig.contains('\n') || kubeconfig.contains('{'); }

}  // namespace

std::string import_id_for(const Value& cluster, std::string_view connection, const Reference& reference) {
  constexpr std::string_view kContext = "context ";
  std::string_view context = connection.starts_with(kContext) ? connection.substr(kContext.size()) : "CONTEXT";
  std::string_view name = cluster["name"].string_or(""), kubeconfig = cluster["kubeconfig"].string_or("");
  const object::Key& key = reference.key;
  if (is_content(kubeconfig)) return import_id_of(context, key.ns, reference.api_version, key.kind, key.name);
  std::string where;
  if (!kubeconfig.empty()) where = fmt::format("kubeconfig={},context={},", kubeconfig, context);
  else if (!cluster.is_null()) where = fmt::format("cluster={},", name.empty() ? "CLUSTER" : name);
  return fmt::format("{}{}{}{}api_version={},kind={},name={}", where, key.ns.empty() ? "" : "namespace=", key.ns,
                     key.ns.empty() ? "" : ",", reference.api_version, key.kind, key.name);
}

std::string_view import_condition(const Value& cluster) {
  std::string_view kubeconfig = cluster["kubeconfig"].string_or("");
  if (is_content(kubeconfig)) return ", while KUBECONFIG names that kubeconfig";
  bool is_host = !cluster.is_null() && cluster["name"].is_null() && kubeconfig.empty();
  return is_host ? ", and with its cluster in the provider block as CLUSTER" : "";
}

}  // namespace fairlead::terraform
