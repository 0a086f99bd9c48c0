// From a Service to what answers behind it, as kube-proxy or the API server itself would find it.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/core/core.h"

namespace fairlead::sandbox {

// Where a connection to a port of a Service ends.
struct Destination {
  std::string address;
  // What a Go client names that cannot connect: the Service, unless the API server routes to endpoints by itself.
  std::string dialled;
  // At a pod of the sandbox, which runs no process.
  bool simulated = false;
};
// Or why it ends nowhere, in a Go client's words.
std::expected<Destination, std::string> backend_of(Core& core, std::string_view ns, std::string_view name,
                                                   int64_t port);

// Who has an address of its own, "10.244.0.4:8443": a pod behind a Service.
struct Backend {
  std::string service;  // "namespace/name"
  bool listens = false;
};
std::optional<Backend> backend_at(const Core& core, std::string_view address);

}  // namespace fairlead::sandbox
