// HTTP/1.1 over a stream: one request at a time. Inside this room only.
#pragma once

#include <memory>

#include "async/loop.h"
#include "http/client/internal/connection.h"
#include "http/net/stream.h"

namespace fairlead::http {

struct H1Names {
  std::string peer;       // the server, in errors
  std::string authority;  // the server, in requests
  // What comes before each request's target: the path of the base URL; the whole base URL where a proxy is asked.
  std::string prefix;
  std::string proxy_authorization;  // if not empty
};

std::shared_ptr<Connection> make_h1_connection(Loop& loop, std::unique_ptr<Stream> stream, H1Names names);

}  // namespace fairlead::http
