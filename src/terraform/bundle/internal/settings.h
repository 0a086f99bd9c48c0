// The attributes of fairlead_bundle, and how its errors speak. Pure.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"
#include "rollout/rollout.h"
#include "terraform/schema/schema.h"

namespace fairlead::terraform {

const Schema& bundle_schema();

// What names a bundle.
struct BundleSettings {
  std::string name;
  // The namespace of its inventory.
  std::string home;

  static BundleSettings read(const Value& value);
  std::string id() const { return home + "/" + name; }
  std::string text() const { return "bundle " + id(); }
};

// The attribute that has the manifests.
Path source_path(const Value& config);

rollout::Options rollout_options(const Value& value, const BundleSettings& settings);

// The error of an engine as one of this bundle, with advice for those who use Terraform: `otherwise`, or the command
// that shows the bundle, where the engine has none.
Error bundle_error(const Error& error, const BundleSettings& settings, std::string_view otherwise = {});
// The bundle ("bundle default/shop") is protected and cannot be destroyed or replaced; afterwards one would `plan` or
// `destroy` again.
Error as_protected(std::string_view what, std::string_view bundle, std::string_view again);

// Adds an error or a warning per root cause.
void add_causes(Diagnostics& diagnostics, const std::vector<journal::Cause>& causes, const BundleSettings& settings,
                Diagnostic::Severity severity, const Path& source, std::string_view otherwise = {});

}  // namespace fairlead::terraform
