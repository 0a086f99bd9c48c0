#include "webhook/controller/finding.h"

#include "base/printable.h"
#include "base/timestamp.h"
#include "object/condition.h"

namespace fairlead::webhook {
namespace {

// The limits of the API server are 32768 and 1024.
constexpr size_t kLongestMessage = 1000;

struct Verdict {
  std::string status;
  std::string reason;
  std::string message;
};

// "2026-11-18T12:00:00Z"
std::string time_text(WallTime time) { return dump_micro_time(time).substr(0, 19) + "Z"; }

// Not within a character.
std::string cut(std::string text) {
  if (text.size() <= kLongestMessage) return text;
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

Verdict verdict_of(const Registration& registration, const Json& object) {
  const Json& metadata = object["metadata"];
  Result<Decision> decision = validate(*registration.policy, {.operation = admission::Operation::create,
                                                              .kind = registration.kind,
                                                              .resource = {.group = registration.kind.group,
                                                                           .version = registration.kind.version,
                                                                           .resource = registration.resource},
                                                              .ns = std::string(metadata["namespace"].string_or("")),
                                                              .name = std::string(metadata["name"].string_or("")),
                                                              .object = object});
  if (!decision) return {"Unknown", "PolicyFailed", cut(printable(decision.error().message()))};
  if (decision->allowed) return {"True", "Valid", "the object keeps all rules"};
  return {"False", "Invalid", cut(printable(decision->message))};
}

bool says(const Json& condition, const Verdict& verdict, const Json& generation) {
  return condition["status"].string_or("") == verdict.status && condition["reason"].string_or("") == verdict.reason &&
         condition["message"].string_or("") == verdict.message && condition["observedGeneration"] == generation;
}

Json event_of(const Json& object, const Verdict& verdict, const std::string& now) {
  const Json& metadata = object["metadata"];
  return Json::Object{{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", Json::Object{{"generateName", std::string(metadata["name"].string_or("")) + "-"},
                                                {"namespace", metadata["namespace"]}}},
                      {"involvedObject", Json::Object{{"apiVersion", object["apiVersion"]},
                                                      {"kind", object["kind"]},
                                                      {"name", metadata["name"]},
                                                      {"namespace", metadata["namespace"]},
                                                      {"uid", metadata["uid"]}}},
                      {"reason", verdict.reason},
                      {"message", verdict.message},
                      {"type", verdict.status == "True" ? "Normal" : "Warning"},
                      {"source", Json::Object{{"component", kControllerName}}},
                      {"firstTimestamp", now},
                      {"lastTimestamp", now},
                      {"count", 1}};
}

std::string line_of(const Json& object, const Verdict& verdict) {
  const Json& metadata = object["metadata"];
  std::string_view state = verdict.status == "True"    ? "is valid"
                           : verdict.status == "False" ? "is invalid"
                                                       : "cannot be decided on";
  std::string text = fmt::format("{} {}/{} {}", object["kind"].string_or(""), metadata["namespace"].string_or(""),
                                 metadata["name"].string_or(""), state);
  return printable_line(verdict.status == "True" ? text : text + ": " + verdict.message);
}

}  // namespace

std::optional<Finding> find(const Registration& registration, const Json& object, WallTime now) {
  const Json& metadata = object["metadata"];
  if (!metadata["deletionTimestamp"].is_null()) return std::nullopt;
  Verdict verdict = verdict_of(registration, object);
  const Json& before = object::condition(object, "Valid");
  if (says(before, verdict, metadata["generation"])) return std::nullopt;
  std::string time = time_text(now);
  bool has_turned = before["status"].string_or("") != verdict.status;
  Json since = has_turned || !before["lastTransitionTime"].is_string() ? Json(time) : before["lastTransitionTime"];
  Finding finding{.condition = Json::Object{{"type", "Valid"},
                                            {"status", verdict.status},
                                            {"reason", verdict.reason},
                                            {"message", verdict.message},
                                            {"lastTransitionTime", std::move(since)}},
                  .line = line_of(object, verdict)};
  if (metadata["generation"].is_integer()) finding.condition.make("observedGeneration") = metadata["generation"];
  bool is_news =
      before.is_null() ? verdict.status != "True" : has_turned || before["message"].string_or("") != verdict.message;
  if (is_news) finding.event = event_of(object, verdict, time);
  return finding;
}

}  // namespace fairlead::webhook
