// Any text as the JSON of a state: no crash, no hang; what is read by a type can be written by it.
#include <cstdlib>

#include "terraform/value/msgpack.h"
#include "terraform/value/state_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::terraform;
  static const Type kType = Type::object({{"a", Type::string()},
                                          {"b", Type::list(Type::number())},
                                          {"c", Type::set(Type::boolean())},
                                          {"d", Type::map(Type::dynamic())},
                                          {"e", Type::tuple({Type::string(), Type::dynamic()})}});
  auto json = parse_state_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  auto value = Value::from_state_json(*json, kType);
  if (value && !encode_msgpack(*value, kType)) std::abort();
  return 0;
}
