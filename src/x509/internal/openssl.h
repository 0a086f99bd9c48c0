// What the files of this room share about OpenSSL: owned handles, and its error queue. Not for other rooms.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <limits>
#include <memory>
#include <string>

#include "x509/x509.h"

namespace fairlead::x509 {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;
using OwnedBio = Owned<BIO, BIO_free_all>;

// Turns handles of our own into keys and certificates.
struct Adopt {
  static Key key(EVP_PKEY* handle) { return Key({handle, EVP_PKEY_free}); }
  static Certificate certificate(X509* handle) { return Certificate({handle, X509_free}); }
};

// The first error in OpenSSL's queue, in its own words, and the queue emptied: what is left in it would be taken for an
// error of whatever TLS connection this thread looks at next. Its words are constants and hold nothing of the input.
inline std::string take_openssl_error() {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return reason ? reason : "unknown error";
}

// For reading only; the text must outlive it.
inline OwnedBio bio_over(std::string_view text) { return OwnedBio(BIO_new_mem_buf(text.data(), int(text.size()))); }

inline std::string content_of(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

// A system's whole set of roots has some 200 KiB.
inline constexpr size_t kMaxPemBytes = size_t{8} << 20;

}  // namespace fairlead::x509
