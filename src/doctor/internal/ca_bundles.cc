#include "doctor/internal/ca_bundles.h"

#include <algorithm>
#include <map>

#include "admission/client_config.h"
#include "base/base64.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/certificates.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

constexpr std::string_view kInjectFrom = "cert-manager.io/inject-ca-from";
constexpr std::string_view kInjectFromSecret = "cert-manager.io/inject-ca-from-secret";

Severity severity_of(const Backend& backend) { return backend.is_required ? Severity::error : Severity::warning; }

Finding finding_for(std::string_view code, const Backend& backend, std::string problem) {
  return {.code = code,
          .severity = severity_of(backend),
          .object = key_of(*backend.owner),
          .what = fmt::format("{} cannot be trusted: {}", backend.text, problem),
          .next = get_command(key_of(*backend.owner))};
}

bool has_injector(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.all("Deployment"), [](const Json& deployment) {
    return name_of(deployment).contains("cainjector") && deployment["status"]["readyReplicas"].int_or(0) > 0;
  });
}

// Why the CA that an annotation asks for was not injected; empty if that is not known.
std::string missing_injection(const Snapshot& snapshot, const Json& owner) {
  std::string_view certificate = owner["metadata"]["annotations"][kInjectFrom].string_or("");
  if (certificate.empty() && !owner["metadata"]["annotations"].contains(kInjectFromSecret)) return {};
  size_t slash = certificate.find('/');
  if (!certificate.empty() && slash == std::string_view::npos)
    return fmt::format("the annotation {} is not NAMESPACE/NAME: {}", kInjectFrom, certificate);
  bool is_known = snapshot.sees_all("Certificate") && !certificate.empty();
  if (is_known && !snapshot.find("Certificate", certificate.substr(0, slash), certificate.substr(slash + 1)))
    return fmt::format("Certificate {}, which the annotation {} names, does not exist", certificate, kInjectFrom);
  if (snapshot.sees_all("Deployment") && !has_injector(snapshot))
    return "no Deployment of cert-manager's cainjector is ready, which should inject it";
  return "cert-manager's cainjector has not injected it";
}

// Nobody fills in the caBundle of a webhook whose Service is missing: that is the cause, and has a finding of its own.
bool is_abandoned(const Snapshot& snapshot, const Backend& backend) {
  if (!backend.service) return false;
  std::optional<Outage> outage = outage_of(snapshot, *backend.service);
  return outage && (outage->kind == Outage::Kind::no_namespace || outage->kind == Outage::Kind::no_service);
}

void check_missing(const Snapshot& snapshot, const Backend& backend, Findings& findings) {
  if (is_abandoned(snapshot, backend)) return;
  std::string cause = missing_injection(snapshot, *backend.owner);
  Finding finding = finding_for("ca-bundle-empty", backend, "its caBundle has no certificate");
  if (cause.empty())
    finding.causes = {"the API server then asks its own roots, which do not know the certificate of a Service"};
  if (!cause.empty()) {
    finding.code = "ca-injection-missing";
    finding.causes = {std::move(cause)};
    finding.next = "kubectl get deployments -A | grep cainjector";
  }
  findings.push_back(std::move(finding));
}

void check_dates(const Snapshot& snapshot, const Backend& backend, const std::vector<x509::Certificate>& roots,
                 Findings& findings) {
  WallTime end = end_of(roots);
  if (end <= snapshot.now)
    return findings.push_back(
        finding_for("ca-bundle-expired", backend,
                    fmt::format("every certificate in its caBundle has expired, the last on {}", day_of(end))));
  if (end > snapshot.now + kExpiresSoon) return;
  Finding finding = finding_for("ca-bundle-expiring", backend, "");
  finding.severity = Severity::warning;
  finding.what = fmt::format("the caBundle of {} expires on {}", backend.text, day_of(end));
  findings.push_back(std::move(finding));
}

bool share_a_certificate(const std::vector<x509::Certificate>& a, const std::vector<x509::Certificate>& b) {
  return std::ranges::any_of(a, [&](const x509::Certificate& one) { return std::ranges::find(b, one) != b.end(); });
}

// Webhooks behind one Service are served with one certificate, so one caBundle must fit all of them.
class CaComparison {
 public:
  void add(const Backend& backend, std::vector<x509::Certificate> roots, Findings& findings) {
    auto [first, is_new] = firsts_.try_emplace(backend.host(), First{.backend = backend, .roots = roots});
    if (is_new || first->second.told || share_a_certificate(first->second.roots, roots)) return;
    first->second.told = true;
    findings.push_back(
        {.code = "ca-bundle-differs",
         .severity = Severity::warning,
         .object = key_of(*backend.owner),
         .what = fmt::format("{} and {} have different caBundles for one service", first->second.backend.text,
                             backend.text),
         .causes = {fmt::format("service {}/{} serves both, and the bundles have no certificate in common",
                                backend.service->ns, backend.service->name)},
         .next = get_command(key_of(*backend.owner)),
         .related = {key_of(*first->second.backend.owner)}});
  }

 private:
  struct First {
    Backend backend;
    std::vector<x509::Certificate> roots;
    bool told = false;
  };
  std::map<std::string, First> firsts_;
};

}  // namespace

std::optional<std::vector<x509::Certificate>> roots_of(const Backend& backend) {
  std::optional<std::string> pem = from_base64(backend.ca_bundle);
  if (!pem) return std::nullopt;
  Result<std::vector<x509::Certificate>> roots = x509::Certificate::parse_pem(*pem);
  if (!roots) return std::nullopt;
  return *std::move(roots);
}

WallTime end_of(const std::vector<x509::Certificate>& roots) {
  return std::ranges::max_element(roots, {}, &x509::Certificate::not_after)->not_after();
}

void check_ca_bundles(const Snapshot& snapshot, Findings& findings) {
  CaComparison comparison;
  for (const Backend& backend : backends_of(snapshot)) {
    if (backend.insecure || (!backend.service && backend.ca_bundle.empty())) continue;
    if (!admission::has_certificate(backend.ca_bundle)) {
      check_missing(snapshot, backend, findings);
      continue;
    }
    std::optional<std::vector<x509::Certificate>> roots = roots_of(backend);
    if (!roots) {
      findings.push_back(
          finding_for("ca-bundle-invalid", backend, "its caBundle has a certificate that cannot be read"));
      continue;
    }
    check_dates(snapshot, backend, *roots, findings);
    if (backend.service) comparison.add(backend, *std::move(roots), findings);
  }
}

}  // namespace fairlead::doctor
