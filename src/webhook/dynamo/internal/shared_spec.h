// The rules for what a component and each service of a graph have in common.
#pragma once

#include <array>
#include <string>

#include "webhook/dynamo/internal/types.h"
#include "webhook/dynamo/internal/verdict.h"

namespace fairlead::webhook::dynamo {

inline constexpr std::array kIngressFields = {Field{"enabled", Type::flag}, Field{"host", Type::text}};
inline constexpr std::array kVolumeMountFields = {Field{"useAsCompilationCache", Type::flag},
                                                  Field{"mountPoint", Type::text}};
inline constexpr std::array kVolumeMount = {Field{"", Type::object, kVolumeMountFields}};
inline constexpr std::array kSharedMemoryFields = {Field{"disabled", Type::flag}, Field{"size", Type::quantity}};
inline constexpr std::array kScalingAdapterFields = {Field{"enabled", Type::flag}};
inline constexpr std::array kSharedFields = {Field{"dynamoNamespace", Type::text},
                                             Field{"globalDynamoNamespace", Type::flag},
                                             Field{"replicas", Type::whole_number},
                                             Field{"ingress", Type::object, kIngressFields},
                                             Field{"volumeMounts", Type::list, kVolumeMount},
                                             Field{"sharedMemory", Type::object, kSharedMemoryFields},
                                             Field{"scalingAdapter", Type::object, kScalingAdapterFields}};

// Checks a spec whose fields have the right types. `path` is "spec" or "spec.services[NAME]". Graph is the name of the
// graph that the component belongs to; it becomes part of the Dynamo namespace.
Verdict check_shared(const Json& spec, const std::string& path, const std::string& ns, const std::string& graph);

// True for a quantity that is missing, empty or zero.
bool is_zero_quantity(const Json& value);

}  // namespace fairlead::webhook::dynamo
