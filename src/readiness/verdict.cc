#include "readiness/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/plain_text.h"
#include "readiness/internal/verdict_rules.h"
#include "readiness/ready_when.h"

namespace fairlead::readiness {
namespace {

constexpr size_t kReasonBytes = 600;

struct KindRule {
  std::string_view group;
  std::string_view kind;
  Rule rule;
};
constexpr std::array kRules{
    KindRule{.group = "apps", .kind = "Deployment", .rule = judge_deployment},
    KindRule{.group = "apps", .kind = "StatefulSet", .rule = judge_stateful_set},
    KindRule{.group = "apps", .kind = "DaemonSet", .rule = judge_daemon_set},
    KindRule{.group = "apps", .kind = "ReplicaSet", .rule = judge_replica_set},
    KindRule{.group = "", .kind = "ReplicationController", .rule = judge_replica_set},
    KindRule{.group = "batch", .kind = "Job", .rule = judge_job},
    KindRule{.group = "", .kind = "Pod", .rule = judge_pod},
    KindRule{.group = "", .kind = "PersistentVolumeClaim", .rule = judge_claim},
    KindRule{.group = "", .kind = "PersistentVolume", .rule = judge_volume},
    KindRule{.group = "", .kind = "Service", .rule = judge_service},
    KindRule{.group = "", .kind = "Namespace", .rule = judge_namespace},
    KindRule{.group = "networking.k8s.io", .kind = "Ingress", .rule = judge_ingress},
    KindRule{.group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .rule = judge_definition},
    KindRule{.group = "apiregistration.k8s.io", .kind = "APIService", .rule = judge_api_service},
    KindRule{.group = "autoscaling", .kind = "HorizontalPodAutoscaler", .rule = judge_autoscaler},
    KindRule{.group = "admissionregistration.k8s.io", .kind = "ValidatingWebhookConfiguration", .rule = judge_webhooks},
    KindRule{.group = "admissionregistration.k8s.io", .kind = "MutatingWebhookConfiguration", .rule = judge_webhooks},
};

std::optional<Verdict> behind_its_generation(const Json& object) {
  const int64_t* generation = object["metadata"]["generation"].if_int64();
  const int64_t* observed = object["status"]["observedGeneration"].if_int64();
  if (!generation || !observed || *generation == *observed) return std::nullopt;
  return in_progress(
      fmt::format("its status is for generation {}, but the object is at generation {}", *observed, *generation));
}

// Checks conditions that any kind may use. A condition for an older generation says nothing about the current one.
std::optional<Verdict> by_abnormal_conditions(const Json& object) {
  const Json& reconciling = condition(object, "Reconciling");
  if (has_status(reconciling, "True")) return in_progress(condition_text(reconciling));
  const Json& stalled = condition(object, "Stalled");
  if (has_status(stalled, "True") && !is_stale(object, stalled)) return failed_for_good(condition_text(stalled));
  return std::nullopt;
}

Verdict by_usual_conditions(const Json& object, const Options& options) {
  for (std::string_view type : {"Ready", "Available"}) {
    const Json& found = condition(object, type);
    if (found.is_null()) continue;
    if (is_stale(object, found)) return in_progress(fmt::format("its condition {} is from an older generation", type));
    // Some controllers use other values for "works, but not well". Those do not block anything.
    if (has_status(found, "False") || has_status(found, "Unknown")) return in_progress(condition_text(found));
    return ready(condition_text(found));
  }
  // The controller is working and has not reported a result yet. For example, cert-manager's Certificates have the
  // condition Issuing before they have Ready.
  for (std::string_view type : {"Progressing", "Issuing", "Pending"})
    if (const Json& found = condition(object, type); has_status(found, "True"))
      return in_progress(condition_text(found));
  if (options.status_expected && object["status"].members().empty())
    return in_progress("no controller has written its status yet");
  // The first status often tells only what the controller has seen so far.
  if (options.status_expected && !object["status"]["conditions"].items().empty())
    return in_progress("its controller has not reported yet whether it is ready");
  return ready("it is stored, and there is nothing else to wait for");
}

Verdict by_kind(const Json& object, const Options& options) {
  if (std::optional<Verdict> verdict = by_abnormal_conditions(object)) return *verdict;
  std::string_view api_version = object["apiVersion"].string_or("");
  size_t slash = api_version.find('/');
  std::string_view group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  if (Rule rule = rule_for(group, object["kind"].string_or(""))) return rule(object, options);
  return by_usual_conditions(object, options);
}

Verdict by_annotation(const ReadyWhen& ready_when, const Json& object, const Options& options) {
  if (ready_when.met_at_once()) return ready("it is stored, which is all that its annotation asks for");
  std::optional<Verdict> behind = behind_its_generation(object);
  if (behind) return *behind;
  Result<ReadyWhen::Answer> answer = ready_when.ask(object);
  if (answer && answer->met) return ready(std::move(answer->text));
  // If the rules of the kind say that the object failed, waiting for the annotation is pointless.
  Verdict own = by_kind(object, options);
  if (own.state == State::failed) return own;
  return in_progress(answer ? std::move(answer->text) : answer.error().message());
}

Verdict judge_whole(const Json& object, const Options& options) {
  if (object["kind"].string_or("").empty()) return {.state = State::unknown, .reason = "it is not a Kubernetes object"};
  if (std::string_view since = object["metadata"]["deletionTimestamp"].string_or(""); !since.empty())
    return {.state = State::terminating, .reason = fmt::format("it has been terminating since {}", since)};
  Result<std::optional<ReadyWhen>> ready_when = ReadyWhen::of(object);
  if (!ready_when) return failed_for_good(ready_when.error().message());
  if (*ready_when) return by_annotation(**ready_when, object, options);
  if (std::optional<Verdict> verdict = behind_its_generation(object)) return *verdict;
  return by_kind(object, options);
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::ready: return "ready";
    case State::in_progress: return "in progress";
    case State::failed: return "failed";
    case State::terminating: return "terminating";
    case State::unknown: return "unknown";
  }
  return "unknown";
}

Verdict ready(std::string reason) { return {.state = State::ready, .reason = std::move(reason)}; }
Verdict in_progress(std::string reason) { return {.state = State::in_progress, .reason = std::move(reason)}; }
Verdict failed(std::string reason) { return {.state = State::failed, .reason = std::move(reason)}; }
Verdict failed_for_good(std::string reason) {
  return {.state = State::failed, .reason = std::move(reason), .permanent = true};
}

bool is_stale(const Json& object, const Json& condition) {
  const int64_t* generation = object["metadata"]["generation"].if_int64();
  const int64_t* observed = condition["observedGeneration"].if_int64();
  // As for kubectl, a condition that does not say it itself is as old as the whole status.
  if (!observed) observed = object["status"]["observedGeneration"].if_int64();
  return generation && observed && *observed < *generation;
}

std::string reason_text(const Json& value, std::string_view fallback) {
  std::string_view reason = value["reason"].string_or("");
  std::string_view message = value["message"].string_or("");
  if (reason.empty() && message.empty()) return std::string(fallback);
  if (reason.empty() || message.empty()) return std::string(reason.empty() ? message : reason);
  return fmt::format("{}: {}", reason, message);
}

std::string condition_text(const Json& condition) {
  std::string text =
      fmt::format("{} is {}", condition["type"].string_or("?"), condition["status"].string_or("without a status"));
  if (std::string why = reason_text(condition, ""); !why.empty()) text += ": " + why;
  return text;
}

int64_t count(const Json& value, int64_t fallback) { return std::max<int64_t>(value.int_or(fallback), 0); }

Rule rule_for(std::string_view group, std::string_view kind) {
  const auto* found =
      std::ranges::find_if(kRules, [&](const KindRule& r) { return r.group == group && r.kind == kind; });
  return found == kRules.end() ? nullptr : found->rule;
}

Verdict judge(const Json& object, const Options& options) {
  Verdict verdict = judge_whole(object, options);
  verdict.reason = plain_text(verdict.reason, kReasonBytes);
  return verdict;
}

}  // namespace fairlead::readiness
