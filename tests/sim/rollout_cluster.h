// What is in a cluster besides a rollout, and what others do there meanwhile.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "rollout_judge.h"

namespace fairlead::sim {

// The webhooks of the bundle, with their bad days; and that of an operator which only its older form has, if any.
void serve_webhooks(World& world, const std::shared_ptr<Judge>& judge, const std::string& older_service);

// What somebody has put in already, now and then: the first part of the bundle, some of it as an earlier release had
// it.
Task<void> put_first_part(World& world, const Judge& judge);
// Somebody deletes a namespace of the bundle, if one is there: not its home.
Task<void> delete_namespace(World& world, Judge& judge);
// Puts certificate authorities into what has none, sooner or later, as cert-manager does. Until it is cancelled.
Task<void> inject(World& world, std::shared_ptr<Judge> judge);

// Shadows of other runs: one whose time is over, and one that is at work, which must stay.
Task<void> put_foreign_shadows(World& world);
void check_foreign_shadow(World& world);

// Objects of others, of kinds that are pruned, by their version: they must stay as they are. Some belong to another
// bundle; to others, the label of the bundle with that home was copied.
using Bystanders = std::map<std::pair<std::string, sandbox::Place>, std::string>;
Task<Bystanders> put_bystanders(World& world, std::string home);
// An object of another bundle in a namespace that leaves this one.
Task<void> put_neighbour(World& world, std::string ns, Bystanders& bystanders);
void check_bystanders(World& world, const Bystanders& bystanders);

}  // namespace fairlead::sim
