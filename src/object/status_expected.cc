#include "object/status_expected.h"

#include "object/definition.h"

namespace fairlead::object {

bool expects_conditions(const Json& definition, std::string_view version) {
  Definition kind(definition);
  return kind.version(version)["subresources"].contains("status") &&
         kind.schema_of(version)["properties"]["status"]["properties"].contains("conditions");
}

}  // namespace fairlead::object
