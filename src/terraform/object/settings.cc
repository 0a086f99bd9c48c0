#include "terraform/object/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/plain_text.h"
#include "object/name.h"
#include "terraform/cluster/clusters.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/body.h"
#include "terraform/objects/reference.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

constexpr Duration kAcceptanceTime = std::chrono::minutes(5);

std::vector<fields::Path> places_in(const Value& list) {
  std::vector<fields::Path> places;
  for (const std::string& text : texts_in(list))
    if (Result<fields::Path> place = parse_place(text)) places.push_back(*std::move(place));
  return places;
}

constexpr std::array<std::pair<std::string_view, removal::Cascade>, 3> kCascades{
    {{"background", removal::Cascade::background},
     {"foreground", removal::Cascade::foreground},
     {"orphan", removal::Cascade::orphan}}};

void check_places(const Value& config, const char* name, Diagnostics& found) {
  for (size_t i = 0; i < config[name].items().size(); ++i) {
    const std::string* text = config[name].items()[i].if_string();
    if (!text) continue;
    if (Result<fields::Path> place = parse_place(*text); !place)
      found.error(Error(place.error()).in(fmt::format("{} has an entry that is no path", name)),
                  Path(name).at(int64_t(i)));
  }
}

void check_ignored(const Value& config, Diagnostics& found) {
  static constexpr std::string_view kNever[] = {"apiVersion", "kind", "metadata", "metadata.name",
                                                "metadata.namespace"};
  for (size_t i = 0; i < config["ignore_fields"].items().size(); ++i) {
    const std::string* text = config["ignore_fields"].items()[i].if_string();
    Result<fields::Path> place = text ? parse_place(*text) : fail(ErrorKind::invalid, "unknown");
    if (!place) continue;
    std::string plain = text_of_place(*place);
    if (std::ranges::find(kNever, plain) == std::end(kNever)) continue;
    found.error("A field that identifies the object cannot be ignored",
                fmt::format("{} tells which object it is.\n  next      remove it from ignore_fields", plain),
                Path("ignore_fields").at(int64_t(i)));
  }
}

// As the API server checks it.
void check_field_manager(const Value& value, Diagnostics& found) {
  const std::string* name = value.if_string();
  if (!name) return;
  bool is_valid = !name->empty() && name->size() <= 128 && plain_text(*name, name->size()) == *name;
  if (!is_valid)
    found.error("field_manager cannot be used",
                "A field manager is a text of 1 to 128 printable characters.\n"
                "  next      leave field_manager out, and it is \"" +
                    std::string(tool().field_manager) + "\"",
                "field_manager");
}

Attribute timeouts_attribute() {
  return {.name = "timeouts",
          .nesting = Nesting::single,
          .nested = {optional_attribute(
                         "create", Type::string(),
                         "How long to send the object again while the cluster cannot take it yet, `5m` by default. "
                         "A namespace or CRD that does not exist is waited for 30 s at most."),
                     optional_attribute("update", Type::string(), "The same for updates.")},
          .optional = true,
          .description = "Time limits of requests. Nothing waits for readiness here: use `fairlead_wait`."};
}

}  // namespace

const Schema& object_schema() {
  static const Schema kSchema = [] {
    Attribute write_only =
        optional_attribute("yaml_body_wo", Type::string(),
                           "The manifest, never stored in plan or state. Its values are shown as digests only.");
    write_only.write_only = true;
    return Schema{
        .version = 0,
        .description = "One Kubernetes object, applied by server-side apply.",
        .attributes =
            {optional_attribute("yaml_body", Type::string(), "The manifest of one object, as YAML or JSON."),
             write_only,
             optional_attribute(
                 "yaml_body_wo_version", Type::string(),
                 "Change it to have a new `yaml_body_wo` applied, for example to the version of a secret."),
             cluster_attribute(),
             cluster_gone_attribute(),
             optional_attribute("delete_protection", Type::boolean(),
                                "Plans that would delete or replace the object fail. Set it to false and apply first."),
             optional_attribute(
                 "delete_timeout", Type::string(),
                 "How long to wait until the object is deleted, such as `10m`. By default 20 minutes for Namespaces, "
                 "15 for CRDs, 10 for PersistentVolumes and their claims, 8 for StatefulSets, Jobs and CronJobs, and "
                 "5 for all others."),
             optional_attribute(
                 "delete_cascade", Type::string(),
                 "What happens to objects that the object owns: `background` (default), `foreground` or `orphan`."),
             optional_attribute("force_destroy", Type::boolean(),
                                "If the deletion makes no progress, remove the finalizers that are left."),
             optional_attribute(
                 "ignore_fields", Type::list(Type::string()),
                 "Fields that others manage, such as `spec.replicas`. They are not compared and not changed."),
             optional_attribute(
                 "on_conflict", Type::string(),
                 "If another field manager has changed a field: `force` (default) takes it back, `fail` reports it."),
             optional_attribute("adopt", Type::boolean(),
                                "Take over an object that exists already, instead of reporting an error."),
             optional_attribute("apply_only", Type::boolean(), "Destroy leaves the object in the cluster."),
             optional_attribute("field_manager", Type::string(), "The field manager, `fairlead-terraform` by default."),
             optional_attribute("override_namespace", Type::string(),
                                "The namespace of the object, whatever the manifest says."),
             optional_attribute("sensitive_fields", Type::list(Type::string()),
                                "Fields whose values are shown as digests. The data of Secrets always are."),
             optional_attribute(
                 "outputs", Type::list(Type::string()),
                 "Fields whose values other resources use, such as `spec.clusterIP`: see `output_values`."),
             timeouts_attribute(),
             computed_attribute("id", Type::string(), "Identifies the resource. The object has it as an annotation."),
             reference_attribute("object_ref", false, "Which object it is, for `fairlead_wait` and others."),
             computed_attribute(
                 "revision", Type::string(),
                 "Changes whenever Terraform changes the object. Use it in the `triggers` of `fairlead_wait`."),
             computed_attribute("managed_fields", Type::map(Type::string()), "The field managers of each field."),
             computed_attribute(
                 "managed_state_projection", Type::map(Type::string()),
                 "The values of the fields that Terraform manages, as the cluster has them. Drift shows here."),
             computed_attribute("output_values", Type::map(Type::string()), "The values of `outputs`, by path.")},
        .blocks = {}};
  }();
  return kSchema;
}

const IdentitySchema& object_identity_schema() {
  static const IdentitySchema kSchema{
      .version = 0,
      .attributes = {
          {.name = "context", .optional_for_import = true, .description = "The context of the kubeconfig."},
          {.name = "cluster",
           .optional_for_import = true,
           .description = "The name of a cluster of the provider block."},
          {.name = "group", .optional_for_import = true, .description = "The API group; none for the core group."},
          {.name = "kind", .required_for_import = true, .description = "The kind."},
          {.name = "namespace", .optional_for_import = true, .description = "The namespace, for kinds that have them."},
          {.name = "name", .required_for_import = true, .description = "The name."}}};
  return kSchema;
}

ObjectSettings ObjectSettings::read(const Value& value) {
  ObjectSettings settings;
  settings.rules.ignored = places_in(value["ignore_fields"]);
  settings.rules.sensitive = places_in(value["sensitive_fields"]);
  settings.rules.hides_all = value["yaml_body"].is_null();
  settings.field_manager = value["field_manager"].string_or(tool().field_manager);
  settings.fails_on_conflict = value["on_conflict"].string_or("force") == "fail";
  settings.adopt = value["adopt"].bool_or(false);
  settings.apply_only = value["apply_only"].bool_or(false);
  settings.cluster_gone = value["cluster_gone"].bool_or(false);
  settings.force_destroy = value["force_destroy"].bool_or(false);
  for (const auto& [word, cascade] : kCascades)
    if (value["delete_cascade"].string_or("") == word) settings.cascade = cascade;
  settings.delete_timeout = duration_in(value["delete_timeout"]);
  settings.create_time = duration_in(value["timeouts"]["create"]).value_or(kAcceptanceTime);
  settings.update_time = duration_in(value["timeouts"]["update"]).value_or(kAcceptanceTime);
  settings.outputs = texts_in(value["outputs"]);
  return settings;
}

Diagnostics check_settings(const Value& config) {
  Diagnostics found;
  const Value& yaml = config["yaml_body"];
  const Value& secret_yaml = config["yaml_body_wo"];
  if (yaml.is_null() && secret_yaml.is_null())
    found.error("There is no manifest", "Set yaml_body, or yaml_body_wo for one that must not be stored.", "yaml_body");
  if (!yaml.is_null() && !secret_yaml.is_null())
    found.error("There are two manifests", "Set either yaml_body or yaml_body_wo.", "yaml_body_wo");
  if (!secret_yaml.is_null() && config["yaml_body_wo_version"].is_null())
    found.error("yaml_body_wo_version is missing",
                "Terraform does not store yaml_body_wo, so it cannot tell when it changes.\n"
                "  next      yaml_body_wo_version = \"1\", and another value when the manifest changes",
                "yaml_body_wo_version");
  check_field_manager(config["field_manager"], found);
  check_choice(config, "on_conflict", {"force", "fail"}, found);
  check_choice(config, "delete_cascade", {"background", "foreground", "orphan"}, found);
  check_duration(config["delete_timeout"], "delete_timeout", found);
  check_duration(config["timeouts"]["create"], Path("timeouts")["create"], found);
  check_duration(config["timeouts"]["update"], Path("timeouts")["update"], found);
  for (const char* name : {"ignore_fields", "sensitive_fields", "outputs"}) check_places(config, name, found);
  check_ignored(config, found);
  if (const std::string* ns = config["override_namespace"].if_string())
    if (Result<void> valid = object::check_namespace(*ns); !valid) found.error(valid.error(), "override_namespace");
  if (yaml.is_known() || secret_yaml.is_known())
    if (Result<object::Object> object = body_of(config); !object) found.error(object.error(), body_path(config));
  return found;
}

bool is_settled(const Value& config) {
  for (const char* name : {"yaml_body", "yaml_body_wo", "yaml_body_wo_version", "ignore_fields", "sensitive_fields",
                           "field_manager", "override_namespace", "on_conflict", "adopt", "outputs"})
    if (!config[name].is_wholly_known()) return false;
  return true;
}

Path body_path(const Value& config) { return config["yaml_body"].is_null() ? "yaml_body_wo" : "yaml_body"; }

Result<object::Object> body_of(const Value& config) {
  std::string attribute = body_path(config).text();
  TRY_ASSIGN(object::Object object, read_body(config[attribute].string_or(""), attribute));
  if (const std::string* ns = config["override_namespace"].if_string()) object.set_namespace(*ns);
  return object;
}

}  // namespace fairlead::terraform
