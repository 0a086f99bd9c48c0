// The data source fairlead_guards: which webhooks guard which of some manifests, as a rollout of them would find it.
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<DataSource> make_guards_data_source();

}  // namespace fairlead::terraform
