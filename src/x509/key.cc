#include <openssl/pem.h>

#include "x509/internal/openssl.h"

namespace fairlead::x509 {
namespace {

// OpenSSL would ask at the terminal otherwise.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

}  // namespace

Result<Key> Key::generate() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  if (!key) return fail(ErrorKind::internal, "cannot make a P-256 key: {}", take_openssl_error());
  return Adopt::key(key);
}

Result<Key> Key::parse_pem(std::string_view pem) {
  constexpr size_t kMaxKeyBytes = size_t{64} << 10;
  if (pem.size() > kMaxKeyBytes)
    return fail(ErrorKind::limit, "private key has {} bytes, more than the {} that are allowed", pem.size(),
                kMaxKeyBytes);
  if (pem.find("-----BEGIN ") == pem.npos) return fail(ErrorKind::invalid, "there is no private key in PEM form");
  OwnedBio bio = bio_over(pem);
  bool encrypted = false;
  if (EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, &encrypted)) {
    ERR_clear_error();
    return Adopt::key(key);
  }
  std::string why = take_openssl_error();
  if (encrypted)
    return fail(Error(ErrorKind::invalid, "private key is encrypted with a passphrase")
                    .next("openssl pkey -in encrypted.key -out plain.key"));
  if (pem.find("PRIVATE KEY-----") == pem.npos)
    return fail(ErrorKind::invalid, "there is no private key in PEM form, only something else");
  return fail(ErrorKind::invalid, "private key cannot be read: {}", why);
}

std::string Key::to_pem() const {
  OwnedBio bio(BIO_new(BIO_s_secmem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), handle(), nullptr, nullptr, 0, nullptr, nullptr);
  return content_of(bio.get());
}

bool key_matches(const Certificate& certificate, const Key& key) {
  bool matches = X509_check_private_key(certificate.handle(), key.handle()) == 1;
  ERR_clear_error();
  return matches;
}

bool same_key(const Certificate& one, const Certificate& other) {
  EVP_PKEY *first = X509_get0_pubkey(one.handle()), *second = X509_get0_pubkey(other.handle());
  bool same = first && second && EVP_PKEY_eq(first, second) == 1;
  ERR_clear_error();
  return same;
}

}  // namespace fairlead::x509
