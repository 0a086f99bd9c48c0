// A report as text and as JSON (docs/doctor.md). Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "doctor/doctor.h"

namespace fairlead::doctor {

std::string text_of(const Report& report, bool colours);
Json json_of(const Report& report);
// What could not be read, one note per reason.
std::vector<std::string> notes_of(const Report& report);

}  // namespace fairlead::doctor
