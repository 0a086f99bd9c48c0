#include "certs/judge.h"

#include <algorithm>

#include "fields/managed_fields.h"

namespace fairlead::certs {
namespace {

constexpr Duration kSkew = std::chrono::hours(1);

// The time at which to verify a chain: now, or the beginning of its certificates if that is near.
WallTime when_to_verify(const std::vector<x509::Certificate>& chain, const std::vector<x509::Certificate>& roots,
                        WallTime now) {
  WallTime at = now;
  for (const auto* certificates : {&chain, &roots})
    for (const x509::Certificate& certificate : *certificates)
      if (certificate.not_before() <= now + kSkew) at = std::max(at, certificate.not_before());
  return at;
}

bool verifies(const Material& stored, const x509::Certificate& root, const Spec& spec, WallTime now) {
  std::vector<x509::Certificate> roots{root};
  return x509::verify(stored.chain, roots, spec.host(), when_to_verify(stored.chain, roots, now)).has_value();
}

// The stored CA has signed the leaf, and may sign another one.
bool signs(const Material& stored, const Spec& spec, WallTime now) {
  return stored.ca && verifies(stored, stored.ca->certificate, spec, now);
}

bool is_usable(const std::optional<x509::KeyPair>& ca, WallTime now) {
  return ca && ca->certificate.not_after() > now && ca->certificate.not_before() <= now + kSkew;
}

// The certificate in ca.crt that leads to the leaf, the one that lasts longest if there are several.
std::optional<x509::Certificate> issuer_of(const Material& stored, const Spec& spec, WallTime now) {
  std::optional<x509::Certificate> best;
  for (const x509::Certificate& root : stored.bundle)
    if (verifies(stored, root, spec, now) && (!best || root.not_after() > best->not_after())) best = root;
  return best;
}

std::optional<std::string> missing_name(const Material& stored, const Spec& spec) {
  for (const std::string& name : spec.dns_names())
    if (!stored.chain.front().is_valid_for(name)) return name;
  return std::nullopt;
}

// What a pair needs that works now. `signs`: its CA can sign.
Judgement judge_working(const Material& stored, const Spec& spec, WallTime now, bool signs) {
  const x509::Certificate& leaf = stored.chain.front();
  std::optional<x509::Certificate> issuer = issuer_of(stored, spec, now);
  WallTime issuer_end = issuer ? issuer->not_after() : leaf.not_after();
  WallTime due = std::min(leaf.not_after(), issuer_end) - spec.renew_before;
  auto needs = [&](Step step, std::string reason) {
    if (!signs) reason += "; the key of its CA is not stored, so a new CA is needed";
    return Judgement{signs ? step : Step::begin_rotation, std::move(reason), due};
  };
  if (std::optional<std::string> name = missing_name(stored, spec))
    return needs(Step::renew_leaf, fmt::format("the certificate is not valid for {}", *name));
  if (leaf.not_after() > issuer_end)
    return needs(Step::renew_ca, fmt::format("the CA ends on {}, before the certificate", time_text(issuer_end)));
  if (issuer_end - spec.renew_before <= now)
    return needs(Step::renew_ca, fmt::format("the CA expires on {}", time_text(issuer_end)));
  if (due <= now)
    return needs(Step::renew_leaf, fmt::format("the certificate expires on {}", time_text(leaf.not_after())));
  return {Step::keep, fmt::format("the certificate is valid until {}", time_text(leaf.not_after())), due};
}

Judgement judge_rotation(const Material& stored, bool signs) {
  if (signs) return {Step::retire, "the new certificate is stored, and the old CA is still trusted", {}};
  if (stored.trusts_ca())
    return {Step::switch_leaf, "ca.crt has the new CA, and the certificate is still of the old one", {}};
  return {Step::publish, "a new CA was made, and ca.crt does not have it yet", {}};
}

Result<void> make_leaf(Material& material, const Spec& spec, WallTime now) {
  x509::LeafSpec leaf{.dns_names = spec.dns_names(), .validity = spec.validity};
  // A subject holds 64 bytes; names that are longer are alternative names alone.
  if (spec.host().size() < 64) leaf.common_name = spec.host();
  TRY_ASSIGN(x509::KeyPair made, x509::make_leaf(*material.ca, leaf, now));
  material.chain = {std::move(made.certificate)};
  material.key = std::move(made.key);
  material.problems.clear();
  return {};
}

Result<Change> make_all(const Material& stored, const Spec& spec, WallTime now) {
  Change change{.after = stored, .writes_ca = false, .writes_serving = true};
  if (!is_usable(stored.ca, now) || stored.ca->certificate.not_after() - spec.renew_before <= now) {
    TRY_ASSIGN(change.after.ca, x509::make_ca(spec.ca_name(), spec.validity, now));
    change.writes_ca = true;
  }
  change.writes_ca = change.writes_ca || stored.rotating;
  change.after.rotating = false;
  change.after.bundle = {change.after.ca->certificate};
  TRY(make_leaf(change.after, spec, now));
  return change;
}

// The CA takes the place of its earlier certificates.
void trust_ca(Material& material) {
  const x509::Certificate& ca = material.ca->certificate;
  std::erase_if(material.bundle, [&](const x509::Certificate& one) { return x509::same_key(one, ca); });
  material.bundle.insert(material.bundle.begin(), ca);
}

}  // namespace

std::string time_text(WallTime time) { return fields::dump_time(std::chrono::floor<std::chrono::seconds>(time)); }

std::string_view name_of(Step step) {
  switch (step) {
    case Step::keep: return "keep";
    case Step::create: return "create";
    case Step::replace: return "replace";
    case Step::renew_leaf: return "renew-leaf";
    case Step::renew_ca: return "renew-ca";
    case Step::begin_rotation: return "begin-rotation";
    case Step::publish: return "publish";
    case Step::switch_leaf: return "switch-leaf";
    case Step::retire: return "retire";
  }
  return "keep";
}

std::string_view text_of(Step step) {
  switch (step) {
    case Step::keep: return "nothing";
    case Step::create: return "make a CA and a certificate";
    case Step::replace: return "replace the CA and the certificate";
    case Step::renew_leaf: return "make a new certificate with the same CA";
    case Step::renew_ca: return "renew the CA with its key, and the certificate";
    case Step::begin_rotation: return "make a CA with a new key, in two steps";
    case Step::publish: return "trust the new CA beside the old one";
    case Step::switch_leaf: return "make a certificate with the new CA";
    case Step::retire: return "remove the old CA";
  }
  return "nothing";
}

bool is_immediate(Step step) {
  return step == Step::create || step == Step::replace || step == Step::renew_leaf || step == Step::renew_ca;
}

std::optional<std::string> flaw_of(const Material& stored, const std::vector<x509::Certificate>& roots,
                                   const Spec& spec, WallTime now) {
  if (!stored.problems.empty()) return stored.problems.front();
  if (stored.chain.empty()) return "there is no tls.crt";
  if (!stored.key) return "there is no tls.key";
  if (!x509::key_matches(stored.chain.front(), *stored.key)) return "tls.key does not belong to tls.crt";
  if (roots.empty()) return "there is no ca.crt";
  Result<void> trusted = x509::verify(stored.chain, roots, spec.host(), when_to_verify(stored.chain, roots, now));
  if (!trusted) return trusted.error().message();
  return std::nullopt;
}

Judgement judge(const Material& stored, const Spec& spec, WallTime now) {
  if (stored.is_empty()) return {Step::create, "no certificate is stored", {}};
  if (std::optional<std::string> flaw = flaw_of(stored, stored.bundle, spec, now))
    return {Step::replace, *std::move(flaw), {}};
  bool can_sign = signs(stored, spec, now);
  if (!stored.rotating) return judge_working(stored, spec, now, can_sign);
  // A new CA that has expired while nobody finished the rotation is of no use to anybody.
  if (!is_usable(stored.ca, now)) return judge_working(stored, spec, now, false);
  return judge_rotation(stored, can_sign);
}

Result<Change> take_step(Step step, const Material& stored, const Spec& spec, WallTime now) {
  Change change{.after = stored, .writes_ca = false, .writes_serving = true};
  if (step == Step::create || step == Step::replace) return make_all(stored, spec, now);
  if (step == Step::keep) return Change{.after = stored};
  if (step == Step::begin_rotation) {
    TRY_ASSIGN(change.after.ca, x509::make_ca(spec.ca_name(), spec.validity, now));
    change.after.rotating = true;
    change.writes_ca = true;
    change.writes_serving = false;
    return change;
  }
  if (!stored.ca) return fail(ErrorKind::internal, "{} needs the key of a CA", name_of(step));
  if (step == Step::renew_ca) {
    TRY_ASSIGN(change.after.ca, x509::renew_ca(*stored.ca, spec.validity, now));
    change.writes_ca = true;
  }
  if (step == Step::retire) {
    change.after.bundle.clear();
    change.after.rotating = false;
    change.writes_ca = true;
    change.ca_last = true;
  }
  trust_ca(change.after);
  if (step == Step::renew_ca || step == Step::renew_leaf || step == Step::switch_leaf)
    TRY(make_leaf(change.after, spec, now));
  return change;
}

std::optional<Change> heal(const Material& stored, const Material& memory, const Spec& spec, WallTime now) {
  Change change{.after = stored};
  // A stored pair that is broken is no reason to lose the CA: with it, the next pair is one that clients trust.
  if (!stored.ca && is_usable(memory.ca, now)) {
    change.after.ca = memory.ca;
    change.after.rotating = memory.rotating;
    change.writes_ca = true;
  }
  if (stored.is_empty() && !flaw_of(memory, memory.bundle, spec, now)) {
    change.after.bundle = memory.bundle;
    change.after.chain = memory.chain;
    change.after.key = memory.key;
    change.writes_serving = true;
  }
  if (!change.writes_ca && !change.writes_serving) return std::nullopt;
  return change;
}

}  // namespace fairlead::certs
