// Where a list that was cut off goes on: the version that it shows, and the last object that was sent.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/core/status.h"
#include "sandbox/core/store.h"

namespace fairlead::sandbox {

struct ContinueToken {
  uint64_t version = 0;  // 0: whatever is there now
  Place after;

  std::string text(bool namespaced, bool one_namespace) const;
  static Outcome<ContinueToken> parse(std::string_view text, bool namespaced, std::string_view ns);
};

// The alphabet for URLs, without padding.
std::string base64_url(std::string_view bytes);
// The position of the first character that does not belong there, as an error.
std::expected<std::string, size_t> base64_url_decode(std::string_view text);

}  // namespace fairlead::sandbox
