// Keys and certificates from hostile text: whatever can be read can be looked at, verified, written and read again.
#include <cstdint>
#include <cstdlib>

#include "x509/x509.h"

using namespace fairlead;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (Result<x509::Key> key = x509::Key::parse_pem(text); key && !x509::Key::parse_pem(key->to_pem())) std::abort();

  Result<std::vector<x509::Certificate>> chain = x509::Certificate::parse_pem(text);
  if (!chain) {
    // The rest of the way is deeper than base64 lets a fuzzer see.
    Result<x509::Certificate> certificate = x509::Certificate::parse_der(text);
    if (!certificate) return 0;
    chain = std::vector{*certificate};
  }
  for (const x509::Certificate& certificate : *chain) {
    (void)certificate.subject();
    (void)certificate.issuer();
    (void)certificate.is_ca();
    (void)certificate.serial();
    (void)certificate.sha256_fingerprint();
    for (const std::string& name : certificate.ip_addresses())
      if (!certificate.is_valid_for(name)) std::abort();
    (void)x509::verify(*chain, std::span(&certificate, 1), "a.example.com", certificate.not_before());
  }
  Result<std::vector<x509::Certificate>> again = x509::Certificate::parse_pem(x509::to_pem(*chain));
  if (!again || again->size() != chain->size()) std::abort();
  return 0;
}
