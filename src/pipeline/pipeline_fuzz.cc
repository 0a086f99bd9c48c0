// Any text as a pipeline, and as the state of one.
#include <cstddef>
#include <cstdint>

#include "pipeline/read.h"
#include "pipeline/state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto no_files = [](const std::string&) -> Result<std::string> { return fail(ErrorKind::not_found, "no file"); };
  auto pipeline = pipeline::parse(text, "kof.yaml", {}, no_files);
  if (!pipeline && pipeline.error().empty()) __builtin_trap();
  auto state = pipeline::State::parse(text, "kof.yaml.state");
  if (!state && state.error().empty()) __builtin_trap();
  if (pipeline && state) {
    state->adapt(*pipeline);
    if (state->phases().size() != pipeline->phases.size()) __builtin_trap();
  }
  return 0;
}
