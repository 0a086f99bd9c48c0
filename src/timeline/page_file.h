// Writes the page to a file, completely or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::timeline {

// Fails if the file could not be written: it is a folder, a link or a device, or its folder does not exist or is not
// writable. Call it before the run, so that a mistake is known before anything is changed.
Result<void> check_page_file(const std::string& path);

// Writes a temporary file next to `path` and renames it. Only the owner may read it, since it describes the contents of
// a cluster. Does not follow a link. On failure, what was at `path` before is still there.
Result<void> write_page_file(const std::string& path, std::string_view page);

}  // namespace fairlead::timeline
