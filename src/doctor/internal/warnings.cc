#include "doctor/internal/warnings.h"

#include <algorithm>

#include "base/plain_text.h"
#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"
#include "kube/faults/webhook_text.h"
#include "kube/pod_log.h"
#include "readiness/closer_look.h"
#include "readiness/why.h"

namespace fairlead::doctor {
namespace {

// Kubernetes keeps Events for an hour unless it is told otherwise.
constexpr Duration kRecent = std::chrono::hours(1);
// Longer lines of a log are cut off.
constexpr size_t kLineBytes = 4096;
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

// Whether the text stays one word in a shell, and means nothing special there.
bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._:/@+").contains(c);
  });
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

// The rights that one user lacks, and what says so.
struct Refused {
  std::vector<Denial> denials;
  const Json* newest_event = nullptr;
  const ContainerLog* log = nullptr;
  std::vector<object::Key> related;

  void add(Denial denial) {
    if (std::ranges::find(denials, denial) == denials.end()) denials.push_back(std::move(denial));
  }
};

Finding finding_for(const Snapshot& snapshot, const std::string& user, Refused refused) {
  Account account = account_of(user);
  std::vector<std::string> rights;
  for (const Denial& one : refused.denials)
    rights.push_back(fmt::format("{} {}{}", one.verb, one.resource, one.ns.empty() ? "" : " in " + one.ns));
  std::vector<std::string> causes;
  if (refused.newest_event) {
    object::Key about = object_of(snapshot, *refused.newest_event);
    causes.push_back(fmt::format("an Event of {} says so: {}", about.text(), event_text(*refused.newest_event)));
    refused.related.push_back(std::move(about));
  }
  if (refused.log)
    causes.push_back(
        fmt::format("container {} of {} says so in its log", refused.log->container, refused.log->pod.text()));
  const Denial& first = refused.denials.front();
  return {.code = "access-denied",
          .severity = Severity::warning,
          .object = account.key,
          .what = fmt::format("{} may not {}", account.text, listed(rights)),
          .causes = std::move(causes),
          .next = fmt::format("kubectl auth can-i {} {} --as={}{}", first.verb, first.resource, user,
                              first.ns.empty() ? " --all-namespaces" : fmt::format(" -n {}", first.ns)),
          .related = std::move(refused.related)};
}

// Takes the backslashes away that logs in JSON put before quotes.
std::string without_escapes(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i)
    if (line[i] != '\\' || i + 1 == line.size() || line[i + 1] != '"') text += line[i];
  return text;
}

// The rights that a container says its own account lacks. What it says about others is not believed.
std::vector<Denial> denials_in(const Snapshot& snapshot, const ContainerLog& log) {
  std::vector<Denial> denials;
  const Json* pod = snapshot.find("Pod", log.pod.ns, log.pod.name);
  if (!pod) return denials;
  std::string user =
      fmt::format("{}{}:{}", kAccountPrefix, log.pod.ns, (*pod)["spec"]["serviceAccountName"].string_or("default"));
  kube::LogLines lines(kLineBytes);
  auto read = [&](std::string_view line) {
    std::optional<Denial> denial = read_denial(without_escapes(line));
    if (denial && denial->user == user) denials.push_back(*std::move(denial));
  };
  lines.feed(log.text, read);
  lines.finish(read);
  return denials;
}

// The pod, its workload and the configurations of the webhooks that it serves.
std::vector<object::Key> around(const Snapshot& snapshot, const object::Key& pod) {
  std::vector<object::Key> keys{pod};
  const Json* object = snapshot.find("Pod", pod.ns, pod.name);
  for (std::string_view kind : {"Deployment", "StatefulSet", "DaemonSet", "Job"})
    for (const Json* workload : snapshot.in_namespace(kind, pod.ns))
      if (object && readiness::belongs(*object, *workload)) keys.push_back(key_of(*workload));
  for (const Backend& backend : backends_of(snapshot)) {
    const Json* service =
        backend.service ? snapshot.find("Service", backend.service->ns, backend.service->name) : nullptr;
    if (!service || std::ranges::find(keys, key_of(*backend.owner)) != keys.end()) continue;
    std::vector<const Json*> pods = pods_behind(snapshot, *service);
    if (std::ranges::find(pods, object) != pods.end()) keys.push_back(key_of(*backend.owner));
  }
  return keys;
}

void check_denials(const Snapshot& snapshot, Findings& findings) {
  std::map<std::string, Refused> by_user;
  for (const Json* event : recent_warnings(snapshot)) {
    std::optional<Denial> denial = read_denial((*event)["message"].string_or(""));
    if (!denial) continue;
    Refused& refused = by_user[denial->user];
    if (!refused.newest_event) refused.newest_event = event;
    refused.add(*std::move(denial));
  }
  for (const ContainerLog& log : snapshot.logs)
    for (Denial& denial : denials_in(snapshot, log)) {
      Refused& refused = by_user[denial.user];
      if (!refused.log) {
        refused.log = &log;
        refused.related = around(snapshot, log.pod);
      }
      refused.add(std::move(denial));
    }
  for (auto& [user, refused] : by_user) findings.push_back(finding_for(snapshot, user, std::move(refused)));
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
  if (!user || !verb || !resource || !group) return std::nullopt;
  if (std::optional<std::string> between = read_until(message, " in the namespace \""))
    denial.ns = read_until(message, "\"").value_or("");
  // What follows becomes part of a command.
  bool is_plain =
      std::ranges::all_of(std::to_array<std::string_view>({*user, *verb, *resource, *group, denial.ns}), is_word);
  if (!is_plain || user->empty() || verb->empty() || resource->empty()) return std::nullopt;
  denial.user = *std::move(user);
  denial.verb = *std::move(verb);
  denial.resource = group->empty() ? *resource : fmt::format("{}.{}", *resource, *group);
  return denial;
}

std::string newest_warning(const Snapshot& snapshot, const object::Key& key) {
  for (const Json* event : recent_warnings(snapshot))
    if (object_of(snapshot, *event) == key) return event_text(*event);
  return {};
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
