// Names, and the characters that they may have.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::object {

// Whether it can be one segment of a URL path, as the API server sees it: not empty, not "." or "..", without '/' and
// '%', and without control characters. `what` is how an error calls it.
Result<void> check_path_segment(std::string_view what, std::string_view name);

// As the API server has it for every namespace.
Result<void> check_namespace(std::string_view name);
// As it has it for most other names: "shop.example.com". `what` is how an error calls it.
Result<void> check_dns_name(std::string_view what, std::string_view name);
// The same without dots and with at most 63 characters, as for a Service.
Result<void> check_dns_label(std::string_view what, std::string_view name);
// As it is for every kind that can be served.
Result<void> check_kind(std::string_view kind);

// As one segment of a URL path.
std::string percent_encode(std::string_view segment);

// "app", "example.com/app": a name of a label or annotation.
Result<void> check_label_key(std::string_view key);
Result<void> check_label_value(std::string_view value);

}  // namespace fairlead::object
