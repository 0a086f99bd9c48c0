// Writes a whole file, or nothing.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// Returns the file that a path leads to over symbolic links, which need not exist. Only links at its end are followed.
std::string follow_links(const std::string& path);

// Writes the text beside the file and renames it then, so that nobody ever reads half of it. The file gets mode 0600,
// whatever an older one had. A symbolic link stays, and the file that it leads to is replaced. Returns 0, or the errno
// of what failed; an older file is still there in that case.
int replace_file(const std::string& path, std::string_view text);

}  // namespace fairlead
