// Parses arbitrary bytes as the metrics of an API server. There must be no crash, what is read is bounded, and a line
// break at the end changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "doctor/metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::doctor::Metrics;
  std::string text(reinterpret_cast<const char*>(data), size);
  Metrics metrics = Metrics::parse(text);
  if (metrics.calls.size() + metrics.deprecated.size() > 10'000) std::abort();
  Metrics again = Metrics::parse(text + "\n");
  if (again.calls != metrics.calls || again.deprecated != metrics.deprecated) std::abort();
  return 0;
}
