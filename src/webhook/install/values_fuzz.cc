#include <cstdint>
#include <cstdlib>

#include "webhook/install/install.h"

// Values from anywhere: the first line is a --set, the rest is a file. Either there are errors, or manifests in which
// nothing has been lost: each object has a kind and a name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::webhook::install;
  std::string text(reinterpret_cast<const char*>(data), size);
  size_t line = text.find('\n');
  Inputs inputs;
  if (line > 0) inputs.sets.push_back({text.substr(0, line)});
  if (line != std::string::npos) inputs.files.push_back({"values.yaml", text.substr(line + 1)});
  auto made = manifests({.name = "rel", .ns = "ns", .version = "1"}, inputs, {.skip_definitions = true});
  if (!made) {
    if (made.error().empty()) std::abort();
    return 0;
  }
  for (const fairlead::Json& object : made->objects)
    if (object["kind"].string_or("").empty() || object["metadata"]["name"].string_or("").empty()) std::abort();
  return 0;
}
