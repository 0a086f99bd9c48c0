#include "kube/config/internal/client_certificate.h"

#include <fmt/chrono.h>

#include "x509/x509.h"

namespace fairlead::kube {
namespace {

std::string text_of(WallTime time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", std::chrono::time_point_cast<std::chrono::seconds>(time));
}

}  // namespace

Result<void> check_client_certificate(std::string_view owner, std::string_view certificate_pem,
                                      std::string_view key_pem, WallTime now) {
  Result<std::vector<x509::Certificate>> chain = x509::Certificate::parse_pem(certificate_pem);
  if (!chain)
    return fail(std::move(chain).error().in(fmt::format("the client certificate of {} cannot be read", owner)));
  Result<x509::Key> key = x509::Key::parse_pem(key_pem);
  if (!key) return fail(std::move(key).error().in(fmt::format("the client key of {} cannot be read", owner)));
  const x509::Certificate& leaf = chain->front();
  if (!x509::key_matches(leaf, *key))
    return fail(ErrorKind::invalid, "the client key of {} does not belong to its client certificate", owner);
  if (now > leaf.not_after())
    return fail(
        Error(ErrorKind::denied, fmt::format("the client certificate of {} has expired", owner))
            .because(fmt::format("it was valid until {}, and it is {} now", text_of(leaf.not_after()), text_of(now)))
            .next("get a new kubeconfig for this cluster"));
  if (now < leaf.not_before())
    return fail(
        Error(ErrorKind::denied, fmt::format("the client certificate of {} is not valid yet", owner))
            .because(fmt::format("it is valid from {}, and it is {} now", text_of(leaf.not_before()), text_of(now)))
            .next("check the clock of this machine"));
  return {};
}

}  // namespace fairlead::kube
