#include "doctor/internal/warnings.h"

#include <algorithm>

#include "base/plain_text.h"
#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"
#include "kube/faults/webhook_text.h"
#include "readiness/closer_look.h"

namespace fairlead::doctor {
namespace {

// Kubernetes keeps Events for an hour unless it is told otherwise.
constexpr Duration kRecent = std::chrono::hours(1);
constexpr std::string_view kAccountPrefix = "system:serviceaccount:";

// The warnings of the last hour, the newest first.
std::vector<const Json*> recent_warnings(const Snapshot& snapshot) {
  std::vector<const Json*> recent;
  for (const Json& event : snapshot.all("Event")) {
    std::optional<WallTime> time = readiness::event_time(event);
    if (event["type"].string_or("") == "Warning" && time && *time + kRecent > snapshot.now) recent.push_back(&event);
  }
  std::ranges::sort(recent, std::greater(),
                    [](const Json* event) { return std::pair(readiness::event_time(*event), name_of(*event)); });
  return recent;
}

// The object of an Event. A ReplicaSet is named by the Deployment that it belongs to.
object::Key object_of(const Snapshot& snapshot, const Json& event) {
  const Json& about = event["involvedObject"];
  Json object(Json::Object{{"apiVersion", about["apiVersion"]}, {"kind", about["kind"]}});
  object.make("metadata") = Json::Object{{"namespace", about["namespace"]}, {"name", about["name"]}};
  object::Key key = key_of(object);
  size_t dash = key.name.rfind('-');
  if (key.kind != "ReplicaSet" || dash == std::string::npos) return key;
  const Json* deployment = snapshot.find("Deployment", key.ns, key.name.substr(0, dash));
  return deployment ? key_of(*deployment) : key;
}

std::string event_text(const Json& event) {
  return plain_text(fmt::format("{}: {}", event["reason"].string_or("Warning"), event["message"].string_or("")),
                    kMessageBytes);
}

// Moves `text` behind the marker and returns what is before it; nothing if the marker is not there.
std::optional<std::string> read_until(std::string_view& text, std::string_view marker) {
  size_t at = text.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  std::string before(text.substr(0, at));
  text.remove_prefix(at + marker.size());
  return before;
}

struct Account {
  object::Key key;
  std::string text;
};
Account account_of(const std::string& user) {
  size_t colon = user.find(':', kAccountPrefix.size());
  if (!user.starts_with(kAccountPrefix) || colon == std::string::npos) {
    object::Key key{.group = "rbac.authorization.k8s.io", .kind = "User", .ns = "", .name = user};
    return {.key = key, .text = fmt::format("user {}", user)};
  }
  object::Key key{.group = "",
                  .kind = "ServiceAccount",
                  .ns = user.substr(kAccountPrefix.size(), colon - kAccountPrefix.size()),
                  .name = user.substr(colon + 1)};
  return {.key = key, .text = key.text()};
}

Finding finding_for(const Snapshot& snapshot, const std::string& user, const std::vector<Denial>& denials,
                    const Json& newest) {
  Account account = account_of(user);
  std::vector<std::string> rights;
  for (const Denial& one : denials)
    rights.push_back(fmt::format("{} {}{}", one.verb, one.resource, one.ns.empty() ? "" : " in " + one.ns));
  object::Key about = object_of(snapshot, newest);
  const Denial& first = denials.front();
  return {.code = "access-denied",
          .severity = Severity::warning,
          .object = account.key,
          .what = fmt::format("{} may not {}", account.text, listed(rights)),
          .causes = {fmt::format("an Event of {} says so: {}", about.text(), event_text(newest))},
          .next = fmt::format("kubectl auth can-i {} {} --as={}{}", first.verb, first.resource, user,
                              first.ns.empty() ? " --all-namespaces" : fmt::format(" -n {}", first.ns)),
          .related = {std::move(about)}};
}

void check_denials(const Snapshot& snapshot, Findings& findings) {
  struct Refused {
    std::vector<Denial> denials;
    const Json* newest = nullptr;
  };
  std::map<std::string, Refused> by_user;
  for (const Json* event : recent_warnings(snapshot)) {
    std::optional<Denial> denial = read_denial((*event)["message"].string_or(""));
    if (!denial) continue;
    Refused& refused = by_user[denial->user];
    if (!refused.newest) refused.newest = event;
    if (std::ranges::find(refused.denials, *denial) == refused.denials.end())
      refused.denials.push_back(*std::move(denial));
  }
  for (const auto& [user, refused] : by_user)
    findings.push_back(finding_for(snapshot, user, refused.denials, *refused.newest));
}

// Victims of a webhook that cannot be called are told with that.
void check_victims(const Snapshot& snapshot, Findings& findings) {
  std::map<std::string, Victims> victims = victims_of_webhooks(snapshot);
  for (const admission::Webhook& webhook : webhooks_of(snapshot)) {
    auto found = victims.find(webhook.name);
    if (found == victims.end() || (webhook.service && outage_of(snapshot, *webhook.service))) continue;
    std::vector<std::string> names;
    for (const object::Key& key : found->second.objects) names.push_back(key.text());
    findings.push_back(
        {.code = "webhook-refused-objects",
         .severity = Severity::warning,
         .object = key_of(webhook),
         .what = fmt::format("{} made requests fail, the last at {}", text_of(webhook), found->second.when),
         .causes = {found->second.newest},
         .blocks = listed(names),
         .next = fmt::format("fairlead doctor webhook {}; fairlead wait webhook/{} proves that it works",
                             webhook.configuration, webhook.configuration),
         .related = found->second.objects});
  }
}

}  // namespace

std::optional<Denial> read_denial(std::string_view message) {
  Denial denial;
  if (!read_until(message, "is forbidden: User \"")) return std::nullopt;
  std::optional<std::string> user = read_until(message, "\" cannot ");
  std::optional<std::string> verb = read_until(message, " resource \"");
  std::optional<std::string> resource = read_until(message, "\" in API group \"");
  std::optional<std::string> group = read_until(message, "\"");
  if (!user || !verb || !resource || !group || verb->contains(' ')) return std::nullopt;
  if (std::optional<std::string> between = read_until(message, " in the namespace \""))
    denial.ns = read_until(message, "\"").value_or("");
  denial.user = *std::move(user);
  denial.verb = *std::move(verb);
  denial.resource = group->empty() ? *resource : fmt::format("{}.{}", *resource, *group);
  return denial;
}

std::map<std::string, Victims> victims_of_webhooks(const Snapshot& snapshot) {
  std::map<std::string, Victims> all;
  for (const Json* event : recent_warnings(snapshot)) {
    // Controllers quote the API server behind words of their own.
    std::string_view message = (*event)["message"].string_or("");
    size_t quote = message.find("failed calling ");
    if (quote == std::string_view::npos) continue;
    std::optional<kube::WebhookText> read = kube::read_webhook_text(message.substr(quote));
    if (!read || read->kind == kube::FaultKind::webhook_denied || read->webhook.name.empty()) continue;
    Victims& victims = all[read->webhook.name];
    if (victims.newest.empty()) {
      victims.newest = event_text(*event);
      victims.when = second_of(*readiness::event_time(*event));
    }
    object::Key key = object_of(snapshot, *event);
    if (std::ranges::find(victims.objects, key) == victims.objects.end()) victims.objects.push_back(std::move(key));
  }
  return all;
}

void check_warnings(const Snapshot& snapshot, Findings& findings) {
  check_denials(snapshot, findings);
  check_victims(snapshot, findings);
}

}  // namespace fairlead::doctor
