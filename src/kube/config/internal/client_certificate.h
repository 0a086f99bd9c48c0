// Whether a client certificate and its key can be used, told before a server says no without a reason.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace fairlead::kube {

// Both readable, of one pair, and valid now. `owner` is whom errors speak of: `user "alice"`.
Result<void> check_client_certificate(std::string_view owner, std::string_view certificate_pem,
                                      std::string_view key_pem, WallTime now);

}  // namespace fairlead::kube
