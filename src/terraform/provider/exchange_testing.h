// A provider server on a virtual loop, for tests and fuzz targets: calls its methods with bytes.
#pragma once

#include <string>
#include <vector>

#include "protobuf/message.h"
#include "protobuf/wire.h"
#include "terraform/provider/internal/parts.h"
#include "terraform/provider/server.h"
#include "terraform/provider/trial_testing.h"

namespace fairlead::terraform {

using protobuf::Message;

class NoClusters final : public Clusters {
 public:
  Task<Result<Connection*>> connect(Value) override { co_return nullptr; }
  Diagnostics check(const Value&, Path) const override { return {}; }
};

class NoLog final : public Log {
 public:
  void write(Level, std::string_view, const Json&) override {}
};

class TrialServer {
 public:
  TrialServer() : server_(loop, clusters_, log_, secrets, block(), trial_offers(notes)) { server_.add_to(services); }

  rpc::Answer call(std::string_view method, std::string request) {
    const rpc::Handler* handler = services.find(fmt::format("/tfplugin6.Provider/{}", method));
    if (!handler) return std::unexpected(rpc::Status{rpc::Code::unimplemented, "no method"});
    return loop.run((*handler)(std::move(request)));
  }

  VirtualLoop loop;
  Notes notes;
  Secrets secrets;
  rpc::Services services;
  // The last configuration of the provider.
  Value configured;

 private:
  ProviderBlock block() {
    return {.schema = {.attributes = {{.name = "name", .optional = true, .description = "A name."}}, .blocks = {}},
            .validate =
                [](const Value& config) {
                  Diagnostics found;
                  if (config["name"].string_or("") == "bad") found.error("The name is bad", "", Path("name"));
                  return found;
                },
            .configure =
                [this](const Value& config) {
                  configured = config;
                  return Diagnostics();
                }};
  }

  NoClusters clusters_;
  NoLog log_;
  ProviderServer server_;
};

// A DynamicValue as Terraform writes it.
inline protobuf::WireWriter dynamic(const Value& value, const Type& type) { return dynamic_value(value, type).value(); }

}  // namespace fairlead::terraform
