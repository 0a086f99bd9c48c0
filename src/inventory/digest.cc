#include "inventory/digest.h"

#include <openssl/evp.h>

namespace fairlead::inventory {

std::string sha256(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return std::string(digest, digest + size);
}

}  // namespace fairlead::inventory
