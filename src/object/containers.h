// The kinds that contain other objects: what is in a Namespace, and the instances of a CustomResourceDefinition, are
// deleted with it.
#pragma once

#include <string_view>

#include "object/key.h"

namespace fairlead::object {

bool is_namespace(const Key& key);
bool is_crd(const Key& key);
Key namespace_key(std::string_view name);
// `name` is "widgets.example.com".
Key crd_key(std::string_view name);

}  // namespace fairlead::object
