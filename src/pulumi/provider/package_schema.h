// The schema of the package, from which Pulumi's tools make SDKs and documentation. Pure.
#pragma once

#include <string_view>

#include "base/json.h"
#include "pulumi/provider/facade.h"

namespace fairlead::pulumi {

Json package_schema(const Facade& provider, const Catalog& catalog, std::string_view version);

}  // namespace fairlead::pulumi
