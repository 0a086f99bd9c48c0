// How operators that share a cluster share their work, by Leases (docs/leases.md).
#pragma once

#include <memory>
#include <string>

#include "lease/holder.h"
#include "lease/namespace_locks.h"
#include "webhook/server/server.h"
#include "webhook/server/territory.h"

namespace fairlead::webhook {

// Of an operator that serves one namespace. It validates there in any case, and changes objects while it holds the
// Lease.
class OneNamespace final : public Territory {
 public:
  // The holder must outlive it.
  OneNamespace(std::string ns, const lease::Holder& holder) : ns_(std::move(ns)), holder_(holder) {}

  std::optional<std::string> left_to(Route::Kind kind, const std::string& ns) const override;
  Coordination coordination() const override;

 private:
  std::string ns_;
  const lease::Holder& holder_;
};

// Of the operator that serves the whole cluster, but for the namespaces that have one of their own.
class RestOfCluster final : public Territory {
 public:
  // The locks must outlive it.
  explicit RestOfCluster(const lease::NamespaceLocks& locks) : locks_(locks) {}

  std::optional<std::string> left_to(Route::Kind kind, const std::string& ns) const override;
  Coordination coordination() const override;

 private:
  const lease::NamespaceLocks& locks_;
};

// Holds the Lease while the server is ready, so that a namespace is never left to a server that is not called. Once
// `stop` is cancelled the Lease is kept until this task is cancelled, after the last review, or until a webhook
// configuration of the server's own is gone; then it is released.
Task<void> hold_while_ready(AdmissionServer& server, lease::Holder& holder, const CancelSource& stop);

}  // namespace fairlead::webhook
