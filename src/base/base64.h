// Base64 with the standard alphabet and padding, as Kubernetes has it in Secrets, caBundles and kubeconfigs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

std::string to_base64(std::string_view bytes);
// Line breaks are passed over; anything else that does not belong there, and padding that is missing, is nothing.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace fairlead
