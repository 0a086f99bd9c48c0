// Values of Pulumi: whatever can be read can be written and is the same again, and marks are found without a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pulumi/value/envelope.h"
#include "pulumi/value/struct.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::pulumi;
  auto value = read_struct({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  auto again = read_struct(struct_message(*value).out());
  if (!again || !(*again == *value)) std::abort();
  (void)has_unknowns(*value);
  (void)has_secrets(*value);
  (void)unwrapped(*value);
  each_secret(*value, [](std::string_view) {});
  return 0;
}
