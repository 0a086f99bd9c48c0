// Any bytes as a value: no crash, no hang; what is read can be written, and is the same when it is read again.
#include <cstdlib>

#include "terraform/value/msgpack.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::terraform;
  static const Type kTypes[] = {Type::dynamic(), Type::object({{"a", Type::string()},
                                                               {"b", Type::list(Type::number())},
                                                               {"c", Type::set(Type::boolean())},
                                                               {"d", Type::map(Type::dynamic())},
                                                               {"e", Type::tuple({Type::string(), Type::dynamic()})}})};
  for (const Type& type : kTypes) {
    auto value = decode_msgpack({reinterpret_cast<const char*>(data), size}, type);
    if (!value) {
      if (value.error().message().empty()) std::abort();
      continue;
    }
    auto bytes = encode_msgpack(*value, type);
    if (!bytes) std::abort();
    auto again = decode_msgpack(*bytes, type);
    if (!again || !(*again == *value)) std::abort();
  }
  return 0;
}
