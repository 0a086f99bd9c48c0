// The attributes of fairlead_object: their schema, and what a configuration or state says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "object/object.h"
#include "removal/removal.h"
#include "terraform/projection/projection.h"
#include "terraform/schema/schema.h"

namespace fairlead::terraform {

const Schema& object_schema();
// Without a version, since every version shows the same objects.
const IdentitySchema& object_identity_schema();

struct ObjectSettings {
  FieldRules rules;
  std::string field_manager;
  bool fails_on_conflict = false;
  bool adopt = false;
  bool apply_only = false;
  bool cluster_gone = false;
  bool force_destroy = false;
  removal::Cascade cascade = removal::Cascade::background;
  std::optional<Duration> delete_timeout;
  Duration create_time{};
  Duration update_time{};
  std::vector<std::string> outputs;

  // Reads a configuration, plan or state. What is unknown counts as not set. Values that check_settings() refuses count
  // as not set, too.
  static ObjectSettings read(const Value& value);
};

// What is wrong with a configuration.
Diagnostics check_settings(const Value& config);

// False if something that decides about the object is not known yet.
bool is_settled(const Value& config);

// Returns the object of yaml_body or yaml_body_wo, in the namespace of override_namespace. Requires that is_settled().
Result<object::Object> body_of(const Value& config);
// The attribute that has the manifest.
Path body_path(const Value& config);

}  // namespace fairlead::terraform
