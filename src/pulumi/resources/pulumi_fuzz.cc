// Messages of Pulumi's protocol: the first byte names the method, the others are its message. Every call has an answer.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "async/loop.h"
#include "pulumi/provider/server.h"
#include "pulumi/resources/catalog.h"
#include "terraform/cluster/clusters.h"

namespace {

using namespace fairlead;

class NoClusters final : public terraform::Clusters {
 public:
  Task<Result<terraform::Connection*>> connect(terraform::Value) override {
    co_return fail(ErrorKind::unavailable, "there is no cluster");
  }
  terraform::Diagnostics check(const terraform::Value&, terraform::Path) const override { return {}; }
};

class NoEngine final : public pulumi::Engine {
 public:
  Task<void> log(pulumi::LogLine) override { co_return; }
  void attach(std::string) override {}
};

constexpr std::string_view kMethods[] = {"CheckConfig", "DiffConfig", "Configure", "Invoke", "Check",
                                         "Diff",        "Create",     "Read",      "Update", "Delete"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  VirtualLoop loop;
  NoClusters clusters;
  NoEngine engine;
  Secrets secrets;
  pulumi::ProviderServer server(loop, clusters, engine, secrets,
                                {.facade = pulumi::provider_facade(),
                                 .check = [](const terraform::Value&) { return terraform::Diagnostics(); },
                                 .configure = [](const terraform::Value&) {},
                                 .server = [](const terraform::Value&) { return std::optional<std::string>("x"); }},
                                pulumi::whole_catalog());
  rpc::Services services;
  server.add_to(services);
  std::string path = "/pulumirpc.ResourceProvider/" + std::string(kMethods[data[0] % std::size(kMethods)]);
  (void)loop.run((*services.find(path))(std::string(reinterpret_cast<const char*>(data) + 1, size - 1)));
  loop.run(server.close());
  return 0;
}
