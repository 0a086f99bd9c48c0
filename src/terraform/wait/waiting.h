// Waits for an object as the attribute wait_for says, for fairlead_wait and for data sources.
#pragma once

#include <optional>
#include <vector>

#include "object/field_path.h"
#include "terraform/objects/reference.h"
#include "terraform/provider/resource.h"
#include "wait/form.h"

namespace fairlead::terraform {

// The attributes wait_for, existence_timeout and timeout.
Attribute wait_for_attribute(bool required);
std::vector<Attribute> wait_timeout_attributes();

// What is wrong with them, as far as they are known.
Diagnostics check_waiting(const Value& config);

struct Waiting {
  // All of them have to come true.
  std::vector<wait::Form> forms;
  // The fields that are waited for.
  std::vector<object::FieldPath> fields;
  std::optional<Duration> existence_timeout;
  std::optional<Duration> timeout;

  // Reads the attributes of a configuration or plan. Without wait_for, the object has to exist. Requires that
  // check_waiting() finds nothing.
  static Waiting read(const Value& value);
};

struct Awaited {
  // The object when the last form had come true; null if it could not be read.
  Json object;
  std::optional<Error> error;
};
Task<Awaited> wait_for_object(Context& context, Connection& cluster, Reference reference, Waiting waiting);

// The object with nothing but these fields, as the attribute `result` has it. Null without fields.
Json only_fields(const Json& object, const std::vector<object::FieldPath>& fields);

}  // namespace fairlead::terraform
