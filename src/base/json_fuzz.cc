// Any bytes: no crash, no hang; what is read is written so that it reads back equal.
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::Json;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto json = Json::parse(text, {.bytes = 1 << 20, .depth = 60});
  for (Json::Repeats repeats : {Json::Repeats::last, Json::Repeats::merged}) {
    auto lenient = Json::parse_lenient(text, repeats, {.bytes = 1 << 20, .depth = 60});
    // Strict reading takes nothing that lenient reading does not; what comes out has every key once.
    if (json && (!lenient || lenient->value != *json || !lenient->repeated.empty())) std::abort();
    if (lenient && !Json::parse(lenient->value.dump())) std::abort();
  }
  if (!json) return json.error().message().empty() ? (std::abort(), 0) : 0;
  for (const std::string& written : {json->dump(), json->pretty()}) {
    auto again = Json::parse(written);
    if (!again || *again != *json || !again->same_as(*json)) std::abort();
  }
  auto first = Json::parse_first(text, {.bytes = 1 << 20, .depth = 60});
  if (!first || first->value != *json || first->size > size) std::abort();
  return 0;
}
