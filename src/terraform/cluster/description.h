// A cluster as the attribute `cluster` describes it: what is wrong with it, and what a client needs to know. Sends no
// request.
#pragma once

#include "kube/config/cluster_config.h"
#include "kube/config/surroundings.h"
#include "terraform/schema/schema.h"
#include "terraform/value/diagnostic.h"
#include "terraform/value/value.h"

namespace fairlead::terraform {

// What a description that leaves something out means.
enum class Omitted {
  // Nothing: it is wrong.
  refused,
  // What kubectl would take: the files of KUBECONFIG, and their current context.
  as_kubectl,
};

// What is wrong, as far as it is known. Paths start with `at`. A description by name is right if nothing else is set.
Diagnostics check_description(const Value& cluster, const Path& at, Omitted omitted = Omitted::refused);

// The description is wholly known, and none by name. Errors hold no secrets.
Result<kube::ClusterConfig> read_description(const Value& cluster, const kube::Surroundings& surroundings,
                                             Omitted omitted = Omitted::refused);

}  // namespace fairlead::terraform
