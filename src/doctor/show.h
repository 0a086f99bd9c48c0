// A report as text and as JSON (docs/doctor.md). Pure.
#pragma once

#include <string>

#include "base/json.h"
#include "doctor/doctor.h"

namespace fairlead::doctor {

std::string text_of(const Report& report, bool colours);
Json json_of(const Report& report);

}  // namespace fairlead::doctor
