// Where a server gets the certificate that it serves.
//
// A source always offers the last pair that was whole: a key that belongs to its certificate. A Secret or file that
// disappears or holds something else later does not take a pair away that is being served; trouble() then tells why the
// pair is old. A server therefore never has to stop for a certificate.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "async/signal.h"
#include "x509/x509.h"

namespace fairlead::certs {

// A certificate with its key, as a server uses them. Never changes.
struct ServingPair {
  // The leaf first, then what leads to its root. Never empty.
  std::vector<x509::Certificate> chain;
  x509::Key key;
  // What clients have to trust; empty where the source does not tell.
  std::vector<x509::Certificate> ca;
  // For people: "Secret shop/hook-cert", or a folder.
  std::string origin;
};

class CertificateSource {
 public:
  virtual ~CertificateSource() = default;

  // Returns null as long as there was no whole pair.
  virtual std::shared_ptr<const ServingPair> current() const = 0;
  // Why there is no pair, or why the current one is not the newest; empty while all is well.
  virtual std::string trouble() const = 0;
  // Notified when current() or trouble() changes.
  virtual Signal& changed() = 0;
};

// Reads a pair from the texts of its files or Secret keys. `ca_pem` may be empty. Fails if the certificate or the key
// cannot be read, or if they do not belong together; nothing of the key reaches the error.
Result<ServingPair> read_pair(std::string_view certificate_pem, std::string_view key_pem, std::string_view ca_pem,
                              std::string origin);

}  // namespace fairlead::certs
