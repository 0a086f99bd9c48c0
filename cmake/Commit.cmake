cmake_minimum_required(VERSION 3.25)
# Writes the commit of the sources and its date as constants of a C++ file: from git, or in a source archive from
# cmake/commit.txt, which `git archive` fills in. Both are empty where neither knows. The file is not touched if it would
# stay the same.
# cmake -D SOURCE=. -D OUTPUT=commit.cc -P Commit.cmake
set(commit "")
set(seconds "")
file(READ ${SOURCE}/cmake/commit.txt archived)
if(archived MATCHES "^([0-9a-f]+) ([0-9]+)")
  set(commit ${CMAKE_MATCH_1})
  set(seconds ${CMAKE_MATCH_2})
elseif(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git log -1 "--format=%H %ct" WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "^([0-9a-f]+) ([0-9]+)")
    set(commit ${CMAKE_MATCH_1})
    set(seconds ${CMAKE_MATCH_2})
    execute_process(COMMAND git diff-index --quiet HEAD -- WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE differs ERROR_QUIET)
    if(differs)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
set(date "")
if(seconds)
  set(ENV{SOURCE_DATE_EPOCH} ${seconds})
  string(TIMESTAMP date "%Y-%m-%dT%H:%M:%SZ" UTC)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[#include "cli/commands/commit.h"

namespace fairlead::cli {

const std::string_view kCommit = "@commit@";
const std::string_view kCommitDate = "@date@";

}  // namespace fairlead::cli
]])
