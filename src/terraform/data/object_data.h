// The data source and the ephemeral resource fairlead_object: an object that is in the cluster.
//
// The data source is stored in the state, so it has digests in place of the data of Secrets. The ephemeral resource is
// stored nowhere, and has the values themselves.
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<DataSource> make_object_data_source();
std::unique_ptr<EphemeralResource> make_ephemeral_object();

}  // namespace fairlead::terraform
