// The data source fairlead_webhook: how far an admission webhook is, with the evidence.
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<DataSource> make_webhook_data_source();

}  // namespace fairlead::terraform
