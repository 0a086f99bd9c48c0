// Bindings that grant nothing, and ServiceAccounts that are missing.
#include <algorithm>
#include <set>

#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"
#include "readiness/verdict.h"

namespace fairlead::doctor {
namespace {

// The bindings that every cluster has. Some of their ServiceAccounts are made only where they are used.
bool is_built_in(const Json& binding) {
  return binding["metadata"]["labels"]["kubernetes.io/bootstrapping"].string_or("") == "rbac-defaults" ||
         name_of(binding).starts_with("system:");
}

void check_role(const Snapshot& snapshot, const Json& binding, Findings& findings) {
  std::string_view kind = binding["roleRef"]["kind"].string_or("");
  std::string_view name = binding["roleRef"]["name"].string_or("");
  std::string_view ns = kind == "Role" ? namespace_of(binding) : "";
  bool is_known = (kind == "Role" || kind == "ClusterRole") && snapshot.sees_all(kind);
  if (!is_known || snapshot.find(kind, ns, name)) return;
  object::Key key = key_of(binding);
  findings.push_back({.code = "binding-role-missing",
                      .severity = Severity::warning,
                      .object = key,
                      .what = fmt::format("{} grants nothing", key.text()),
                      .causes = {fmt::format("{} {}, which it names, does not exist", kind, name)},
                      .next = get_command(key)});
}

void check_subjects(const Snapshot& snapshot, const Json& binding, Findings& findings) {
  if (!snapshot.sees_all("ServiceAccount")) return;
  std::vector<std::string> missing;
  for (const Json& subject : binding["subjects"].items()) {
    std::string_view ns = subject["namespace"].string_or(namespace_of(binding));
    std::string_view name = subject["name"].string_or("");
    if (subject["kind"].string_or("") != "ServiceAccount" || snapshot.find("ServiceAccount", ns, name)) continue;
    missing.push_back(fmt::format("{}/{}", ns, name));
  }
  if (missing.empty()) return;
  object::Key key = key_of(binding);
  findings.push_back({.code = "binding-account-missing",
                      .severity = Severity::info,
                      .object = key,
                      .what = fmt::format("{} is for {} that do{} not exist: {}", key.text(),
                                          missing.size() == 1 ? "a ServiceAccount" : "ServiceAccounts",
                                          missing.size() == 1 ? "es" : "", listed(missing)),
                      .causes = {"it grants them nothing, and would grant it to whoever creates them"},
                      .next = get_command(key)});
}

// The API server refuses to create pods for a ServiceAccount that does not exist.
void check_account(const Snapshot& snapshot, const Json& workload, Findings& findings) {
  std::string_view account = workload["spec"]["template"]["spec"]["serviceAccountName"].string_or("default");
  object::Key key = key_of(workload);
  bool wants_pods = workload["spec"]["replicas"].int_or(1) > 0 && !workload["metadata"].contains("deletionTimestamp");
  if (!wants_pods || account == "default" || snapshot.find("ServiceAccount", key.ns, account)) return;
  const Json& status = workload["status"];
  // Of a Job these are the pods that run.
  int64_t ready = status["readyReplicas"].int_or(status["numberReady"].int_or(status["ready"].int_or(0)));
  findings.push_back(
      {.code = "workload-account-missing",
       .severity = ready > 0 ? Severity::warning : Severity::error,
       .object = key,
       .what = fmt::format("no pod of {} can be created", key.text()),
       .causes = {fmt::format("ServiceAccount {}/{}, which its pods use, does not exist", key.ns, account)},
       .next =
           fmt::format("kubectl -n {} create serviceaccount {}, or apply what should have made it", key.ns, account),
       .related = {key}});
}

}  // namespace

void check_access(const Snapshot& snapshot, Findings& findings) {
  for (std::string_view kind : {"RoleBinding", "ClusterRoleBinding"})
    for (const Json& binding : snapshot.all(kind)) {
      if (is_built_in(binding)) continue;
      check_role(snapshot, binding, findings);
      check_subjects(snapshot, binding, findings);
    }
  if (!snapshot.sees_all("ServiceAccount")) return;
  for (std::string_view kind : kWorkloads)
    for (const Json& workload : snapshot.all(kind)) check_account(snapshot, workload, findings);
  for (const Json& job : snapshot.all("Job"))
    if (readiness::judge(job).state == readiness::State::in_progress) check_account(snapshot, job, findings);
}

}  // namespace fairlead::doctor
