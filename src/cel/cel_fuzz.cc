// The first line of the input is an expression, the rest is the Json that it is evaluated over.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cel/cel.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t line = input.find('\n');
  Result<cel::Program> program = cel::compile(input.substr(0, line), {"object", "oldObject"});
  if (!program) {
    if (program.error().kind() != ErrorKind::invalid && program.error().kind() != ErrorKind::limit) std::abort();
    return 0;
  }
  Result<Json> object = Json::parse(line == std::string_view::npos ? "null" : input.substr(line + 1));
  Json bound = object ? *object : Json();
  size_t budget = 20'000;
  Result<cel::Value> value =
      program->evaluate({{"object", cel::Value::of(bound)}, {"oldObject", cel::Value::of(bound)}}, budget);
  if (value) static_cast<void>(value->text());
  return 0;
}
