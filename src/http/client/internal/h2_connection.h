// HTTP/2 over a stream. Inside this room only.
#pragma once

#include <memory>

#include "async/loop.h"
#include "http/client/internal/connection.h"
#include "http/client/internal/h2_session.h"
#include "http/net/stream.h"

namespace fairlead::http {

struct PingTimes {
  // Silence while requests are open, after which the server is asked for a sign of life.
  Duration ping_after;
  // How long it may take to give one.
  Duration ping_timeout;
};

std::shared_ptr<Connection> make_h2_connection(Loop& loop, std::unique_ptr<Stream> stream, H2Session::Names names,
                                               PingTimes ping_times);

}  // namespace fairlead::http
