// Any bytes as the output of an installer: no crash, and texts that fit on a line.
#include <cstdint>
#include <cstdlib>

#include "retry/failure.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::retry;
  Failure failure = read_failure(std::string_view(reinterpret_cast<const char*>(data), size));
  if ((failure.kind == Failure::Kind::missing) && failure.missing.empty()) std::abort();
  auto is_line = [](const std::string& text) { return text.find_first_of("\n\x1b") == std::string::npos; };
  if (!is_line(failure.cause) || !is_line(failure.next)) std::abort();
  for (const Missing& one : failure.missing)
    if (one.name.empty() || one.text.empty() || !is_line(one.name) || !is_line(one.text)) std::abort();
  return 0;
}
