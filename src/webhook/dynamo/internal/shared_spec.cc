#include "webhook/dynamo/internal/shared_spec.h"

#include "base/printable.h"
#include "schema/types/quantity.h"

namespace fairlead::webhook::dynamo {
namespace {

std::string dynamo_namespace(const Json& spec, const std::string& ns, const std::string& graph) {
  return spec["globalDynamoNamespace"].bool_or(false) ? "dynamo" : ns + "-" + graph;
}

std::string volume_mounts_error(const Json& mounts, const std::string& path) {
  for (size_t i = 0; i < mounts.items().size(); ++i) {
    const Json& mount = mounts.items()[i];
    if (!mount["useAsCompilationCache"].bool_or(false) && mount["mountPoint"].string_or("").empty())
      return fmt::format("{}.volumeMounts[{}].mountPoint is required when useAsCompilationCache is false", path, i);
  }
  return {};
}

std::string first_error(const Json& spec, const std::string& path) {
  if (spec["replicas"].int_or(0) < 0) return path + ".replicas must be non-negative";
  const Json& ingress = spec["ingress"];
  if (ingress["enabled"].bool_or(false) && ingress["host"].string_or("").empty())
    return path + ".ingress.host is required when ingress is enabled";
  if (std::string error = volume_mounts_error(spec["volumeMounts"], path); !error.empty()) return error;
  const Json& memory = spec["sharedMemory"];
  if (memory.is_object() && !memory["disabled"].bool_or(false) && is_zero_quantity(memory["size"]))
    return path + ".sharedMemory.size is required when disabled is false";
  return {};
}

}  // namespace

bool is_zero_quantity(const Json& value) {
  if (const std::string* text = value.if_string()) return text->empty() || schema::canonical_quantity(*text) == "0";
  if (const double* number = value.if_double()) return *number == 0;
  return value.is_null() || value.int_or(1) == 0;
}

Verdict check_shared(const Json& spec, const std::string& path, const std::string& ns, const std::string& graph) {
  if (std::string error = first_error(spec, path); !error.empty()) return refused(std::move(error));
  Verdict verdict;
  if (std::string_view given = spec["dynamoNamespace"].string_or(""); !given.empty())
    verdict.warnings.push_back(
        fmt::format("{}.dynamoNamespace is deprecated and ignored. Value '{}' will be replaced with '{}'. "
                    "Remove this field from your configuration",
                    path, printable_line(given.substr(0, 100)), dynamo_namespace(spec, ns, graph)));
  if (!spec["autoscaling"].is_null())
    verdict.warnings.push_back(
        path +
        ".autoscaling is deprecated and ignored. Use DynamoGraphDeploymentScalingAdapter with HPA, KEDA, or Planner "
        "for autoscaling instead. See docs/kubernetes/autoscaling.md");
  return verdict;
}

}  // namespace fairlead::webhook::dynamo
