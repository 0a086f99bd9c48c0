// Keys and certificates: made, read, verified. This is the room's first header.
//
// Keys and certificates are immutable, cheap to copy, and never empty. Reading takes hostile input: it has limits, and
// a certificate that was read says nothing about trust, which only verify() does. Private keys never reach an error.
// The room does no I/O and knows no clock: whoever needs the time passes it in.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

// OpenSSL's own types, for the TLS of http.
struct evp_pkey_st;
struct x509_st;

namespace fairlead::x509 {

class Key {
 public:
  // ECDSA P-256.
  static Result<Key> generate();
  // The first private key in the text: PKCS#8, PKCS#1 (RSA) or SEC 1 (EC). Not one with a passphrase.
  static Result<Key> parse_pem(std::string_view pem);

  // PKCS#8, not encrypted.
  std::string to_pem() const;
  // Does not pass ownership on; valid for as long as a copy of this key is.
  evp_pkey_st* handle() const { return handle_.get(); }

 private:
  friend struct Adopt;
  explicit Key(std::shared_ptr<evp_pkey_st> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<evp_pkey_st> handle_;
};

struct Name {
  std::string common_name;
  std::vector<std::string> organizations;
  bool operator==(const Name&) const = default;
};

class Certificate {
 public:
  static Result<Certificate> parse_der(std::string_view der);
  // Every certificate in the text, at least one, in order; anything that is no certificate is passed over.
  static Result<std::vector<Certificate>> parse_pem(std::string_view pem);
  // Takes a reference of its own; for certificates that came over a TLS connection.
  static Certificate share(x509_st* handle);

  Name subject() const;
  Name issuer() const;
  // Alternative names, in order. Addresses in their canonical form, "10.0.0.1" or "2001:db8::1".
  std::vector<std::string> dns_names() const;
  std::vector<std::string> ip_addresses() const;
  // Clamped to what WallTime can say (the year 2262).
  WallTime not_before() const;
  WallTime not_after() const;
  bool is_ca() const;
  // Lower-case hexadecimal, without separators.
  std::string serial() const;
  std::string sha256_fingerprint() const;

  // Whether it may serve under that name or address, as Go has it: only alternative names count, never the common name.
  bool is_valid_for(std::string_view host) const;

  std::string to_pem() const;
  std::string to_der() const;
  // Does not pass ownership on; valid for as long as a copy of this certificate is.
  x509_st* handle() const { return handle_.get(); }

  // The same bytes.
  bool operator==(const Certificate& other) const;

 private:
  friend struct Adopt;
  explicit Certificate(std::shared_ptr<x509_st> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<x509_st> handle_;
};

std::string to_pem(std::span<const Certificate> certificates);

struct KeyPair {
  Certificate certificate;
  Key key;
};

bool key_matches(const Certificate& certificate, const Key& key);
// Both are for the same key, as a certificate and its renewal are.
bool same_key(const Certificate& one, const Certificate& other);

enum class Usage { server, client };

// Certificates that are made begin this much before the time they are made at: clocks of machines differ.
inline constexpr Duration kBackdated = std::chrono::minutes(5);

// A self-signed authority with a new P-256 key, valid until now + validity.
Result<KeyPair> make_ca(std::string_view common_name, Duration validity, WallTime now);

// A certificate with the authority's own key and subject, valid until now + validity. What either of the two has signed
// verifies with both of them, so the order in which people get them does not matter.
Result<KeyPair> renew_ca(const KeyPair& ca, Duration validity, WallTime now);

struct LeafSpec {
  // Empty for none; at most 64 bytes, as X.509 has it.
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  std::vector<Usage> usages = {Usage::server};
  Duration validity = std::chrono::hours(24 * 365);
};

// A certificate with a new P-256 key, signed by the authority. It never outlives the authority's own certificate.
Result<KeyPair> make_leaf(const KeyPair& ca, const LeafSpec& spec, WallTime now);

// Whether the chain (the leaf first, then what leads to a root, in any order) leads to one of the roots, was valid at
// that time, may be used so, and is for that host (a DNS name or an IP address; empty: any). Any root ends a chain,
// even one that is not self-signed. Errors are of kind `untrusted`, in words for people.
Result<void> verify(std::span<const Certificate> chain, std::span<const Certificate> roots, std::string_view host,
                    WallTime at, Usage usage = Usage::server);

}  // namespace fairlead::x509
