#include "doctor/internal/certificates.h"

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/ca_bundles.h"
#include "doctor/internal/serving_secrets.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

// A Secret with a certificate, and what is known of its key. The key itself is not kept.
struct Serving {
  object::Key secret;
  std::vector<x509::Certificate> chain;
  bool key_matches = true;
};

std::optional<std::string> value_of(const Json& secret, std::string_view key) {
  const std::string* value = secret["data"][key].if_string();
  return value ? from_base64(*value) : std::nullopt;
}

std::optional<Serving> read_serving(const Json& secret) {
  std::optional<std::string> pem = value_of(secret, "tls.crt");
  if (!pem) return std::nullopt;
  Result<std::vector<x509::Certificate>> chain = x509::Certificate::parse_pem(*pem);
  if (!chain) return std::nullopt;
  Serving serving{.secret = key_of(secret), .chain = *std::move(chain)};
  if (std::optional<std::string> key_pem = value_of(secret, "tls.key"))
    if (Result<x509::Key> key = x509::Key::parse_pem(*key_pem))
      serving.key_matches = x509::key_matches(serving.chain.front(), *key);
  return serving;
}

// The Secret that a backend serves with: the one whose certificate has its name, or the only one with a certificate.
std::optional<Serving> serving_of(const Snapshot& snapshot, const Backend& backend) {
  std::vector<Serving> candidates;
  for (const object::Key& key : mounted_secrets(snapshot, *backend.service))
    if (const Json* secret = snapshot.find("Secret", key.ns, key.name))
      if (std::optional<Serving> serving = read_serving(*secret)) candidates.push_back(*std::move(serving));
  for (Serving& one : candidates)
    if (one.chain.front().is_valid_for(backend.host())) return std::move(one);
  if (candidates.size() == 1) return std::move(candidates.front());
  return std::nullopt;
}

class Examination {
 public:
  Examination(const Snapshot& snapshot, const Backend& backend, const Serving& serving, Findings& findings)
      : snapshot_(snapshot), backend_(backend), serving_(serving), findings_(findings) {}

  // One certificate has one trouble at a time: the first of these hides the others.
  void run() {
    const x509::Certificate& leaf = serving_.chain.front();
    if (!serving_.key_matches)
      return add("certificate-key-mismatch", "the key in the Secret does not belong to its certificate");
    if (leaf.not_after() <= snapshot_.now)
      return add("certificate-expired", fmt::format("it expired on {}", day_of(leaf.not_after())));
    if (leaf.not_before() > snapshot_.now)
      return add("certificate-not-yet-valid", fmt::format("it is valid only from {} on", second_of(leaf.not_before())));
    if (!leaf.is_valid_for(backend_.host()))
      return add("certificate-wrong-name", fmt::format("it is for {}, not for {}", names(leaf), backend_.host()));
    if (is_untrusted())
      return add("certificate-untrusted", "its caBundle does not verify it: one of the two is out of date");
    if (leaf.not_after() > snapshot_.now + kExpiresSoon) return;
    add("certificate-expiring", fmt::format("it expires on {}", day_of(leaf.not_after())), Severity::warning);
  }

 private:
  static std::string names(const x509::Certificate& leaf) {
    std::vector<std::string> names = leaf.dns_names();
    return names.empty() ? "no DNS name" : listed(names);
  }

  // Not because the caBundle has expired, which is a finding of its own.
  bool is_untrusted() const {
    std::optional<std::vector<x509::Certificate>> roots = roots_of(backend_);
    return roots && end_of(*roots) > snapshot_.now &&
           !x509::verify(serving_.chain, *roots, backend_.host(), snapshot_.now);
  }

  void add(std::string_view code, std::string cause, std::optional<Severity> severity = {}) {
    Severity usual = backend_.is_required ? Severity::error : Severity::warning;
    findings_.push_back(
        {.code = code,
         .severity = severity.value_or(usual),
         .object = key_of(*backend_.owner),
         .what = severity ? fmt::format("the certificate of {} expires soon", backend_.text)
                          : fmt::format("{} cannot be trusted", backend_.text),
         .causes = {fmt::format("its certificate is in {}", serving_.secret.text()), std::move(cause)},
         .next = fmt::format("kubectl -n {} get secret {} -o jsonpath='{{.data.tls\\.crt}}' | base64 -d | "
                             "openssl x509 -noout -text",
                             serving_.secret.ns, serving_.secret.name),
         .related = {serving_.secret}});
  }

  const Snapshot& snapshot_;
  const Backend& backend_;
  const Serving& serving_;
  Findings& findings_;
};

}  // namespace

void check_certificates(const Snapshot& snapshot, Findings& findings) {
  // Webhooks of one configuration behind one Service have the same certificate: it is told once.
  std::set<std::pair<const Json*, std::string>> told;
  for (const Backend& backend : backends_of(snapshot)) {
    if (!backend.service || backend.insecure) continue;
    std::optional<Serving> serving = serving_of(snapshot, backend);
    if (!serving || !told.emplace(backend.owner, backend.host()).second) continue;
    Examination(snapshot, backend, *serving, findings).run();
  }
}

}  // namespace fairlead::doctor
