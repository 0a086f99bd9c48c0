// Any bytes as a selector, a path or a name: no crash; what is read is written so that it reads back the same.
#include <cstdint>
#include <cstdlib>

#include "object/field_path.h"
#include "object/key.h"
#include "object/name.h"
#include "object/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto selector = object::Selector::parse(text)) {
    auto again = object::Selector::parse(selector->text());
    if (!again || again->text() != selector->text()) std::abort();
  }
  if (auto path = object::FieldPath::parse(text)) {
    auto again = object::FieldPath::parse(path->text());
    if (!again || *again != *path) std::abort();
  }
  if (auto version = object::ApiVersion::parse(text); version && version->text() != text) std::abort();
  (void)object::check_label_key(text);
  (void)object::check_label_value(text);
  (void)object::check_namespace(text);
  (void)object::check_kind(text);
  if (object::check_path_segment("name", text) && object::percent_encode(text).find('/') != std::string::npos)
    std::abort();
  return 0;
}
