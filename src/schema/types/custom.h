// The types of a custom resource, from the openAPIV3Schema of its CustomResourceDefinition.
#pragma once

#include "schema/types/type.h"

namespace fairlead::schema {

// `open_api_v3_schema` is versions[].schema.openAPIV3Schema; null: everything goes. Metadata has the type that it has
// everywhere. What a CRD may not say (the API server would have refused it) is taken as if it were not there.
SchemaPtr custom_schema(const Json& open_api_v3_schema, bool preserve_unknown_fields = false);

}  // namespace fairlead::schema
