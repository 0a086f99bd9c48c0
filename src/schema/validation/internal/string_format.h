// The formats of strings that schemas of custom resources can ask for.
#pragma once

#include <optional>
#include <string_view>

namespace fairlead::schema {

// Nothing for a format that the API server does not know (it is not looked at), and for the few that we do not: isbn,
// creditcard, ssn, rgbcolor, bsonobjectid.
std::optional<bool> has_format(std::string_view format, std::string_view text);

}  // namespace fairlead::schema
