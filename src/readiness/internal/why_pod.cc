#include "readiness/internal/why_pod.h"

#include <fmt/format.h>

#include <algorithm>

#include "readiness/internal/verdict_rules.h"

namespace fairlead::readiness {
namespace {

using Weight = Trouble::Weight;

// True for the reasons that the kubelet gives before it tries to start a container.
bool is_just_starting(std::string_view word) {
  return word.empty() || word == "ContainerCreating" || word == "PodInitializing";
}

// Other problems may resolve themselves: an image may be pushed, a Secret may be created by its controller, and a
// crashing container may get what it needs. The problems here stay until somebody changes the pod, its node, or an
// existing Secret or ConfigMap.
bool can_never_start(std::string_view word, std::string_view message) {
  if (word == "InvalidImageName" || word == "ErrImageNeverPull") return true;
  if (word != "CreateContainerConfigError") return false;
  return message.starts_with("couldn't find key ") || message.contains("runAsNonRoot");
}

std::string ended_text(const Json& terminated) {
  std::string text = fmt::format("ended with exit code {}", terminated["exitCode"].int_or(0));
  std::string_view reason = terminated["reason"].string_or("");
  // "Error" only repeats that the exit code is not zero.
  if (!reason.empty() && reason != "Error" && reason != "Completed") text += fmt::format(" ({})", reason);
  return text;
}

std::string restarts_text(const Json& status) {
  int64_t restarts = count(status["restartCount"]);
  return restarts == 0 ? "" : fmt::format(", after {} restart{}", restarts, restarts == 1 ? "" : "s");
}

const Json& spec_of(const Json& pod, std::string_view list, std::string_view container) {
  static const Json kNone;
  for (const Json& spec : pod["spec"][list].items())
    if (spec["name"].string_or("") == container) return spec;
  return kNone;
}

struct Container {
  std::string_view what;  // "container" or "init container"
  std::string_view name;
  const Json& spec;
  const Json& status;

  std::string text() const { return fmt::format("{} {}", what, name); }
};

Trouble waiting(const Container& container, const Json& state) {
  std::string_view word = state["reason"].string_or("");
  std::string_view message = state["message"].string_or("");
  std::string_view image = container.spec["image"].string_or(container.status["image"].string_or(""));
  Trouble trouble{.weight = Weight::held,
                  .word = std::string(word),
                  .text = {},
                  .cause = {},
                  .container = std::string(container.name),
                  .image = std::string(image)};
  if (is_just_starting(word)) {
    trouble.weight = Weight::starting;
    trouble.text = fmt::format("is starting: {} is not created yet", container.text());
    return trouble;
  }
  bool is_never = can_never_start(word, message);
  if (is_never) trouble.weight = Weight::never;
  if (word == "CrashLoopBackOff") {
    trouble.weight = Weight::backing_off;
    trouble.logs = Trouble::Logs::previous;
    trouble.text = fmt::format("is waiting: {} ({})", word, container.text());
    const Json& last = container.status["lastState"]["terminated"];
    if (last.is_object()) trouble.cause = container.text() + " " + ended_text(last) + restarts_text(container.status);
    return trouble;
  }
  if (word.contains("Image")) {
    if (!is_never) trouble.weight = Weight::backing_off;
    trouble.text = fmt::format("is waiting: {} ({})", word, image.empty() ? container.text() : std::string(image));
    // This message only repeats the word.
    if (message != fmt::format("Back-off pulling image \"{}\"", image)) trouble.cause = message;
    return trouble;
  }
  trouble.text = fmt::format("is waiting: {} ({})", word, container.text());
  trouble.cause = message;
  return trouble;
}

Trouble ended(const Container& container, const Json& state) {
  return {.weight = Weight::ended,
          .word = "Ended",
          .text = fmt::format("is not ready: {} {}{}", container.text(), ended_text(state),
                              restarts_text(container.status)),
          .cause = {},
          .container = std::string(container.name),
          .image = {},
          .logs = Trouble::Logs::current};
}

Trouble running(const Container& container) {
  Trouble trouble{.weight = Weight::not_ready,
                  .word = "NotReady",
                  .text = {},
                  .cause = {},
                  .container = std::string(container.name),
                  .image = {}};
  bool is_started = container.status["started"].bool_or(true);
  std::string_view probe;
  if (!is_started && container.spec["startupProbe"].is_object()) probe = "startup";
  else if (container.spec["readinessProbe"].is_object()) probe = "readiness";
  trouble.text = probe.empty()
                     ? fmt::format("is not ready: {} is running, but not ready", container.text())
                     : fmt::format("is not ready: {} is running, but fails its {} probe", container.text(), probe);
  trouble.text += restarts_text(container.status);
  return trouble;
}

// Init containers run one after another. A sidecar (one that keeps running) only has to have started.
Trouble init_trouble(const Json& pod) {
  for (const Json& status : pod["status"]["initContainerStatuses"].items()) {
    std::string_view name = status["name"].string_or("?");
    Container container{
        .what = "init container", .name = name, .spec = spec_of(pod, "initContainers", name), .status = status};
    const Json& state = status["state"];
    bool stays = container.spec["restartPolicy"].string_or("") == "Always";
    if (const Json& terminated = state["terminated"]; terminated.is_object()) {
      if (terminated["exitCode"].int_or(0) == 0) continue;
      return ended(container, terminated);
    }
    if (state["running"].is_object()) {
      if (!stays)
        return {.weight = Weight::starting,
                .word = "Initializing",
                .text = fmt::format("is starting: {} is still running{}", container.text(), restarts_text(status)),
                .cause = {},
                .container = std::string(name),
                .image = {}};
      if (!status["started"].bool_or(true)) return running(container);
      continue;
    }
    return waiting(container, state["waiting"]);
  }
  return {};
}

Trouble container_trouble(const Json& pod) {
  Trouble worst;
  for (const Json& status : pod["status"]["containerStatuses"].items()) {
    std::string_view name = status["name"].string_or("?");
    Container container{.what = "container", .name = name, .spec = spec_of(pod, "containers", name), .status = status};
    const Json& state = status["state"];
    Trouble trouble;
    if (state["waiting"].is_object()) trouble = waiting(container, state["waiting"]);
    else if (state["terminated"].is_object()) trouble = ended(container, state["terminated"]);
    else if (!status["ready"].bool_or(false)) trouble = running(container);
    if (trouble.weight > worst.weight) worst = std::move(trouble);
  }
  return worst;
}

Trouble failed_pod(const Json& pod) {
  Trouble trouble{.weight = Weight::ended, .word = "Failed", .text = {}, .cause = {}, .container = {}, .image = {}};
  // The kubelet's own reason (Evicted, NodeAffinity, …) tells more than an exit code.
  if (std::string why = reason_text(pod["status"], ""); !why.empty()) {
    trouble.text = "failed: " + why;
    return trouble;
  }
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items())
      if (const Json& end = status["state"]["terminated"]; end.is_object() && end["exitCode"].int_or(0) != 0) {
        trouble.container = status["name"].string_or("?");
        trouble.logs = Trouble::Logs::current;
        trouble.text = fmt::format("failed: {} {} {}", list.starts_with("init") ? "init container" : "container",
                                   trouble.container, ended_text(end));
        return trouble;
      }
  trouble.text = "failed";
  return trouble;
}

Trouble plain(Weight weight, std::string word, std::string text) {
  return {
      .weight = weight, .word = std::move(word), .text = std::move(text), .cause = {}, .container = {}, .image = {}};
}

// Names of objects and containers consist of letters, digits, dots and dashes. A command must not contain anything
// else.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && !text.starts_with('-') && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

}  // namespace

Trouble trouble_of(const Json& pod) {
  std::string_view phase = pod["status"]["phase"].string_or("");
  if (phase == "Failed") return failed_pod(pod);
  if (phase == "Succeeded") return {};
  if (!pod["metadata"]["deletionTimestamp"].is_null()) return plain(Weight::starting, "Deleted", "is being deleted");
  if (has_status(condition(pod, "Ready"), "True")) return {};
  if (const Json& scheduled = condition(pod, "PodScheduled"); has_status(scheduled, "False"))
    return plain(Weight::held, std::string(scheduled["reason"].string_or("Unschedulable")),
                 "is not scheduled: " + reason_text(scheduled, "no reason is given"));
  if (Trouble trouble = init_trouble(pod); trouble.weight != Weight::none) return trouble;
  if (Trouble trouble = container_trouble(pod); trouble.weight != Weight::none) return trouble;
  if (const Json& readiness = condition(pod, "Ready"); readiness["reason"].string_or("") == "ReadinessGatesNotReady")
    return plain(Weight::not_ready, "ReadinessGatesNotReady",
                 "is not ready: " + std::string(readiness["message"].string_or("a readiness gate is not True")));
  std::string_view node = pod["spec"]["nodeName"].string_or("");
  if (node.empty()) return plain(Weight::starting, "Unseen", "has not been seen by the scheduler yet");
  if (pod["status"]["containerStatuses"].items().empty())
    return plain(Weight::starting, "Unseen", fmt::format("has not been started by node {} yet", node));
  return plain(Weight::not_ready, "NotReady",
               "is not ready: " + reason_text(condition(pod, "Ready"), "no reason is given"));
}

std::string describe_command(std::string_view resource, const Json& object) {
  std::string_view ns = object["metadata"]["namespace"].string_or("default");
  std::string_view name = object["metadata"]["name"].string_or("");
  if (!is_name(ns) || !is_name(name)) return {};
  return fmt::format("kubectl -n {} describe {} {}", ns, resource, name);
}

std::string next_command(const Json& pod, const Trouble& trouble) {
  std::string describe = describe_command("pod", pod);
  if (describe.empty() || trouble.logs == Trouble::Logs::none || !is_name(trouble.container)) return describe;
  return fmt::format("kubectl -n {} logs {} -c {}{}", pod["metadata"]["namespace"].string_or("default"),
                     pod["metadata"]["name"].string_or(""), trouble.container,
                     trouble.logs == Trouble::Logs::previous ? " --previous" : "");
}

}  // namespace fairlead::readiness
