// What a TLS server shows to its clients, and what it asks of them.
#pragma once

#include <vector>

#include "x509/x509.h"

namespace fairlead::http {

// The certificate first, then what leads to a root.
struct Identity {
  std::vector<x509::Certificate> chain;
  x509::Key key;
};

// Clients that show a certificate: one that does not verify ends the handshake.
struct ClientTrust {
  std::vector<x509::Certificate> roots;
  // Whether a client without a certificate is turned away, too.
  bool required = true;
};

}  // namespace fairlead::http
