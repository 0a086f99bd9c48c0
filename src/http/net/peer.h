// Looks at what a TLS server presents, without using it.
#pragma once

#include <string>
#include <vector>

#include "async/task.h"
#include "base/clock.h"
#include "x509/x509.h"

namespace fairlead {
class RealLoop;
}

namespace fairlead::http {

// Makes a TLS connection, asks for `server_name`, and returns the certificates that the server presents, the leaf
// first. Verifies nothing: that is the caller's. Fails with `unavailable` or `timeout` if nobody answers.
Task<Result<std::vector<x509::Certificate>>> read_peer_chain(RealLoop& loop, std::string host, uint16_t port,
                                                             std::string server_name, Duration timeout);

}  // namespace fairlead::http
