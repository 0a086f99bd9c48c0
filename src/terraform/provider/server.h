// Terraform's plugin protocol, version 6: turns its calls into those of resource.h, and their results into answers.
//
// An answer that would break a rule of the protocol becomes an error for the user: Terraform would only say that the
// provider has a bug, and could lose what was applied. Whatever arrives is an answer, never a crash.
#pragma once

#include <functional>
#include <memory>

#include "base/secrets.h"
#include "rpc/service.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// The provider block.
struct ProviderBlock {
  Schema schema;
  // Values can be unknown.
  std::function<Diagnostics(const Value& config)> validate;
  std::function<Diagnostics(const Value& config)> configure;
};

class ProviderServer {
 public:
  // All must outlive it. The secrets are taken out of every diagnostic.
  ProviderServer(Loop& loop, Clusters& clusters, Log& log, const Secrets& secrets, ProviderBlock block, Offers offers);
  ~ProviderServer();
  ProviderServer(const ProviderServer&) = delete;
  ProviderServer& operator=(const ProviderServer&) = delete;

  // The methods of the protocol. It must outlive the services.
  void add_to(rpc::Services& services);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::terraform
