// Any bytes as a manifest: no crash, no hang; every object has a key and a line, every error a text.
#include <cstdlib>

#include "manifest/collector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  manifest::Collector collector(
      {.errors = 3,
       .yaml = {
           .document_bytes = 1 << 16, .depth = 50, .values = 20'000, .copied_values = 2'000, .copied_bytes = 1 << 16}});
  collector.add(text, "fuzz");
  auto bundle = std::move(collector).finish();
  if (!bundle) {
    if (bundle.error().empty() || bundle.error().size() > 4) std::abort();
    for (const Error& error : bundle.error())
      if (error.what().empty()) std::abort();
    return 0;
  }
  for (const object::Object& object : bundle->objects) {
    if (object.name().empty() || object.kind().empty() || object.source().line == 0) std::abort();
    if (object.value()["metadata"]["name"].string_or("") != object.name()) std::abort();
  }
  return 0;
}
