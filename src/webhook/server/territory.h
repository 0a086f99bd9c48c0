// Which reviews a server decides on, where several operators share a cluster.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "webhook/server/routes.h"

namespace fairlead::webhook {

// What /metrics tells of it; nothing where it does not apply.
struct Coordination {
  std::optional<bool> lease_held;
  std::optional<size_t> namespaces_left;
  std::optional<bool> view_stale;
  // Why Leases cannot be read or written; empty while all is well.
  std::string trouble;
};

class Territory {
 public:
  virtual ~Territory() = default;
  // Returns nothing if this server decides on objects of that namespace (empty for objects without one). Otherwise says
  // who does: the server lets the review through and changes nothing. Called on the loop for each review.
  virtual std::optional<std::string> left_to(Route::Kind kind, const std::string& ns) const = 0;
  virtual Coordination coordination() const = 0;
};

}  // namespace fairlead::webhook
