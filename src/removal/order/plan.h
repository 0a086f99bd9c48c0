// Makes the plan of a removal from an order.
#pragma once

#include "plan/plan.h"
#include "removal/order/order.h"

namespace fairlead::removal {

using plan::Plan;

// Nodes keep their numbers. A target is done when it is deleted. The order must outlive the plan and have no loops.
Plan plan_of(const Order& order);

}  // namespace fairlead::removal
