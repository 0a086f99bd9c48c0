# A room is a folder under src/, a namespace and a library; it uses only the rooms that it declares.
#
#   fairlead_room(kube USES http object LIBS dep::zlib TESTS_USE sandbox)
#
# x.cc and x.h are the room, x_test.cc its tests (one binary per room, `kube_test`), x_testing.h and x_testing.cc what
# tests share, x_fuzz.cc its fuzz targets (one binary each, corpus in tests/corpus/x). Files in the folder internal/ belong
# to the room as well, and no other room may include them. A large room has rooms of its own: src/sandbox/core is the room
# sandbox_core, in the namespace of sandbox.
# A file that includes what its room does not declare fails the build (CheckIncludes.cmake).
#
# In a release build eight files of a room are compiled as one: that takes half the time. So files of one room share their
# anonymous namespaces there, and may not define the same name in them. A room whose files have tables of the same name on
# purpose says APART. Other builds compile each file by itself, and notice a missing include.
#
# A room whose code never takes a noticeable part of a run says COLD. A release build inlines less of it, which makes the binary
# smaller and compiles faster.
#
# Headers that many files include are precompiled, once for all rooms: those of kube for the rooms that use it, and with
# HEAVY asio those of Asio. A room declares its uses all the same.
include(GoogleTest)

# Tests beside the code run with sanitizers, or in a debug build; tests of the whole binary, simulations and the request
# scripts run on what users run.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(FAIRLEAD_TESTS_OF_THE_WHOLE ON)
  set(FAIRLEAD_UNITY ON)
endif()

set(FAIRLEAD_LIGHT_HEADERS <algorithm> <charconv> <chrono> <coroutine> <deque> <expected> <functional> <list> <map> <memory>
                           <optional> <random> <set> <span> <string> <string_view> <unordered_map> <utility> <variant>
                           <vector> <fmt/format.h> [["base/error.h"]] [["base/json.h"]])
set(FAIRLEAD_ASIO_HEADERS <boost/asio.hpp> <boost/asio/ssl.hpp>)
set(FAIRLEAD_KUBE_HEADERS [["journal/journal.h"]] [["kube/client.h"]] [["kube/discovery.h"]])
set(FAIRLEAD_TEST_HEADERS <gmock/gmock.h> <gtest/gtest.h>)

function(fairlead_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/pch/${name}.cc)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE dep::fmt ${ARG_LIBS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

function(fairlead_room name)
  cmake_parse_arguments(ARG "APART;COLD" "" "USES;LIBS;HEAVY;TESTS_USE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc internal/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS *.h internal/*.h)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_(test|testing)\\.cc$")
  set(fuzzers ${sources})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|testing|fuzz)\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")

  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.includes)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -D "ROOM=${name}" -D "USES=${ARG_USES}" -D "TESTS_USE=${ARG_TESTS_USE}"
            -D "FOLDER=${CMAKE_CURRENT_SOURCE_DIR}"
            -D "SRC=${CMAKE_SOURCE_DIR}/src" -P ${CMAKE_SOURCE_DIR}/cmake/CheckIncludes.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${sources} ${headers} ${tests} ${fuzzers} ${CMAKE_SOURCE_DIR}/cmake/CheckIncludes.cmake
    COMMENT "Includes of room ${name}"
    VERBATIM)

  add_library(${name} STATIC ${sources} ${stamp})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${ARG_USES} dep::fmt PRIVATE ${ARG_LIBS})
  set(precompiled pch_light)
  set(precompiled_for_tests pch_test)
  if(ARG_HEAVY)
    set(precompiled pch_${ARG_HEAVY})
  elseif("kube" IN_LIST ARG_USES)
    set(precompiled pch_kube)
    set(precompiled_for_tests pch_test_kube)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${precompiled})
  if(FAIRLEAD_UNITY AND NOT ARG_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    target_compile_options(${name} PRIVATE -Wno-shadow)  # an alias of another file
  endif()

  if(ARG_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release")
    # -Os would not go with the precompiled headers.
    target_compile_options(${name} PRIVATE "SHELL:-mllvm -inline-threshold=25")
  endif()

  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} ${ARG_TESTS_USE} dep::gtest_main dep::rapidcheck ${ARG_LIBS})
    target_compile_definitions(${name}_test PRIVATE FAIRLEAD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_precompile_headers(${name}_test REUSE_FROM ${precompiled_for_tests})
    if(NOT FAIRLEAD_TESTS_OF_THE_WHOLE)
      gtest_discover_tests(${name}_test TEST_PREFIX ${name}. PROPERTIES LABELS quick TIMEOUT 120
                           DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
    endif()
  endif()
  foreach(fuzzer ${fuzzers})
    fairlead_fuzzer(${name} ${fuzzer} ${ARG_LIBS})
  endforeach()
endfunction()

# With libFuzzer it explores; in every other build it replays the corpus, as a test.
function(fairlead_fuzzer room source)
  get_filename_component(target ${source} NAME_WE)
  string(REPLACE "_fuzz" "" corpus ${target})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${room} ${ARGN})
  target_precompile_headers(${target} REUSE_FROM pch_light)
  if(FAIRLEAD_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/replay_corpus.cc)
    if(NOT FAIRLEAD_TESTS_OF_THE_WHOLE)
      add_test(NAME fuzz.${corpus} COMMAND ${target} ${CMAKE_SOURCE_DIR}/tests/corpus/${corpus})
      set_tests_properties(fuzz.${corpus} PROPERTIES LABELS quick TIMEOUT 120)
    endif()
  endif()
endfunction()
