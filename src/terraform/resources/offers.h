// Everything that the provider offers. This is the room's first header.
#pragma once

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Offers all_offers();

}  // namespace fairlead::terraform
