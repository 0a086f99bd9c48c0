#include "removal/order/plan.h"

namespace fairlead::removal {

Plan plan_of(const Order& order) {
  std::vector<plan::Role> roles(order.nodes(), plan::Role::group);
  std::fill_n(roles.begin(), order.targets, plan::Role::work);
  std::vector<plan::Edge> edges;
  edges.reserve(order.edges.size());
  for (const Edge& edge : order.edges)
    edges.push_back({.node = edge.later, .needs = edge.sooner, .level = plan::Level::done, .reason = edge.reason});
  return Plan(std::move(roles), std::move(edges));
}

}  // namespace fairlead::removal
