// The files of the folder page/, which the build puts into the binary (cmake/EmbedPage.cmake).
#pragma once

#include <string_view>

namespace fairlead::timeline {

extern const std::string_view kHTML;
extern const std::string_view kCSS;
extern const std::string_view kJS;
// The SHA-256 of each file, in hexadecimal.
extern const std::string_view kHTMLDigest;
extern const std::string_view kCSSDigest;
extern const std::string_view kJSDigest;

}  // namespace fairlead::timeline
