#include <arpa/inet.h>
#include <openssl/pem.h>

#include <algorithm>
#include <ctime>

#include "x509/internal/openssl.h"

namespace fairlead::x509 {
namespace {

WallTime wall_time_of(const ASN1_TIME* time) {
  std::tm calendar{};
  if (!ASN1_TIME_to_tm(time, &calendar)) return WallTime{};
  std::chrono::seconds since_epoch(timegm(&calendar));
  auto first = std::chrono::ceil<std::chrono::seconds>(WallTime::min().time_since_epoch());
  auto last = std::chrono::floor<std::chrono::seconds>(WallTime::max().time_since_epoch());
  return WallTime(std::clamp(since_epoch, first, last));
}

// Empty where it cannot be told as UTF-8, or where control characters would garble what people read.
std::string text_of(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  int size = ASN1_STRING_to_UTF8(&utf8, value);
  if (size < 0) {
    ERR_clear_error();
    return {};
  }
  std::string text(utf8, utf8 + size);
  OPENSSL_free(utf8);
  bool printable = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return printable ? text : std::string();
}

std::vector<std::string> entries_of(const X509_NAME* name, int nid) {
  std::vector<std::string> entries;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;)
    entries.push_back(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  return entries;
}

Name name_of(const X509_NAME* name) {
  std::vector<std::string> common_names = entries_of(name, NID_commonName);
  // With several, Go takes the last.
  return {.common_name = common_names.empty() ? "" : common_names.back(),
          .organizations = entries_of(name, NID_organizationName)};
}

using OwnedNames = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

OwnedNames alternative_names_of(X509* certificate) {
  OwnedNames names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  return names;
}

// A name with any other byte matches no host, and is not fit to be shown.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
}

std::string hex_of(std::span<const unsigned char> bytes) {
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

Result<Certificate> Certificate::parse_der(std::string_view der) {
  if (der.size() > kMaxPemBytes)
    return fail(ErrorKind::limit, "certificate has {} bytes, more than the {} that are allowed", der.size(),
                kMaxPemBytes);
  auto* begin = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* at = begin;
  Owned<X509, X509_free> certificate(d2i_X509(nullptr, &at, long(der.size())));
  if (!certificate) return fail(ErrorKind::invalid, "certificate cannot be read: {}", take_openssl_error());
  if (size_t(at - begin) != der.size()) return fail(ErrorKind::invalid, "certificate is followed by other bytes");
  return Adopt::certificate(certificate.release());
}

Result<std::vector<Certificate>> Certificate::parse_pem(std::string_view pem) {
  if (pem.size() > kMaxPemBytes)
    return fail(ErrorKind::limit, "certificates have {} bytes, more than the {} that are allowed", pem.size(),
                kMaxPemBytes);
  std::vector<Certificate> certificates;
  OwnedBio bio = bio_over(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    certificates.push_back(Adopt::certificate(certificate));
  bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  std::string why = take_openssl_error();
  if (!at_end)
    return fail(ErrorKind::invalid, "certificate {} in PEM form cannot be read: {}", certificates.size() + 1, why);
  if (certificates.empty()) return fail(ErrorKind::invalid, "there is no certificate in PEM form");
  return certificates;
}

Certificate Certificate::share(x509_st* handle) {
  X509_up_ref(handle);
  return Adopt::certificate(handle);
}

Name Certificate::subject() const { return name_of(X509_get_subject_name(handle())); }
Name Certificate::issuer() const { return name_of(X509_get_issuer_name(handle())); }

std::vector<std::string> Certificate::dns_names() const {
  std::vector<std::string> found;
  OwnedNames names = alternative_names_of(handle());
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_STRING* value = name->d.dNSName;
    const unsigned char* data = ASN1_STRING_get0_data(value);
    std::string text(data, data + ASN1_STRING_length(value));
    if (is_plain(text)) found.push_back(std::move(text));
  }
  return found;
}

std::vector<std::string> Certificate::ip_addresses() const {
  std::vector<std::string> found;
  OwnedNames names = alternative_names_of(handle());
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_IPADD) continue;
    const ASN1_STRING* value = name->d.iPAddress;
    int size = ASN1_STRING_length(value);
    if (size != 4 && size != 16) continue;
    char text[INET6_ADDRSTRLEN];
    inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(value), text, sizeof text);
    found.push_back(text);
  }
  return found;
}

WallTime Certificate::not_before() const { return wall_time_of(X509_get0_notBefore(handle())); }
WallTime Certificate::not_after() const { return wall_time_of(X509_get0_notAfter(handle())); }

bool Certificate::is_ca() const { return (X509_get_extension_flags(handle()) & EXFLAG_CA) != 0; }

std::string Certificate::serial() const {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(handle());
  const unsigned char* data = ASN1_STRING_get0_data(serial);
  return hex_of({data, static_cast<size_t>(ASN1_STRING_length(serial))});
}

std::string Certificate::sha256_fingerprint() const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  X509_digest(handle(), EVP_sha256(), digest, &size);
  return hex_of({digest, size});
}

std::string Certificate::to_pem() const {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), handle());
  return content_of(bio.get());
}

std::string Certificate::to_der() const {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  i2d_X509_bio(bio.get(), handle());
  return content_of(bio.get());
}

bool Certificate::operator==(const Certificate& other) const { return X509_cmp(handle(), other.handle()) == 0; }

std::string to_pem(std::span<const Certificate> certificates) {
  std::string text;
  for (const Certificate& certificate : certificates) text += certificate.to_pem();
  return text;
}

}  // namespace fairlead::x509
