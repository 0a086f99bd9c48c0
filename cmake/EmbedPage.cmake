cmake_minimum_required(VERSION 3.25)
# Writes the files of the timeline page as constants of a C++ file, with the SHA-256 of those that the page's
# Content-Security-Policy names.
# cmake -D FOLDER=src/timeline/page -D OUTPUT=page_files.cc -P EmbedPage.cmake
set(text "#include \"timeline/page_files.h\"\n\nnamespace fairlead::timeline {\n\n")
foreach(name html css js)
  file(READ ${FOLDER}/page.${name} content)
  if(content MATCHES "\\)_page_\"")
    message(FATAL_ERROR "${FOLDER}/page.${name} holds the end mark of a C++ string")
  endif()
  file(SHA256 ${FOLDER}/page.${name} digest)
  string(TOUPPER ${name} upper)
  string(APPEND text "const std::string_view k${upper} = R\"_page_(${content})_page_\";\n")
  string(APPEND text "const std::string_view k${upper}Digest = \"${digest}\";\n\n")
endforeach()
string(APPEND text "}  // namespace fairlead::timeline\n")
file(WRITE ${OUTPUT} "${text}")
