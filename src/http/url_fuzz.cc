// Any bytes as an address: no crash; what is read is written so that it reads back the same, and never with a password.
#include <cstdint>
#include <cstdlib>

#include "http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  auto url = http::parse_url({reinterpret_cast<const char*>(data), size});
  if (!url) return 0;
  auto again = http::parse_url(url->text());
  if (!again || again->text() != url->text() || !again->password.empty()) std::abort();
  return 0;
}
