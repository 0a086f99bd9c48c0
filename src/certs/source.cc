#include "certs/source.h"

namespace fairlead::certs {

Result<ServingPair> read_pair(std::string_view certificate_pem, std::string_view key_pem, std::string_view ca_pem,
                              std::string origin) {
  auto chain = x509::Certificate::parse_pem(certificate_pem);
  if (!chain) return fail(std::move(chain).error().in(fmt::format("tls.crt of {} cannot be used", origin)));
  auto key = x509::Key::parse_pem(key_pem);
  if (!key) return fail(std::move(key).error().in(fmt::format("tls.key of {} cannot be used", origin)));
  if (!x509::key_matches(chain->front(), *key))
    return fail(ErrorKind::invalid, "tls.key of {} does not belong to tls.crt", origin);
  ServingPair pair{.chain = *std::move(chain), .key = *std::move(key), .ca = {}, .origin = std::move(origin)};
  if (ca_pem.empty()) return pair;
  auto ca = x509::Certificate::parse_pem(ca_pem);
  if (!ca) return fail(std::move(ca).error().in(fmt::format("ca.crt of {} cannot be used", pair.origin)));
  pair.ca = *std::move(ca);
  return pair;
}

}  // namespace fairlead::certs
