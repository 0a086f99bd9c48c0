// Rules for kinds that run replicas of a pod. The checks have the order of kstatus, so that the first failing check
// gives the most useful reason.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "readiness/internal/verdict_rules.h"

namespace fairlead::readiness {
namespace {

constexpr std::string_view kUnseen = "its controller has not seen it yet";

// For example "1 of 1 replica is ready" or "2 of 3 replicas are ready".
std::string part(int64_t some, int64_t all, std::string_view thing, std::string_view what) {
  return fmt::format("{} of {} {}{} {} {}", some, all, thing, all == 1 ? "" : "s", all == 1 ? "is" : "are", what);
}
std::string replicas(int64_t some, int64_t all, std::string_view what) { return part(some, all, "replica", what); }

std::string extra(int64_t count) {
  return fmt::format("{} old replica{} {} pending termination", count, count == 1 ? "" : "s",
                     count == 1 ? "is" : "are");
}

std::string all_ready(int64_t wanted) {
  return wanted == 0 ? "it is scaled to 0 replicas" : replicas(wanted, wanted, "ready");
}

// Until the controller has written observedGeneration, the numbers in the status are zeros that mean nothing.
bool is_seen(const Json& object) { return object["status"]["observedGeneration"].is_int64(); }

bool is_on_delete(const Json& strategy) { return strategy["type"].string_or("") == "OnDelete"; }

}  // namespace

Verdict judge_deployment(const Json& object, const Options&) {
  if (!is_seen(object)) return in_progress(std::string(kUnseen));
  const Json& spec = object["spec"];
  const Json& status = object["status"];
  if (spec["paused"].bool_or(false)) return ready("it is paused: nothing is rolled out until it is resumed");
  const Json& progressing = condition(object, "Progressing");
  if (progressing["reason"].string_or("") == "ProgressDeadlineExceeded") return failed(condition_text(progressing));

  int64_t wanted = count(spec["replicas"], 1);
  int64_t existing = count(status["replicas"]);
  int64_t updated = count(status["updatedReplicas"]);
  int64_t available = count(status["availableReplicas"]);
  int64_t running = count(status["readyReplicas"]);
  const Json& failure = condition(object, "ReplicaFailure");
  if (existing < wanted && has_status(failure, "True")) return in_progress(condition_text(failure));
  if (existing < wanted) return in_progress(replicas(existing, wanted, "created"));
  if (updated < wanted) return in_progress(replicas(updated, wanted, "updated"));
  if (existing > wanted) return in_progress(extra(existing - wanted));
  if (running < wanted) return in_progress(replicas(running, wanted, "ready"));
  if (available < updated) return in_progress(replicas(available, wanted, "available"));

  // The controller writes Progressing only if there is a deadline. The largest number stands for no deadline.
  constexpr int64_t kNever = std::numeric_limits<int32_t>::max();
  bool has_deadline = count(spec["progressDeadlineSeconds"], kNever) < kNever;
  bool is_rolled_out =
      has_status(progressing, "True") && progressing["reason"].string_or("") == "NewReplicaSetAvailable";
  if (has_deadline && !is_rolled_out)
    return in_progress(progressing.is_null() ? "its controller has not reported yet that it is rolled out"
                                             : condition_text(progressing));
  const Json& is_available = condition(object, "Available");
  if (!has_status(is_available, "True"))
    return in_progress(is_available.is_null() ? "its controller has not reported yet that it is available"
                                              : condition_text(is_available));
  return ready(all_ready(wanted));
}

Verdict judge_stateful_set(const Json& object, const Options&) {
  if (!is_seen(object)) return in_progress(std::string(kUnseen));
  const Json& spec = object["spec"];
  const Json& status = object["status"];
  const Json& strategy = spec["updateStrategy"];
  int64_t wanted = count(spec["replicas"], 1);
  int64_t existing = count(status["replicas"]);
  int64_t running = count(status["readyReplicas"]);
  if (existing < wanted) return in_progress(replicas(existing, wanted, "created"));
  if (running < wanted) return in_progress(replicas(running, wanted, "ready"));
  if (existing > wanted) return in_progress(extra(existing - wanted));
  // Old API servers leave availableReplicas out. Then the number matters only with minReadySeconds, without which it
  // equals readyReplicas.
  bool counts_available = status["availableReplicas"].is_integer() || count(spec["minReadySeconds"]) > 0;
  int64_t available = count(status["availableReplicas"]);
  if (counts_available && available < wanted) return in_progress(replicas(available, wanted, "available"));
  if (is_on_delete(strategy)) return ready(all_ready(wanted));

  int64_t partition = count(strategy["rollingUpdate"]["partition"]);
  int64_t to_update = std::max<int64_t>(wanted - partition, 0);
  int64_t updated = count(status["updatedReplicas"]);
  if (updated < to_update) return in_progress(replicas(updated, to_update, "updated"));
  if (partition > 0) return ready(fmt::format("{}, {} updated (partition {})", all_ready(wanted), updated, partition));
  std::string_view current = status["currentRevision"].string_or("");
  std::string_view update = status["updateRevision"].string_or("");
  if (current != update) return in_progress(fmt::format("the update from {} to {} is not complete", current, update));
  return ready(all_ready(wanted));
}

Verdict judge_daemon_set(const Json& object, const Options&) {
  const Json& status = object["status"];
  if (!is_seen(object) || !status["desiredNumberScheduled"].is_integer()) return in_progress(std::string(kUnseen));
  int64_t wanted = count(status["desiredNumberScheduled"]);
  auto pods = [&](int64_t some, std::string_view what) { return part(some, wanted, "pod", what); };
  int64_t existing = count(status["currentNumberScheduled"]);
  int64_t updated = count(status["updatedNumberScheduled"]);
  int64_t running = count(status["numberReady"]);
  int64_t available = count(status["numberAvailable"]);
  if (existing < wanted) return in_progress(pods(existing, "created"));
  if (updated < wanted && !is_on_delete(object["spec"]["updateStrategy"])) return in_progress(pods(updated, "updated"));
  if (running < wanted) return in_progress(pods(running, "ready"));
  if (available < wanted) return in_progress(pods(available, "available"));
  return ready(wanted == 0 ? "no node is eligible for its pods" : pods(wanted, "ready"));
}

Verdict judge_replica_set(const Json& object, const Options&) {
  if (!is_seen(object)) return in_progress(std::string(kUnseen));
  const Json& status = object["status"];
  const Json& failure = condition(object, "ReplicaFailure");
  if (has_status(failure, "True")) return in_progress(condition_text(failure));
  int64_t wanted = count(object["spec"]["replicas"], 1);
  int64_t existing = count(status["replicas"]);
  int64_t labelled = count(status["fullyLabeledReplicas"]);
  int64_t running = count(status["readyReplicas"]);
  int64_t available = count(status["availableReplicas"]);
  if (existing < wanted) return in_progress(replicas(existing, wanted, "created"));
  if (labelled < wanted) return in_progress(replicas(labelled, wanted, "fully labelled"));
  if (running < wanted) return in_progress(replicas(running, wanted, "ready"));
  if (available < wanted) return in_progress(replicas(available, wanted, "available"));
  if (existing > wanted) return in_progress(extra(existing - wanted));
  return ready(all_ready(wanted));
}

Verdict judge_job(const Json& object, const Options&) {
  const Json& spec = object["spec"];
  const Json& status = object["status"];
  // FailureTarget is set before Failed, while pods are still being stopped. The outcome is final at that point.
  for (std::string_view type : {"Failed", "FailureTarget"})
    if (const Json& failure = condition(object, type); has_status(failure, "True"))
      return failed_for_good("Job failed: " + reason_text(failure, "no reason is given"));
  int64_t succeeded = count(status["succeeded"]);
  if (has_status(condition(object, "Complete"), "True"))
    return ready(fmt::format("Job completed, {} pod{} succeeded", succeeded, succeeded == 1 ? "" : "s"));
  if (spec["suspend"].bool_or(false)) {
    if (has_status(condition(object, "Suspended"), "True"))
      return ready("it is suspended, and does not run until it is resumed");
    return in_progress("it is being suspended");
  }
  if (status["startTime"].string_or("").empty()) return in_progress("it has not started yet");
  int64_t completions = count(spec["completions"], count(spec["parallelism"], 1));
  std::string text = part(succeeded, completions, "pod", "done");
  if (int64_t active = count(status["active"])) text += fmt::format(", {} running", active);
  if (int64_t lost = count(status["failed"])) text += fmt::format(", {} failed", lost);
  return in_progress(std::move(text));
}

}  // namespace fairlead::readiness
