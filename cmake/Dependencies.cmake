# Libraries from Debian, linked statically where they have code: a release is a static binary.
function(fairlead_static_library name)
  cmake_parse_arguments(ARG "" "" "FILES;USES" ${ARGN})
  add_library(${name} INTERFACE IMPORTED)
  foreach(file ${ARG_FILES})
    find_library(path_of_${file} NAMES ${file} REQUIRED)
    target_link_libraries(${name} INTERFACE ${path_of_${file}})
  endforeach()
  target_link_libraries(${name} INTERFACE ${ARG_USES})
endfunction()

fairlead_static_library(dep::openssl FILES libssl.a libcrypto.a USES dl pthread)
fairlead_static_library(dep::nghttp2 FILES libnghttp2.a)
fairlead_static_library(dep::zlib FILES libz.a)
fairlead_static_library(dep::yaml FILES libyaml.a)
fairlead_static_library(dep::re2 FILES libre2.a USES pthread)
fairlead_static_library(dep::gtest FILES libgtest.a libgmock.a USES pthread)
fairlead_static_library(dep::gtest_main FILES libgtest_main.a USES dep::gtest)
fairlead_static_library(dep::rapidcheck FILES librapidcheck.a)

# Debian has fmt as a shared library only. As headers alone it would be compiled in every file, which takes as long as all
# the rest of the file; so its code is compiled here, once.
add_library(fmt_code STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt_code.cc)
add_library(dep::fmt ALIAS fmt_code)

add_library(dep::rapidjson INTERFACE IMPORTED)
add_library(dep::cli11 INTERFACE IMPORTED)

add_library(dep::asio INTERFACE IMPORTED)
target_compile_definitions(dep::asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)
target_link_libraries(dep::asio INTERFACE pthread)
