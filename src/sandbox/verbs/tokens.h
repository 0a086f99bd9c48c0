// Tokens of service accounts. They have the shape of the real server's; nobody signs them. The sandbox knows its tokens
// by heart, until they expire or the account is deleted.
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

// POST serviceaccounts/NAME/token: a TokenRequest with its token.
Task<Outcome<Reply>> create_token(ApiServer& server, Call& call, const Kind& accounts, const Subresource& sub);

// The service account that an Authorization header is of; nothing for a token that was not given out here, or that is
// not valid any more.
std::optional<User> bearer_of(const Core& core, std::string_view authorization);

}  // namespace fairlead::sandbox
