// What the two Secrets hold, read once. Pure; the input is hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "certs/spec.h"
#include "x509/x509.h"

namespace fairlead::certs {

inline constexpr std::string_view kCaFile = "ca.crt";
inline constexpr std::string_view kCertificateFile = "tls.crt";
inline constexpr std::string_view kKeyFile = "tls.key";
// An annotation of the CA's Secret: its CA is new, and not everything trusts and uses it yet.
inline constexpr std::string_view kRotatingAnnotation = "fairlead.dev/ca-rotation";

struct Material {
  // What clients have to trust: ca.crt.
  std::vector<x509::Certificate> bundle;
  // What is served: tls.crt, the leaf first, and tls.key.
  std::vector<x509::Certificate> chain;
  std::optional<x509::Key> key;
  // The CA that signs; nothing if its key is not stored.
  std::optional<x509::KeyPair> ca;
  // The CA is being replaced.
  bool rotating = false;
  // What is stored and cannot be used, in words.
  std::vector<std::string> problems;

  // Nothing of a serving pair is stored.
  bool is_empty() const { return chain.empty() && !key && bundle.empty() && problems.empty(); }
  // Has the stored CA, by its bytes.
  bool trusts_ca() const;
};

// Reads the Secrets; null for one that does not exist. A key that is missing and one that is empty are the same.
Material read_material(const Json& serving, const Json& authority);

// A value of a Secret; nothing if it is missing, empty or not base64.
std::optional<std::string> value_of(const Json& secret, std::string_view key);

// Returns the Secrets with these contents. What they hold besides (other keys, labels, the type) stays as it is. From
// null they make new ones. authority_secret() requires a CA.
Json serving_secret(const Json& before, const Material& material, const Spec& spec);
Json authority_secret(const Json& before, const Material& material, const Spec& spec);

// Returns an error if a Secret cannot be written by us: it is immutable, or cert-manager keeps it.
Result<void> check_writable(const Json& secret);
// Returns an error if what the Secret holds must not be thrown away, although it is of no use for this Service: it has
// a private key that we have not made for it, or that of its CA.
Result<void> check_replaceable(const Json& serving, const Material& material, const Spec& spec);
// The same for the Secret of the CA: it must not have the private key of a certificate.
Result<void> check_takes_ca(const Json& authority, const Spec& spec);

}  // namespace fairlead::certs
