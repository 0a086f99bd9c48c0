#include <arpa/inet.h>
#include <openssl/rand.h>

#include <algorithm>

#include "x509/internal/openssl.h"

namespace fairlead::x509 {
namespace {

using OwnedX509 = Owned<X509, X509_free>;
using OwnedNames = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

std::unexpected<Error> failed(std::string_view what) {
  return fail(ErrorKind::internal, "cannot make a certificate: {}: {}", what, take_openssl_error());
}

Result<void> set_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return failed("serial number");
  // Positive, and of full length: some readers stumble over anything else.
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);
  Owned<BIGNUM, BN_free> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  if (!number || !BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate))) return failed("serial number");
  return {};
}

Result<void> set_validity(X509* certificate, WallTime from, WallTime until) {
  auto seconds = [](WallTime time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  };
  if (!ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(from)) ||
      !ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(until)))
    return failed("validity");
  return {};
}

Result<void> add_to_subject(X509* certificate, int nid, const char* what, std::string_view value) {
  constexpr size_t kMaxBytes = 64;
  if (value.size() > kMaxBytes)
    return fail(ErrorKind::invalid, "{} \"{}\" has {} bytes; a certificate holds at most {}", what, value, value.size(),
                kMaxBytes);
  auto* bytes = reinterpret_cast<const unsigned char*>(value.data());
  if (!X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), nid, MBSTRING_UTF8, bytes, int(value.size()), -1,
                                  0))
    return failed(what);
  return {};
}

Result<void> add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  Owned<X509_EXTENSION, X509_EXTENSION_free> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  if (!extension || !X509_add_ext(certificate, extension.get(), -1)) return failed(OBJ_nid2ln(nid));
  return {};
}

bool is_dns_name(std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  if (name.empty() || name.size() > 253) return false;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('.', begin), name.size());
    std::string_view label = name.substr(begin, end - begin);
    bool plain = std::ranges::all_of(label, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (label.empty() || label.size() > 63 || !plain) return false;
    begin = end + 1;
  }
  return true;
}

bool append_name(GENERAL_NAMES* names, int type, std::string_view bytes) {
  Owned<GENERAL_NAME, GENERAL_NAME_free> name(GENERAL_NAME_new());
  Owned<ASN1_STRING, ASN1_STRING_free> value(
      ASN1_STRING_type_new(type == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING));
  if (!name || !value || !ASN1_STRING_set(value.get(), bytes.data(), int(bytes.size()))) return false;
  GENERAL_NAME_set0_value(name.get(), type, value.release());
  if (!sk_GENERAL_NAME_push(names, name.get())) return false;
  (void)name.release();
  return true;
}

Result<void> add_alternative_names(X509* certificate, const LeafSpec& spec) {
  if (spec.dns_names.empty() && spec.ip_addresses.empty()) return {};
  OwnedNames names(GENERAL_NAMES_new());
  for (const std::string& name : spec.dns_names) {
    if (!is_dns_name(name)) return fail(ErrorKind::invalid, "\"{}\" is not a DNS name", name);
    if (!append_name(names.get(), GEN_DNS, name)) return failed("alternative names");
  }
  for (const std::string& address : spec.ip_addresses) {
    unsigned char bytes[16];
    bool v4 = inet_pton(AF_INET, address.c_str(), bytes) == 1;
    if (!v4 && inet_pton(AF_INET6, address.c_str(), bytes) != 1)
      return fail(ErrorKind::invalid, "\"{}\" is not an IP address", address);
    if (!append_name(names.get(), GEN_IPADD, {reinterpret_cast<char*>(bytes), v4 ? size_t{4} : size_t{16}}))
      return failed("alternative names");
  }
  // Where the subject is empty, RFC 5280 wants it critical.
  bool critical = X509_NAME_entry_count(X509_get_subject_name(certificate)) == 0;
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), critical, X509V3_ADD_DEFAULT) != 1)
    return failed("alternative names");
  return {};
}

Result<void> sign(X509* certificate, const Key& key) {
  int digest = NID_undef;
  // 2: the only one that it can have; for Ed25519 that is none.
  bool none = EVP_PKEY_get_default_digest_nid(key.handle(), &digest) == 2 && digest == NID_undef;
  if (X509_sign(certificate, key.handle(), none ? nullptr : EVP_sha256()) == 0) return failed("signature");
  return {};
}

Result<void> check_authority(const KeyPair& ca) {
  if (key_matches(ca.certificate, ca.key)) return {};
  return fail(ErrorKind::invalid, "the key of certificate authority \"{}\" does not belong to its certificate",
              ca.certificate.subject().common_name);
}

struct Started {
  OwnedX509 certificate;
  Key key;
};

Result<Started> start(Key key, WallTime from, WallTime until) {
  OwnedX509 certificate(X509_new());
  if (!certificate || !X509_set_version(certificate.get(), X509_VERSION_3) ||
      !X509_set_pubkey(certificate.get(), key.handle()))
    return failed("public key");
  TRY(set_serial(certificate.get()));
  TRY(set_validity(certificate.get(), from, until));
  return Started{std::move(certificate), std::move(key)};
}

}  // namespace

namespace {

// Signs an authority whose subject is set already.
Result<KeyPair> finish_ca(Started started) {
  X509* certificate = started.certificate.get();
  if (!X509_set_issuer_name(certificate, X509_get_subject_name(certificate))) return failed("issuer");
  TRY(add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE"));
  TRY(add_extension(certificate, certificate, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"));
  TRY(add_extension(certificate, certificate, NID_subject_key_identifier, "hash"));
  TRY(sign(certificate, started.key));
  return KeyPair{Adopt::certificate(started.certificate.release()), std::move(started.key)};
}

}  // namespace

Result<KeyPair> make_ca(std::string_view common_name, Duration validity, WallTime now) {
  if (common_name.empty()) return fail(ErrorKind::invalid, "a certificate authority needs a name");
  TRY_ASSIGN(Key key, Key::generate());
  TRY_ASSIGN(Started started, start(std::move(key), now - kBackdated, now + validity));
  TRY(add_to_subject(started.certificate.get(), NID_commonName, "common name", common_name));
  return finish_ca(std::move(started));
}

Result<KeyPair> renew_ca(const KeyPair& ca, Duration validity, WallTime now) {
  TRY(check_authority(ca));
  TRY_ASSIGN(Started started, start(ca.key, now - kBackdated, now + validity));
  if (!X509_set_subject_name(started.certificate.get(), X509_get_subject_name(ca.certificate.handle())))
    return failed("subject");
  return finish_ca(std::move(started));
}

Result<KeyPair> make_leaf(const KeyPair& ca, const LeafSpec& spec, WallTime now) {
  TRY(check_authority(ca));
  TRY_ASSIGN(Key key, Key::generate());
  TRY_ASSIGN(Started started,
             start(std::move(key), now - kBackdated, std::min(now + spec.validity, ca.certificate.not_after())));
  X509* certificate = started.certificate.get();
  X509* issuer = ca.certificate.handle();
  for (const std::string& organization : spec.organizations)
    TRY(add_to_subject(certificate, NID_organizationName, "organization", organization));
  if (!spec.common_name.empty()) TRY(add_to_subject(certificate, NID_commonName, "common name", spec.common_name));
  if (!X509_set_issuer_name(certificate, X509_get_subject_name(issuer))) return failed("issuer");
  TRY(add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE"));
  TRY(add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature"));
  std::string usages;
  for (Usage usage : spec.usages)
    usages += std::string(usages.empty() ? "" : ",") + (usage == Usage::server ? "serverAuth" : "clientAuth");
  if (!usages.empty()) TRY(add_extension(certificate, issuer, NID_ext_key_usage, usages.c_str()));
  TRY(add_extension(certificate, issuer, NID_subject_key_identifier, "hash"));
  TRY(add_extension(certificate, issuer, NID_authority_key_identifier, "keyid"));
  TRY(add_alternative_names(certificate, spec));
  TRY(sign(certificate, ca.key));
  return KeyPair{Adopt::certificate(started.certificate.release()), std::move(started.key)};
}

}  // namespace fairlead::x509
