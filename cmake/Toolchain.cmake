# How everything is compiled and linked.
option(FAIRLEAD_FUZZ "Build the fuzz targets with libFuzzer" OFF)
set(FAIRLEAD_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

add_compile_options(
  -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wold-style-cast
  -Wimplicit-fallthrough -Wunused -Wno-missing-designated-field-initializers -Wno-missing-field-initializers
  -fdiagnostics-color "SHELL:-Xclang -fno-pch-timestamp" -fvisibility=hidden)
# Debug information enough for stack traces; whole type information makes every build twice as slow.
string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_DEBUG "${CMAKE_CXX_FLAGS_DEBUG}")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG -ffunction-sections -fdata-sections")

add_link_options(-fuse-ld=lld-19)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # A release needs nothing of the machine but its kernel. glibc has what looks hosts up in files and asks DNS servers
  # inside since 2.34. -static-libstdc++ must not be there: it makes what follows dynamic.
  add_link_options(-static-pie -Wl,--gc-sections -Wl,--strip-all -Wl,-z,relro,-z,now -Wl,--icf=safe
                   -Wl,--pack-dyn-relocs=relr)
endif()

if(FAIRLEAD_SANITIZE)
  # Not optimized: with sanitizers that takes twice as long to compile, and what runs long runs on the release build.
  add_compile_options(-fsanitize=${FAIRLEAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FAIRLEAD_SANITIZE})
endif()
if(FAIRLEAD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers can only be cached when ccache may trust their defines and times.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                                  ${CCACHE})
endif()
