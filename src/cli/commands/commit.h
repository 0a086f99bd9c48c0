// The commit that this program was built from (cmake/Commit.cmake).
#pragma once

#include <string_view>

namespace fairlead::cli {

// The hash of the commit, with "-dirty" if the sources differed from it, and when it was made, as
// "2026-05-04T10:20:30Z". Both are empty if the sources were neither in git nor in a source archive.
extern const std::string_view kCommit;
extern const std::string_view kCommitDate;

}  // namespace fairlead::cli
