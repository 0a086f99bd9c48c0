// Writes a whole file, or nothing.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// Writes the text beside the file and renames it then, so that nobody ever reads half of it. The file gets mode 0600,
// whatever an older one had. Returns 0, or the errno of what failed; an older file is still there in that case.
int replace_file(const std::string& path, std::string_view text);

}  // namespace fairlead
