// Decides in which namespace an object is stored.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "object/key.h"

namespace fairlead::object {

// The namespace of objects that name none.
struct DefaultNamespace {
  const std::string& name;
  // The user asked for this namespace, so an object that names another one is an error.
  bool is_chosen = false;
};

// Puts the key into the namespace in which the API server stores the object: none if its kind is not namespaced, its
// own, or else the default. Returns an error without a position if the user chose another namespace than the object
// names; the key then keeps its own.
std::optional<Error> place(Key& key, bool namespaced, const DefaultNamespace& otherwise);

}  // namespace fairlead::object
