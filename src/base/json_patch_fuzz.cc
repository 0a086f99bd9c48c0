// Any two documents, one as a patch of the other: no crash, no hang, bounded memory.
#include <cstdint>
#include <cstdlib>

#include "base/json.h"
#include "base/json_patch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Json::Limits limits{.bytes = 64 << 10, .depth = 60};
  auto document = Json::parse_first(text, limits);
  if (!document) return 0;
  auto patch = Json::parse(text.substr(document->size), limits);
  if (!patch) return 0;
  bool is_patch = check_json_patch(*patch).has_value();
  auto patched = apply_json_patch(document->value, *patch);
  if (patched && !is_patch) std::abort();
  auto merged = apply_merge_patch(document->value, *patch);
  if (!merged) return 0;
  auto again = apply_merge_patch(*merged, *patch);
  if (!again || *again != *merged) std::abort();
  return 0;
}
