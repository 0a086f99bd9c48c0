// Files of deploy/chart, as text in the binary.
#pragma once

#include <string_view>

namespace fairlead::webhook::install {

extern const std::string_view kValues;
extern const std::string_view kDynamocomponentdeployments;
extern const std::string_view kDynamographdeployments;
extern const std::string_view kDynamomodels;

}  // namespace fairlead::webhook::install
