#include "certs/show.h"

#include <algorithm>

#include "base/printable.h"

namespace fairlead::certs {
namespace {

constexpr int kSchemaVersion = 1;

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<13}{}\n", label, printable_line(text));
}

std::string name_text(const x509::Name& name) {
  std::vector<std::string> parts;
  if (!name.common_name.empty()) parts.push_back(name.common_name);
  for (const std::string& organization : name.organizations) parts.push_back("O=" + organization);
  return parts.empty() ? "(no name)" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string certificate_text(const x509::Certificate& certificate) {
  std::string text = line("subject", name_text(certificate.subject()));
  std::vector<std::string> names = certificate.dns_names();
  std::ranges::move(certificate.ip_addresses(), std::back_inserter(names));
  if (!names.empty()) text += line("names", fmt::format("{}", fmt::join(names, ", ")));
  text += line("issuer", name_text(certificate.issuer()));
  text +=
      line("valid", fmt::format("{} to {}", time_text(certificate.not_before()), time_text(certificate.not_after())));
  text += line("serial", certificate.serial());
  return text + line("fingerprint", "sha256:" + certificate.sha256_fingerprint());
}

Json json_of(const x509::Certificate& certificate) {
  std::vector<std::string> names = certificate.dns_names();
  std::ranges::move(certificate.ip_addresses(), std::back_inserter(names));
  return Json::Object{
      {"subject", name_text(certificate.subject())},      {"issuer", name_text(certificate.issuer())},
      {"names", Json::Array(names.begin(), names.end())}, {"notBefore", time_text(certificate.not_before())},
      {"notAfter", time_text(certificate.not_after())},   {"serial", certificate.serial()},
      {"sha256", certificate.sha256_fingerprint()}};
}

Json json_of(const Injection& one) {
  return Json::Object{{"kind", one.place.object.kind},
                      {"name", one.place.object.name},
                      {"webhook", one.place.hook},
                      {"state", name_of(one.how)},
                      {"why", one.why}};
}

Json json_of(const Judgement& next) {
  Json json = Json::Object{{"step", name_of(next.step)}, {"text", text_of(next.step)}, {"reason", next.reason}};
  if (next.due) json.make("due") = time_text(*next.due);
  return json;
}

bool is_signing(const Material& material, const x509::Certificate& ca) {
  return material.ca && x509::same_key(material.ca->certificate, ca);
}

}  // namespace

std::string certificates_text(const Summary& summary) {
  const Material& material = summary.material;
  const Spec& spec = summary.spec;
  std::string text = fmt::format("certificate in Secret {}/{}\n", spec.ns, spec.secret);
  for (const std::string& problem : material.problems) text += line("problem", problem);
  if (material.chain.empty()) text += line("subject", "there is no certificate");
  else text += certificate_text(material.chain.front());
  for (const x509::Certificate& ca : material.bundle) {
    text += fmt::format("CA in Secret {}/{}\n", spec.ns, spec.secret) + certificate_text(ca);
    text += line("key",
                 is_signing(material, ca) ? fmt::format("in Secret {}/{}", spec.ns, spec.ca_secret()) : "not stored");
  }
  text += fmt::format("next: {}\n", text_of(summary.next.step));
  if (!summary.next.reason.empty()) text += line("because", summary.next.reason);
  if (summary.next.due) text += line("renewed from", time_text(*summary.next.due));
  return text;
}

std::string places_text(const std::vector<Injection>& places, bool dry_run) {
  std::string text;
  for (const Injection& one : places) {
    std::string state(name_of(one.how));
    if (one.how == Injection::How::injected && dry_run) state = "would be injected";
    text +=
        printable_line(fmt::format("{}: {}{}", one.place.text(), state, one.why.empty() ? "" : ": " + one.why)) + "\n";
  }
  return text;
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& one : findings)
    text += printable_line(fmt::format("{:<8} {}: {}", name_of(one.state), one.subject, one.text)) + "\n";
  auto count = [&](Finding::State state) { return std::ranges::count(findings, state, &Finding::state); };
  auto wrong = count(Finding::State::wrong), unknown = count(Finding::State::unknown);
  if (wrong > 0) return text + fmt::format("{} of {} checks failed\n", wrong, findings.size());
  if (unknown == 0) return text + "everything fits together\n";
  return text + fmt::format("nothing is wrong, and {} of {} checks could not be made\n", unknown, findings.size());
}

Json json_of(const Summary& summary) {
  const Material& material = summary.material;
  Json json = Json::Object{{"schemaVersion", kSchemaVersion},
                           {"namespace", summary.spec.ns},
                           {"secret", summary.spec.secret},
                           {"service", summary.spec.service}};
  json.make("certificate") = material.chain.empty() ? Json() : json_of(material.chain.front());
  Json::Array authorities, taken, places, findings;
  for (const x509::Certificate& ca : material.bundle) {
    Json one = json_of(ca);
    one.make("hasKey") = is_signing(material, ca);
    authorities.push_back(std::move(one));
  }
  for (const Taken& one : summary.taken)
    taken.push_back(Json::Object{{"step", one.healed ? "heal" : name_of(one.step)}, {"reason", one.reason}});
  for (const Injection& one : summary.places) places.push_back(json_of(one));
  for (const Finding& one : summary.findings)
    findings.push_back(Json::Object{{"state", name_of(one.state)}, {"subject", one.subject}, {"text", one.text}});
  json.make("cas") = std::move(authorities);
  json.make("problems") = Json::Array(material.problems.begin(), material.problems.end());
  json.make("next") = json_of(summary.next);
  json.make("taken") = std::move(taken);
  json.make("evidence") = Json::Array(summary.evidence.begin(), summary.evidence.end());
  json.make("places") = std::move(places);
  json.make("findings") = std::move(findings);
  json.make("notes") = Json::Array(summary.notes.begin(), summary.notes.end());
  return json;
}

}  // namespace fairlead::certs
