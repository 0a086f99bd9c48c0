// Decides whether applying an object again would change anything. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "schema/types/type.h"

namespace fairlead::inventory {

// Caches the schemas of kinds: those of built-in kinds, and those of the CRDs passed to learn().
class Types {
 public:
  // Adds every version of a CustomResourceDefinition.
  void learn(const Json& definition);

  struct Known {
    schema::SchemaPtr schema;
    // The openAPIV3Schema of a custom resource, for its defaults.
    Json open_api;
    bool custom = false;
  };
  // The result has no schema if the kind is not known.
  const Known& find(std::string_view api_version, std::string_view kind);

 private:
  std::map<std::string, Known, std::less<>> known_;
};

// Returns an object of a known kind as the API server would store it: with defaults, and in the stored form. Requires
// that the kind has a schema.
Json as_stored(const Types::Known& known, const Json& object);

// Moves the stringData of a Secret to its data, if every value is text. The API server stores it that way. A run must
// own it that way, too: a key that is owned as stringData would stay in the cluster after it was removed from the
// manifest.
Json with_strings_as_data(Json secret);

// Returns true only if the API server would answer an apply with the object as it is: `manager` applied exactly these
// fields before and still owns each of them, and every live value is what the server would make of the wanted one.
// Returns false in all other cases and whenever it is in doubt, which only costs a request. It is in doubt more often
// for kinds that `types` does not know. Changes that mutating webhooks would make are not considered. Requires that
// both objects have the same API version and that `live` is the whole object as it was read.
bool unchanged(const Json& wanted, const Json& live, std::string_view manager, Types& types);

}  // namespace fairlead::inventory
