// APIServices: those that the server serves itself, and those that point to a Service.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "sandbox/core/call.h"
#include "sandbox/core/core.h"

namespace fairlead::sandbox {

struct ServedElsewhere {
  std::string group, version;
  std::string service_namespace, service_name;
  int64_t port = 443;
  bool available = false;

  std::string group_version() const { return group + "/" + version; }
};

// The group versions that an APIService hands to a Service.
std::vector<ServedElsewhere> served_elsewhere(const Core& core);
// The server behind it (Sandbox::serve_api); or why it cannot be reached, in a Go client's words.
std::expected<http::Transport*, std::string> server_behind(Core& core, const ServedElsewhere& api);
// Hands a request on to that server, as the aggregator does: 503 for as long as it is not there.
Task<Outcome<Reply>> pass_on(Core& core, ServedElsewhere api, const Call& call);
// Asks that server what it serves, for discovery.
Task<void> discover_behind(Core& core, ServedElsewhere api);

// Those of the groups that come with the server, and after every change those of a group that definitions serve.
void register_builtin(Core& core);
void register_custom(Core& core, std::string_view group);

// The Available condition that an APIService has now: by its Service, that one's endpoints, and what is behind them.
Json available_condition(Core& core, const Json& api_service);

}  // namespace fairlead::sandbox
