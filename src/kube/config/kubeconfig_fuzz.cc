// Any bytes as a kubeconfig: no crash, no hang; and what cannot be used is an error that says something.
#include <cstdint>
#include <cstdlib>

#include "kube/config/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  kube::Surroundings nowhere;
  nowhere.environment = [](const std::string&) { return std::optional<std::string>(); };
  nowhere.read_file = [](const std::string&) -> Result<std::string> { return fail(ErrorKind::not_found, "not there"); };
  nowhere.now = [] { return WallTime(); };
  Result<kube::Kubeconfig> config =
      kube::Kubeconfig::parse({reinterpret_cast<const char*>(data), size}, "/dir/config", nowhere);
  auto check = [](const Error& error) {
    if (error.what().empty() || error.report().size() > size_t{1} << 20) std::abort();
  };
  if (!config) {
    check(config.error());
    return 0;
  }
  std::vector<std::string> contexts = config->contexts();
  contexts.resize(std::min<size_t>(contexts.size(), 4));
  contexts.push_back("");
  for (const std::string& context : contexts) {
    Result<kube::ClusterConfig> resolved = config->resolve({.context = context});
    if (!resolved) check(resolved.error());
  }
  return 0;
}
