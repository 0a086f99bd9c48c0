// Any text as fairlead.yaml.
#include <cstddef>
#include <cstdint>

#include "config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto config = fairlead::config::parse(text, "fairlead.yaml");
  if (!config && config.error().empty()) __builtin_trap();
  return 0;
}
