#include "diff/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "diff/diff.h"
#include "diff/yaml_text.h"

namespace fairlead::diff {

std::string digest_of(const Json& object, std::string_view key) {
  if (object.is_null()) return "none";
  std::string text = yaml_text(visible(object));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), int(key.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       digest, &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace fairlead::diff
