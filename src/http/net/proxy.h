// Which proxy, if any, stands between here and a server. Decides as Go's programs (kubectl among them) do.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "http/url.h"

namespace fairlead::http {

// What the environment says.
struct ProxySettings {
  std::string http_proxy;   // HTTP_PROXY, http_proxy
  std::string https_proxy;  // HTTPS_PROXY, https_proxy
  // NO_PROXY, no_proxy: hosts, domains (with all that is below; with a leading dot only what is below), addresses,
  // networks as CIDR, each with a port if only that is meant, or `*`.
  std::string no_proxy;

  static ProxySettings from_environment();
};

// Localhost and loopback addresses are never reached through a proxy of the environment.
Result<std::optional<Url>> choose_proxy(const ProxySettings& settings, const Url& server);

}  // namespace fairlead::http
