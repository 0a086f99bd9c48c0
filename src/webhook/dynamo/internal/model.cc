#include "webhook/dynamo/internal/model.h"

#include <array>

#include "base/printable.h"
#include "webhook/dynamo/internal/types.h"

namespace fairlead::webhook::dynamo {
namespace {

constexpr std::array kSourceFields = {Field{"uri", Type::text}};
constexpr std::array kModelFields = {Field{"modelName", Type::text}, Field{"baseModelName", Type::text},
                                     Field{"modelType", Type::text}, Field{"source", Type::object, kSourceFields}};

// The CRD has the same default.
std::string_view type_of(const Json& spec) {
  std::string_view type = spec["modelType"].string_or("");
  return type.empty() ? "base" : type;
}

std::string source_error(const Json& source) {
  if (source.is_null()) return "spec.source is required when modelType is 'lora'";
  std::string_view uri = source["uri"].string_or("");
  if (uri.empty()) return "spec.source.uri must be specified when modelType is 'lora'";
  if (uri.starts_with("s3://") || uri.starts_with("hf://")) return {};
  return "source URI must start with 's3://' or 'hf://', got: <redacted>";
}

std::string model_error(const Json& spec) {
  if (spec["modelName"].string_or("").empty()) return "spec.modelName is required";
  if (spec["baseModelName"].string_or("").empty()) return "spec.baseModelName is required";
  std::string_view type = type_of(spec);
  if (type == "lora") return source_error(spec["source"]);
  if (type == "base" || type == "adapter") return {};
  return fmt::format("spec.modelType must be base, lora or adapter, not \"{}\"", printable_line(type.substr(0, 100)));
}

}  // namespace

Verdict ModelPolicy::check(const Request& request) const {
  const Json& spec = request.object["spec"];
  if (!spec.is_null())
    if (std::string wrong = wrong_type(spec, "spec", {"", Type::object, kModelFields}); !wrong.empty())
      return malformed(std::move(wrong));
  return {.error = model_error(spec)};
}

Verdict ModelPolicy::check_change(const Request& request) const {
  const Json& old_spec = request.old_object["spec"];
  const Json& spec = request.object["spec"];
  if (type_of(old_spec) != type_of(spec))
    return refused("spec.modelType is immutable and cannot be changed after creation",
                   {"Changing spec.modelType may cause unexpected behavior"});
  if (old_spec["baseModelName"].string_or("") != spec["baseModelName"].string_or(""))
    return refused("spec.baseModelName is immutable and cannot be changed after creation",
                   {"Changing spec.baseModelName will break endpoint discovery"});
  return {};
}

}  // namespace fairlead::webhook::dynamo
