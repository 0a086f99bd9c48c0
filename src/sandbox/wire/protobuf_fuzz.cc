// Any bytes as a body in protobuf: no crash, no hang; what is decoded is JSON that can be written and read back.
#include <cstdlib>

#include "sandbox/wire/protobuf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::Json;
  auto json = fairlead::sandbox::decode_protobuf({reinterpret_cast<const char*>(data), size});
  if (!json) return json.error().message().empty() ? (std::abort(), 0) : 0;
  auto again = Json::parse(json->dump());
  if (!again || *again != *json) std::abort();
  return 0;
}
