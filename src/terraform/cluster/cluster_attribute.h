// The attributes that describe a cluster.
#pragma once

#include "terraform/schema/schema.h"

namespace fairlead::terraform {

// The attribute `cluster` of every resource and data source.
const Attribute& cluster_attribute();
// The attribute `clusters` of the provider block: the same descriptions, by name.
const Attribute& clusters_attribute();

}  // namespace fairlead::terraform
