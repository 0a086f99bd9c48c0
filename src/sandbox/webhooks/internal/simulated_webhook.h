// The webhook in a pod of the sandbox. Such a pod runs no process, so the sandbox answers in its place: it allows
// every request and changes nothing, and it converts objects by naming the version that was asked for.
#pragma once

#include "http/message.h"

namespace fairlead::sandbox {

// The answer to an AdmissionReview or a ConversionReview; 400 for anything else.
http::Response simulated_answer(const http::Request& request);

}  // namespace fairlead::sandbox
