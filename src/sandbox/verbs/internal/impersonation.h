// Requests in somebody else's name: the Impersonate- headers. Everybody may, as everybody may do everything else.
#pragma once

#include "sandbox/core/call.h"

namespace fairlead::sandbox {

// Who the request counts as: `user`, or whom its headers name instead.
Outcome<User> acting_user(User user, const http::Request& request);

}  // namespace fairlead::sandbox
