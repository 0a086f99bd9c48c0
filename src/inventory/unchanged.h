// Whether applying an object again would change anything. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "schema/type.h"

namespace fairlead::inventory {

// The types of the kinds that are compared, each made once: the built-in ones, and those of the CRDs that it was shown.
class Types {
 public:
  // A CustomResourceDefinition, every version of it.
  void learn(const Json& definition);

  struct Known {
    schema::SchemaPtr schema;
    // Of a custom resource: its openAPIV3Schema, for defaults.
    Json open_api;
    bool custom = false;
  };
  // Without a schema: not known.
  const Known& find(std::string_view api_version, std::string_view kind);

 private:
  std::map<std::string, Known, std::less<>> known_;
};

// A Secret with its stringData as data, if all of that is text: as the API server stores it, and as it can be owned.
// What is owned as stringData would stay in the cluster when it leaves the manifest.
Json with_strings_as_data(Json secret);

// True only if the API server would answer such an apply with the object as it is: `manager` has applied exactly these
// fields before, owns each of them still, and every value is what the server would make of the wanted one. Otherwise,
// and wherever that is in doubt, false: that costs a request and nothing else. Kinds that `types` does not know are in
// doubt more often. What mutating webhooks would do anew is not looked at.
// Both in the same version; `live` whole, as it was read.
bool unchanged(const Json& wanted, const Json& live, std::string_view manager, Types& types);

}  // namespace fairlead::inventory
