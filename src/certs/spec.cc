#include "certs/spec.h"

#include <algorithm>
#include <cstdint>

#include "base/duration_text.h"
#include "object/name.h"

namespace fairlead::certs {
namespace {

// A subject's common name must have less than 64 bytes.
constexpr size_t kMaxName = 63;

uint32_t fnv1a(std::string_view text) {
  uint32_t hash = 2166136261;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash;
}

}  // namespace

std::vector<std::string> Spec::dns_names() const {
  std::string in_namespace = service + "." + ns;
  return {service, in_namespace, host(), host() + "." + cluster_domain};
}

std::string Spec::ca_name() const {
  std::string name = host() + " CA";
  if (name.size() <= kMaxName) return name;
  std::string end = fmt::format("~{:08x} CA", fnv1a(host()));
  return name.substr(0, kMaxName - end.size()) + end;
}

Result<void> check(const Spec& spec) {
  TRY(object::check_namespace(spec.ns));
  TRY(object::check_dns_label("the name of the Service", spec.service));
  // The Secret of the CA has a longer name.
  TRY(object::check_dns_name("the name of the Secret", spec.secret));
  TRY(object::check_dns_name("the name of the Secret of the CA", spec.ca_secret()));
  if (spec.cluster_domain.empty()) return fail(ErrorKind::invalid, "the cluster domain is empty");
  TRY(object::check_dns_name("the cluster domain", spec.cluster_domain));
  if (spec.host().size() + 1 + spec.cluster_domain.size() > 253)
    return fail(ErrorKind::invalid, "{}.{} is too long for a DNS name", spec.host(), spec.cluster_domain);
  if (spec.validity < std::chrono::minutes(1))
    return fail(ErrorKind::invalid, "a validity of {} is too short: give a minute at least", short_text(spec.validity));
  if (spec.renew_before < Duration::zero() || spec.renew_before >= spec.validity)
    return fail(ErrorKind::invalid, "certificates that are valid for {} cannot be renewed {} before their end",
                short_text(spec.validity), short_text(spec.renew_before));
  return {};
}

Duration default_renew_before(Duration validity) { return std::min(Duration(30 * kDay), validity / 3); }

}  // namespace fairlead::certs
