// Pulumi's protocol of providers: turns its calls into those of the core, and their results into answers.
//
// Whatever arrives is an answer, never a crash. A failed call says what to do in the words of the program.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/secrets.h"
#include "pulumi/provider/engine.h"
#include "pulumi/provider/facade.h"
#include "rpc/service.h"

namespace fairlead::pulumi {

// The configuration of the provider itself.
struct ProviderSettings {
  Facade facade;
  // Values can be unknown.
  std::function<terraform::Diagnostics(const terraform::Value& config)> check;
  std::function<void(const terraform::Value& config)> configure;
  // The address of the cluster; nothing if it cannot be found out.
  std::function<std::optional<std::string>(const terraform::Value& config)> server;
};

class ProviderServer {
 public:
  // All must outlive it. Secrets of the programs are added to `secrets`, and taken out of every text.
  ProviderServer(Loop& loop, terraform::Clusters& clusters, Engine& engine, Secrets& secrets, ProviderSettings settings,
                 Catalog catalog);
  ~ProviderServer();
  ProviderServer(const ProviderServer&) = delete;
  ProviderServer& operator=(const ProviderServer&) = delete;

  // The methods of the protocol. It must outlive the services.
  void add_to(rpc::Services& services);

  // Always, before it is destroyed.
  Task<void> close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::pulumi
