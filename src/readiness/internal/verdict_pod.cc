#include "readiness/internal/verdict_rules.h"
#include "readiness/internal/why_pod.h"

namespace fairlead::readiness {

Verdict judge_pod(const Json& object, const Options&) {
  std::string_view phase = object["status"]["phase"].string_or("");
  if (phase == "Succeeded") return ready("it completed");
  if (phase == "Unknown") return {.state = State::unknown, .reason = "its node does not answer"};
  if (phase == "Running" && has_status(condition(object, "Ready"), "True")) return ready("it is running and ready");
  Trouble trouble = trouble_of(object);
  std::string text = "it " + trouble.text;
  if (!trouble.cause.empty()) text += ": " + trouble.cause;
  if (phase == "Failed" || trouble.is_never()) return failed_for_good(std::move(text));
  if (trouble.word == "CrashLoopBackOff") return failed(std::move(text));
  return in_progress(trouble.text.empty() ? "its phase is not Running yet" : std::move(text));
}

}  // namespace fairlead::readiness
