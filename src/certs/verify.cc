#include "certs/verify.h"

#include <algorithm>

#include "base/base64.h"

namespace fairlead::certs {
namespace {

using State = Finding::State;

std::string secret_text(const Spec& spec) { return fmt::format("Secret {}/{}", spec.ns, spec.secret); }

std::vector<x509::Certificate> read_given(const std::string& bundle) {
  auto read = x509::Certificate::parse_pem(bundle);
  if (!read) read = x509::Certificate::parse_pem(from_base64(bundle).value_or(""));
  return read ? *std::move(read) : std::vector<x509::Certificate>();
}

// Why the certificate does not verify with the roots; nothing if it does.
std::optional<std::string> distrust(const Material& stored, const std::vector<x509::Certificate>& roots,
                                    const Spec& spec, WallTime now) {
  Result<void> trusted = x509::verify(stored.chain, roots, spec.host(), now);
  return trusted ? std::nullopt : std::optional(trusted.error().message());
}

class PairCheck {
 public:
  PairCheck(const Material& stored, const Spec& spec, WallTime now) : stored_(stored), spec_(spec), now_(now) {}

  std::vector<Finding> run(const std::optional<std::string>& ca_bundle) {
    for (const std::string& problem : stored_.problems) wrong(problem);
    check_parts();
    if (!stored_.chain.empty()) check_certificate();
    if (ca_bundle && !stored_.chain.empty()) check_given(*ca_bundle);
    if (findings_.empty())
      findings_.push_back(
          {State::ok, secret_text(spec_), fmt::format("valid until {}", time_text(stored_.chain.front().not_after()))});
    return std::move(findings_);
  }

 private:
  void wrong(std::string text) { findings_.push_back({State::wrong, secret_text(spec_), std::move(text)}); }

  bool is_told(std::string_view key) const {
    return std::ranges::any_of(stored_.problems, [&](const std::string& one) { return one.starts_with(key); });
  }

  void check_parts() {
    if (stored_.chain.empty() && !is_told(kCertificateFile)) wrong("there is no tls.crt");
    if (!stored_.key && !is_told(kKeyFile)) wrong("there is no tls.key");
    if (stored_.bundle.empty() && !is_told(kCaFile)) wrong("there is no ca.crt");
  }

  void check_certificate() {
    const x509::Certificate& leaf = stored_.chain.front();
    if (stored_.key && !x509::key_matches(leaf, *stored_.key)) wrong("tls.key does not belong to tls.crt");
    std::optional<std::string> why =
        stored_.bundle.empty() ? std::nullopt : distrust(stored_, stored_.bundle, spec_, now_);
    if (why) return wrong(fmt::format("ca.crt does not verify tls.crt: {}", *why));
    if (leaf.not_after() - spec_.renew_before <= now_)
      wrong(fmt::format("tls.crt expires on {}, in less than {} days", time_text(leaf.not_after()),
                        spec_.renew_before / kDay));
  }

  void check_given(const std::string& ca_bundle) {
    std::vector<x509::Certificate> roots = read_given(ca_bundle);
    if (roots.empty()) return wrong("the given caBundle holds no certificate");
    if (std::optional<std::string> why = distrust(stored_, roots, spec_, now_))
      wrong(fmt::format("the given caBundle does not verify tls.crt: {}", *why));
    bool has_common = std::ranges::any_of(stored_.bundle, [&](const x509::Certificate& one) {
      return std::ranges::any_of(roots, [&](const x509::Certificate& root) { return x509::same_key(one, root); });
    });
    if (!stored_.bundle.empty() && !has_common) wrong("ca.crt and the given caBundle have no CA in common");
  }

  const Material& stored_;
  const Spec& spec_;
  WallTime now_;
  std::vector<Finding> findings_;
};

Finding served_finding(const Spec& spec, const Evidence& evidence) {
  std::string subject = fmt::format("Service {}/{}", spec.ns, spec.service);
  if (evidence.is_vacuous) return {State::unknown, subject, evidence.how};
  switch (evidence.verdict) {
    case Evidence::Verdict::proved: return {State::ok, subject, evidence.how};
    case Evidence::Verdict::refuted: return {State::wrong, subject, evidence.how};
    case Evidence::Verdict::unknown: break;
  }
  return {State::unknown, subject, fmt::format("what is served is not known: {}", evidence.how)};
}

}  // namespace

std::string_view name_of(Finding::State state) {
  switch (state) {
    case State::ok: return "ok";
    case State::wrong: return "wrong";
    case State::unknown: return "unknown";
  }
  return "ok";
}

std::string no_caller_text(const Spec& spec) {
  return fmt::format("nothing calls Service {}/{}: no webhook, CRD or APIService among those that were read names it",
                     spec.ns, spec.service);
}

bool is_healthy(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings, [](const Finding& one) { return one.state == State::wrong; });
}

std::vector<Finding> check_pair(const Material& stored, const Spec& spec, const std::optional<std::string>& ca_bundle,
                                WallTime now) {
  return PairCheck(stored, spec, now).run(ca_bundle);
}

Finding check_place(const Place& place, const Material& stored, const Spec& spec, WallTime now) {
  std::vector<x509::Certificate> roots = trusted_by(place);
  if (stored.chain.empty()) return {State::unknown, place.text(), "there is no certificate to verify"};
  if (roots.empty()) return {State::wrong, place.text(), "its caBundle holds no certificate"};
  if (std::optional<std::string> why = distrust(stored, roots, spec, now))
    return {State::wrong, place.text(), fmt::format("its caBundle does not verify the certificate: {}", *why)};
  return {State::ok, place.text(), "its caBundle verifies the certificate"};
}

Task<Result<std::vector<Finding>>> verify(kube::Client& client, Spec spec, Targets targets, Material stored,
                                          std::optional<std::string> ca_bundle, Proofs& proofs) {
  WallTime now = client.loop().clock().wall_now();
  std::vector<Finding> findings = check_pair(stored, spec, ca_bundle, now);
  CO_TRY_ASSIGN(TargetList list, co_await read_targets(client, std::move(targets)));
  admission::ServiceReference service{.ns = spec.ns, .name = spec.service, .path = {}};
  bool has_callers = false;
  for (const Target& target : list.targets)
    for (const Place& place : places_of(target.object, spec)) {
      findings.push_back(check_place(place, stored, spec, now));
      service = place.service;
      has_callers = true;
    }
  if (!has_callers)
    findings.push_back({list.unreadable.empty() ? State::wrong : State::unknown, "targets", no_caller_text(spec)});
  for (const std::string& text : list.absent) findings.push_back({State::wrong, "targets", text});
  for (const std::string& text : list.unreadable) findings.push_back({State::unknown, "targets", text});
  if (stored.bundle.empty()) co_return findings;
  CO_TRY_ASSIGN(Evidence served, co_await proofs.served(stored.bundle, service, Duration::zero()));
  findings.push_back(served_finding(spec, served));
  co_return findings;
}

}  // namespace fairlead::certs
