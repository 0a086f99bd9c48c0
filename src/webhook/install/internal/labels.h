// What is wrong with labels, annotations and selectors among the values, as the API server would find it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::webhook::install {

// A sentence each, which begins with the path of the value: "webhook.nodeSelector.a must be a string, not boolean".
using Flaws = std::vector<std::string>;

Flaws label_flaws(std::string_view path, const Json& labels);
Flaws annotation_flaws(std::string_view path, const Json& annotations);
Flaws selector_flaws(std::string_view path, const Json& selector);

}  // namespace fairlead::webhook::install
