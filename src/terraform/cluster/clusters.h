// Gives resources the cluster that their `cluster` attribute describes.
//
//   CO_TRY_ASSIGN(Connection* cluster, co_await context.clusters().connect(config["cluster"]));
//   if (!cluster) ...                                 // unknown until apply
//   co_await cluster->client().get(…)
//
// Equal descriptions share one connection, with one client and one discovery, for as long as the process lives.
#pragma once

#include <string>

#include "kube/client.h"
#include "kube/discovery.h"
#include "terraform/cluster/cluster_attribute.h"
#include "terraform/value/diagnostic.h"
#include "terraform/value/value.h"

namespace fairlead::terraform {

class Connection {
 public:
  virtual ~Connection() = default;
  virtual Loop& loop() = 0;
  virtual kube::Client& client() = 0;
  virtual kube::Discovery& discovery() = 0;
  // For objects that name none.
  virtual const std::string& default_namespace() const = 0;
  // For people, without secrets: "context prod", or "server https://…".
  virtual std::string text() const = 0;
};

class Clusters {
 public:
  virtual ~Clusters() = default;
  // Null if the description is not known before apply. Fails, with the attribute's name in the text, if it is wrong.
  // The connection is that of the provider block's only cluster, or the default one, if `cluster` is null.
  virtual Task<Result<Connection*>> connect(Value cluster) = 0;
  // What is wrong with a description, as far as it is known; sends no request. Paths start with `at`.
  virtual Diagnostics check(const Value& cluster, Path at) const = 0;
};

}  // namespace fairlead::terraform
