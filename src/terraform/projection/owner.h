// The tool that this process is the provider of: what marks an object as one of the tool's, and the tool's own words.
//
// Terraform's provider and that of Pulumi have the same resources. A process is the provider of one of them: main()
// says of which, before anything else. Terraform is the default.
#pragma once

#include <string_view>

namespace fairlead::terraform {

struct Tool {
  // Holds the id of the resource that manages the object. A resource does not delete an object that another resource
  // took over in the meantime.
  std::string_view owner_annotation;
  // The field manager of objects and patches, unless the configuration names another.
  std::string_view field_manager;
  // The field manager to which ignored fields are handed.
  std::string_view ignored_fields_manager;

  // Advice for people.
  std::string_view run_again;
  std::string_view show_difference;
  std::string_view recreate;
  std::string_view forget;
  std::string_view forget_unreachable;
  std::string_view wait_again;
  std::string_view keep_protected;
  // A resource that the tool wants replaced for reasons of its own cannot change its settings before.
  std::string_view keep_tainted;
  // With the id of the object for {}. Empty: an `import` block.
  std::string_view import;
  // Who else may have created an object that exists already.
  std::string_view other_creators;
  // What people call an object's resource.
  std::string_view object_resource;
};

inline constexpr Tool kTerraform{
    .owner_annotation = "fairlead.dev/terraform-id",
    .field_manager = "fairlead-terraform",
    .ignored_fields_manager = "fairlead-terraform-ignored",
    .run_again = "run terraform again",
    .show_difference = "terraform plan shows the difference",
    .recreate = "terraform apply -replace=ADDRESS",
    .forget = "set apply_only = true and apply, to let Terraform forget the object",
    .forget_unreachable = "set cluster_gone = true and apply, or: terraform state rm ADDRESS",
    .wait_again = "run terraform apply again",
    .keep_protected = "if it is tainted: terraform untaint ADDRESS; if another resource has it: remove one of the two",
    .keep_tainted =
        "terraform untaint ADDRESS; to replace it all the same, set delete_protection = false, apply, and "
        "taint it again",
    .import = {},
    .other_creators =
        "one of another configuration, or the one that create_before_destroy would delete only afterwards",
    .object_resource = "fairlead_object",
};

inline constexpr Tool kPulumi{
    .owner_annotation = "fairlead.dev/pulumi-id",
    .field_manager = "fairlead-pulumi",
    .ignored_fields_manager = "fairlead-pulumi-ignored",
    .run_again = "run pulumi again",
    .show_difference = "pulumi preview --diff shows the difference",
    .recreate = "pulumi up --replace URN",
    .forget = "to let Pulumi forget the object: pulumi state delete URN",
    .forget_unreachable = "pulumi state delete URN",
    .wait_again = "run pulumi up again",
    .keep_protected = "remove one of the two resources that have it",
    .keep_tainted = {},
    .import = "pulumi import fairlead:index:KubeObject NAME '{}'",
    .other_creators = "or one of another configuration",
    .object_resource = "fairlead.KubeObject",
};

const Tool& tool();
// Before the first call of a provider. The tool must outlive everything.
void serve_tool(const Tool& tool);

}  // namespace fairlead::terraform
