#include "webhook/server/readiness.h"

#include <span>

#include "base/base64.h"
#include "base/printable.h"

namespace fairlead::webhook {
namespace {

// So many handshakes with itself have to fail, one after another, before a server that was ready is not: one may fail
// because others had the processor.
constexpr int kFailedHandshakes = 3;

// Why an API server with that bundle would not trust the chain.
std::string flaw_of_caller(const Caller& caller, const std::vector<x509::Certificate>& chain, const std::string& host,
                           WallTime now) {
  if (caller.ca_bundle.empty()) return fmt::format("{} has no caBundle yet", caller.configuration);
  std::optional<std::string> pem = from_base64(caller.ca_bundle);
  auto roots = pem ? x509::Certificate::parse_pem(*pem) : fail(ErrorKind::invalid, "it is not base64");
  if (!roots)
    return fmt::format("the caBundle of {} cannot be read: {}", caller.configuration, roots.error().message());
  Result<void> verified = x509::verify(chain, *roots, host, now);
  if (verified) return "";
  return fmt::format("what is served does not verify against the caBundle of {}: {}", caller.configuration,
                     verified.error().message());
}

// What the handshake of the server with itself shows to be wrong.
std::string flaw_of_served(const Evidence& evidence, WallTime now) {
  if (!evidence.served) return fmt::format("the server cannot be reached: {}", evidence.served.error().message());
  if (!evidence.stored || !(evidence.served->front() == evidence.stored->chain.front()))
    return "another certificate is served than the one that is stored";
  std::string flaw = flaw_of_pair(*evidence.stored, evidence.host, now);
  return flaw.empty() ? "" : fmt::format("{}: {}", evidence.stored->origin, flaw);
}

}  // namespace

std::string flaw_of_pair(const certs::ServingPair& pair, const std::string& host, WallTime now) {
  // With nothing to verify against, only what the leaf says of itself counts.
  std::span<const x509::Certificate> roots = pair.ca.empty() ? std::span(pair.chain).first(1) : std::span(pair.ca);
  Result<void> verified = x509::verify(pair.chain, roots, host, now);
  return verified ? "" : verified.error().message();
}

bool is_doubtful(int failed_handshakes, bool was_ready) {
  return was_ready && failed_handshakes > 0 && failed_handshakes < kFailedHandshakes;
}

bool is_registered(const std::optional<Result<Callers>>& callers) {
  return !callers || (*callers && (*callers)->missing.empty());
}

Assessment assess(const Evidence& evidence, WallTime now) {
  Assessment assessment{.not_ready = flaw_of_served(evidence, now),
                        .is_registered = is_registered(evidence.callers),
                        .is_reachable = evidence.served.has_value(),
                        .warnings = {}};
  if (!assessment.ready() || !evidence.callers) return assessment;
  if (!*evidence.callers) {
    assessment.not_ready =
        fmt::format("the webhook configurations cannot be read: {}", evidence.callers->error().message());
    return assessment;
  }
  const Callers& callers = **evidence.callers;
  if (!callers.missing.empty()) assessment.not_ready = callers.missing.front();
  for (const Caller& caller : callers.found) {
    std::string flaw = printable_line(flaw_of_caller(caller, *evidence.served, evidence.host, now));
    if (flaw.empty()) continue;
    if (!caller.is_own) assessment.warnings.push_back(std::move(flaw));
    else if (assessment.not_ready.empty()) assessment.not_ready = std::move(flaw);
  }
  return assessment;
}

}  // namespace fairlead::webhook
