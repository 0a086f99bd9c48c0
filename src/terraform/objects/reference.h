// The attribute object_ref: which object a resource is about.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "object/key.h"
#include "terraform/schema/schema.h"
#include "terraform/value/diagnostic.h"
#include "terraform/value/value.h"

namespace fairlead::terraform {

struct Reference {
  std::string api_version;
  object::Key key;

  const std::string& kind() const { return key.kind; }
  // "v1" of "apps/v1".
  std::string version() const;
  // "apps/v1/Deployment:shop/web"
  std::string id() const;
  // Nothing for a text that is no id.
  static std::optional<Reference> from_id(std::string_view id);
  bool operator==(const Reference&) const = default;
};

// Null for a value that names no object.
std::optional<Reference> reference_of(const Value& value);
// Adds an error if a value that is known names no object.
void check_reference(const Value& value, const Path& path, Diagnostics& found);
// A namespace that the object has not, or that is not known, is null or unknown.
Value value_of(const Reference& reference);

// {api_version, kind, namespace, name}, as an attribute. As an input, only the namespace may be missing.
Attribute reference_attribute(std::string name, bool is_input, std::string description);

}  // namespace fairlead::terraform
