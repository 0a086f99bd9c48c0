// Reads arbitrary JSON as a Lease. There must be no crash, and a record that was read must read back the same.
#include <cstdint>
#include <cstdlib>

#include "lease/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::Json;
  using fairlead::lease::Record;
  fairlead::Result<Json> lease = Json::parse({reinterpret_cast<const char*>(data), size});
  if (!lease) return 0;
  Record record = Record::parse(*lease);
  if (record.duration && *record.duration <= fairlead::Duration::zero()) std::abort();
  record.duration = record.duration.value_or(fairlead::lease::kDuration);
  record.write_to(*lease);
  if (Record::parse(*lease) != record) std::abort();
  if (record.shown_holder().find('\n') != std::string::npos) std::abort();
  return 0;
}
