#include "webhook/dynamo/internal/verdict.h"

#include "base/printable.h"

namespace fairlead::webhook::dynamo {
namespace {

// The status of an object belongs to its controller, so the rules ignore it.
bool is_exempt(const Request& request) { return request.subresource == "status"; }

Decision decision_of(Verdict verdict) {
  Decision decision = verdict.ok() ? allow() : deny(std::move(verdict.error));
  decision.code = verdict.code;
  decision.warnings = std::move(verdict.warnings);
  return decision;
}

}  // namespace

Verdict refused(std::string error, std::vector<std::string> warnings) {
  return {.error = std::move(error), .warnings = std::move(warnings)};
}

Verdict malformed(std::string error) { return {.error = std::move(error), .code = 400}; }

Result<Decision> TwoStepPolicy::validate_create(const Request& request) const {
  return is_exempt(request) ? allow() : decision_of(check(request));
}

Result<Decision> TwoStepPolicy::validate_update(const Request& request) const {
  if (is_exempt(request) || !request.object["metadata"]["deletionTimestamp"].is_null()) return allow();
  Verdict verdict = check(request);
  if (!verdict.ok()) return decision_of(std::move(verdict));
  Verdict change = check_change(request);
  if (!change.ok()) return decision_of(std::move(change));
  verdict.warnings.insert(verdict.warnings.end(), change.warnings.begin(), change.warnings.end());
  return decision_of(std::move(verdict));
}

std::string namespace_of(const Request& request) {
  if (!request.ns.empty()) return request.ns;
  return std::string(request.object["metadata"]["namespace"].string_or(""));
}

Verdict check_backend(const Json& spec) {
  std::string_view backend = spec["backendFramework"].string_or("");
  if (backend.empty() || backend == "sglang" || backend == "vllm" || backend == "trtllm") return {};
  return refused(fmt::format("spec.backendFramework must be sglang, vllm or trtllm, not \"{}\"",
                             printable_line(backend.substr(0, 100))));
}

Verdict check_backend_change(const Json& old_spec, const Json& spec) {
  if (old_spec["backendFramework"].string_or("") == spec["backendFramework"].string_or("")) return {};
  return refused("spec.backendFramework is immutable and cannot be changed after creation",
                 {"Changing spec.backendFramework may cause unexpected behavior"});
}

}  // namespace fairlead::webhook::dynamo
