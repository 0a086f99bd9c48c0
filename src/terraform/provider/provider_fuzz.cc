// Any bytes as a request of each method: no crash, no hang; whatever is answered can be read.
#include <cstdlib>

#include "terraform/provider/exchange_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::terraform;
  static constexpr std::string_view kMethods[] = {"GetProviderSchema",
                                                  "GetFunctions",
                                                  "GetResourceIdentitySchemas",
                                                  "ValidateProviderConfig",
                                                  "ConfigureProvider",
                                                  "ValidateResourceConfig",
                                                  "UpgradeResourceState",
                                                  "UpgradeResourceIdentity",
                                                  "ReadResource",
                                                  "PlanResourceChange",
                                                  "ApplyResourceChange",
                                                  "ImportResourceState",
                                                  "MoveResourceState",
                                                  "ValidateDataResourceConfig",
                                                  "ReadDataSource",
                                                  "ValidateEphemeralResourceConfig",
                                                  "OpenEphemeralResource",
                                                  "RenewEphemeralResource",
                                                  "CloseEphemeralResource",
                                                  "CallFunction",
                                                  "StopProvider"};
  if (size == 0) return 0;
  std::string request(reinterpret_cast<const char*>(data) + 1, size - 1);
  TrialServer server;
  auto answer = server.call(kMethods[data[0] % std::size(kMethods)], std::move(request));
  if (answer ? !Message::read(*answer) : answer.error().message.empty()) std::abort();
  return 0;
}
