// Webhooks and policies on a write: which ones it meets is decided by room admission; here they are asked.
#pragma once

#include "sandbox/verbs/internal/admission_chain.h"

namespace fairlead::sandbox {

Task<Outcome<void>> run_mutating_policies(ApiServer& server, Call& call, Attributes& attributes);
Task<Outcome<void>> call_mutating_webhooks(ApiServer& server, Call& call, Attributes& attributes);
Task<Outcome<void>> check_policies(ApiServer& server, Call& call, Attributes& attributes);
Task<Outcome<void>> call_validating_webhooks(ApiServer& server, Call& call, Attributes& attributes);

}  // namespace fairlead::sandbox
