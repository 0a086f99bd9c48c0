// Parses arbitrary bytes as a claim of another run. There must be no crash, and a parsed claim must read back the same.
#include <cstdint>
#include <cstdlib>

#include "inventory/claim.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::inventory::Claim;
  Claim claim = Claim::parse({reinterpret_cast<const char*>(data), size});
  if (claim.lease <= fairlead::Duration::zero()) std::abort();
  Claim again = Claim::parse(claim.dump());
  if (!(Claim::parse(again.dump()) == again)) std::abort();
  return 0;
}
