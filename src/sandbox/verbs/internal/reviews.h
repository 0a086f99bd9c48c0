// Objects that are questions: who am I, may I. They are answered and never stored.
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

bool is_review(const Kind& kind);
Task<Outcome<Reply>> answer_review(ApiServer& server, Call& call, const Kind& kind);

}  // namespace fairlead::sandbox
