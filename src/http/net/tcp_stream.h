// TCP. For the rooms of http, and rpc.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "http/net/stream.h"

namespace fairlead {
class RealLoop;
}

namespace fairlead::http {

// Tries the addresses of the host in turn, each for a fair part of the time. The errors are causes, to be put under
// "cannot connect to ...".
Task<Result<std::unique_ptr<Stream>>> connect_tcp(RealLoop& loop, std::string host, uint16_t port, Duration timeout);

// Takes over a connected socket.
std::unique_ptr<Stream> adopt_socket(RealLoop& loop, int socket);

}  // namespace fairlead::http
