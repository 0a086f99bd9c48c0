// Where a server or a proxy is: scheme, host, port, and the path that stands before every request's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::http {

struct Url {
  std::string scheme;  // lower case
  std::string user;    // decoded; a secret, like the password: never printed
  std::string password;
  std::string host;  // lower case; an IPv6 address without its brackets
  uint16_t port = 0;
  std::string path;  // as it was written, without the slash at its end; "" for none

  bool is_tls() const { return scheme == "https"; }
  // "host:port", with brackets around an IPv6 address.
  std::string address() const;
  // The same without the port where that is the scheme's own: what Host and :authority say.
  std::string authority() const;
  // Without user and password: fit for people to read.
  std::string text() const;
};

// Understands http, https, socks5 and socks5h; queries and fragments are errors.
Result<Url> parse_url(std::string_view text);

}  // namespace fairlead::http
