// CRDs, their conversion webhooks, and APIServices.
#include <algorithm>

#include "admission/client_config.h"
#include "base/plain_text.h"
#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"
#include "object/condition.h"
#include "object/definition.h"

namespace fairlead::doctor {
namespace {

constexpr Duration kEstablishingTakes = std::chrono::minutes(1);

std::string message_of(const Json& condition) {
  return plain_text(
      fmt::format("{}: {}", condition["reason"].string_or("no reason is given"), condition["message"].string_or("")),
      kMessageBytes);
}

void check_conversion(const Snapshot& snapshot, const Backend& backend, Findings& findings) {
  object::Key key = key_of(*backend.owner);
  std::optional<Outage> outage = backend.service ? outage_of(snapshot, *backend.service) : std::nullopt;
  auto failed = snapshot.failed_conversions.find(key.name);
  bool has_failed = failed != snapshot.failed_conversions.end();
  if (!outage && !has_failed) return;
  if (!outage)
    outage = Outage{.causes = {plain_text(failed->second, kMessageBytes)},
                    .next = fmt::format("fairlead wait crd/{} --for functional --layers --timeout 30s", key.name),
                    .related = {}};
  findings.push_back({.code = "conversion-dead",
                      .severity = Severity::error,
                      .object = key,
                      .what = fmt::format("{} {}", backend.text, has_failed ? "does not work" : "cannot be called"),
                      .causes = std::move(outage->causes),
                      .blocks = fmt::format("reading {} in versions other than the stored one, garbage collection, and "
                                            "the deletion of namespaces",
                                            key.name),
                      .next = outage->next.empty() ? get_command(key) : std::move(outage->next),
                      .related = std::move(outage->related)});
}

void check_names(const Json& definition, Findings& findings) {
  const Json& names = object::condition(definition, "NamesAccepted");
  if (!object::has_status(names, "False")) return;
  object::Key key = key_of(definition);
  findings.push_back({.code = "crd-names-conflict",
                      .severity = Severity::error,
                      .object = key,
                      .what = fmt::format("{} is not served: its names are in use", key.text()),
                      .causes = {message_of(names)},
                      .next = describe_command(key)});
}

// A CRD is established within seconds. Names that are in use are another finding.
void check_established(const Snapshot& snapshot, const Json& definition, Findings& findings) {
  const Json& established = object::condition(definition, "Established");
  bool has_names = object::has_status(object::condition(definition, "NamesAccepted"), "True");
  if (!object::has_status(established, "False") || !has_names) return;
  std::optional<WallTime> since = parse_timestamp(established["lastTransitionTime"].string_or(""));
  if (since && *since + kEstablishingTakes > snapshot.now) return;
  object::Key key = key_of(definition);
  findings.push_back({.code = "crd-not-established",
                      .severity = Severity::error,
                      .object = key,
                      .what = fmt::format("{} is not served: it is not established", key.text()),
                      .causes = {message_of(established)},
                      .blocks = "every object of its kind",
                      .next = describe_command(key)});
}

std::vector<std::string> stored_versions(const Json& definition) {
  std::vector<std::string> names;
  for (const Json& version : definition["status"]["storedVersions"].items()) names.emplace_back(version.string_or(""));
  return names;
}

// The version cannot be removed from the CRD before every object was written again.
void check_unserved_versions(const Json& definition, Findings& findings) {
  std::vector<std::string> unserved;
  std::vector<std::string> stored = stored_versions(definition);
  for (const Json& version : definition["spec"]["versions"].items())
    if (!version["served"].bool_or(true) && std::ranges::find(stored, version["name"].string_or("")) != stored.end())
      unserved.emplace_back(version["name"].string_or(""));
  if (unserved.empty()) return;
  object::Key key = key_of(definition);
  findings.push_back({.code = "crd-stored-version-unserved",
                      .severity = Severity::info,
                      .object = key,
                      .what = fmt::format("objects of {} may be stored in a version that is not served: {}", key.text(),
                                          listed(unserved)),
                      .causes = {"status.storedVersions names it, and spec.versions has it with served: false"},
                      .next = get_command(key)});
}

// Objects that are stored in a version that the CRD no longer has cannot be read.
void check_stored_versions(const Json& definition, Findings& findings) {
  std::vector<std::string> gone;
  object::Definition described(definition);
  std::vector<std::string_view> known = described.versions();
  for (std::string& version : stored_versions(definition))
    if (std::ranges::find(known, version) == known.end()) gone.push_back(std::move(version));
  if (gone.empty()) return;
  object::Key key = key_of(definition);
  findings.push_back({.code = "crd-stored-version-gone",
                      .severity = Severity::error,
                      .object = key,
                      .what = fmt::format("objects of {} may be stored in a version that it no longer has: {}",
                                          key.text(), listed(gone)),
                      .causes = {"status.storedVersions names it, and spec.versions does not"},
                      .next = get_command(key)});
}

void check_api_service(const Snapshot& snapshot, const Json& api_service, Findings& findings) {
  const Json& available = object::condition(api_service, "Available");
  if (!object::has_status(available, "False")) return;
  object::Key key = key_of(api_service);
  Finding finding{
      .code = "apiservice-unavailable",
      .severity = Severity::error,
      .object = key,
      .what = fmt::format("{} is not available", key.text()),
      .causes = {message_of(available)},
      .blocks = fmt::format("requests for {} in {}, and the deletion of every namespace",
                            api_service["spec"]["version"].string_or(""), api_service["spec"]["group"].string_or("")),
      .next = fmt::format("kubectl delete apiservice {}, if that API is no longer served", key.name)};
  std::optional<admission::ServiceReference> service = admission::read_service(api_service["spec"]["service"]);
  if (service)
    if (std::optional<Outage> outage = outage_of(snapshot, *service)) {
      for (std::string& cause : outage->causes) finding.causes.push_back(std::move(cause));
      finding.related = std::move(outage->related);
      if (!outage->next.empty()) finding.next = std::move(outage->next);
    }
  findings.push_back(std::move(finding));
}

}  // namespace

void check_definitions(const Snapshot& snapshot, Findings& findings) {
  for (const Json& definition : snapshot.all("CustomResourceDefinition")) {
    check_names(definition, findings);
    check_established(snapshot, definition, findings);
    check_stored_versions(definition, findings);
    check_unserved_versions(definition, findings);
  }
  for (const Backend& backend : backends_of(snapshot))
    if (backend.role == Backend::Role::conversion) check_conversion(snapshot, backend, findings);
  for (const Json& api_service : snapshot.all("APIService")) check_api_service(snapshot, api_service, findings);
}

}  // namespace fairlead::doctor
