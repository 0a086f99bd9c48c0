// What is in a cluster besides a rollout, and what others do there meanwhile.
#pragma once

#include <memory>
#include <string>

#include "rollout_judge.h"

namespace fairlead::sim {

// The webhooks of the bundle, with their bad days; and that of an operator which only its older form has, if any.
void serve_webhooks(World& world, const std::shared_ptr<Judge>& judge, const std::string& older_service);

// What somebody has put in already, now and then: the first part of the bundle, some of it as an earlier release had
// it.
Task<void> put_first_part(World& world, const Judge& judge);
// Puts certificate authorities into what has none, sooner or later, as cert-manager does. Until it is cancelled.
Task<void> inject(World& world, std::shared_ptr<Judge> judge);

// Shadows of other runs: one whose time is over, and one that is at work, which must stay.
Task<void> put_foreign_shadows(World& world);
void check_foreign_shadow(World& world);

// Objects of other bundles, of kinds that are pruned: they must stay.
Task<void> put_bystanders(World& world);
void check_bystanders(World& world);

}  // namespace fairlead::sim
