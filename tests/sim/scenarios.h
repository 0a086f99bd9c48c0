// The scenarios that there are, and those with a bug put in on purpose, which the others must be able to find.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/runner.h"
#include "store_log.h"

namespace fairlead::sim {

// Stands between a client and its network, and does something wrong there.
using Sabotage = std::function<std::unique_ptr<http::Transport>(http::Transport& network, const StoreLog& log)>;

// Watchers of objects that writers change.
Scenario watch_scenario(Sabotage sabotage = {});
// Writers that count up in one object.
Scenario counter_scenario(Sabotage sabotage = {});
// Lists, page by page, while writers change the objects.
Scenario list_scenario(Sabotage sabotage = {});
// Writes that a webhook has to allow.
Scenario webhook_scenario();

// A bundle, rolled out by the engine, through a network of which the sabotage is part.
using RolloutSabotage = std::function<std::unique_ptr<http::Transport>(http::Transport& network)>;
Scenario rollout_scenario(RolloutSabotage sabotage = {});

// A bundle with an operator, taken out by the engine.
using RemovalSabotage = std::function<std::unique_ptr<http::Transport>(http::Transport& network)>;
Scenario removal_scenario(RemovalSabotage sabotage = {});

// Operators of one namespace that share a Lease, and the operator of the whole cluster, which looks at it.
struct LeaseSabotage {
  std::function<std::unique_ptr<http::Transport>(World& world, http::Transport& network)> network;
  // The wall clock stands still, too, while a machine is suspended.
  bool wall_sleeps = false;
};
Scenario lease_scenario(LeaseSabotage sabotage = {});

// Writers behind two replicas of the gate that are killed, stalled and shut out, and a webhook that comes late. With
// the bug, the gate takes what it cannot tell for a proof that the webhook does not work.
Scenario gate_scenario(bool believes_doubts = false);

// A watch that goes on one version late.
Sabotage resumes_late();
// After a 410, what was deleted meanwhile stays in the list.
Sabotage forgets_deletions();
// An update whose answer is lost is sent again, on top of whatever is there by then.
Sabotage overwrites();
// A list whose pages expired goes on with what the store has now.
Sabotage mixes_pages();
// What is to go over one connection goes over any.
RolloutSabotage forgets_connection();
// What an earlier run has put there is not found.
RolloutSabotage forgets_members();
// That another run is at work on the bundle is not seen.
RolloutSabotage overlooks_claim();
// What is meant as a dry run is none.
RolloutSabotage forgets_dry_run();
RolloutSabotage overlooks_former_managers();
// Guards are taken to be in effect and to answer before they do.
RolloutSabotage believes_at_once();
// A Deployment counts as ready as soon as it is stored.
RolloutSabotage believes_ready();
// What lingers for its finalizers is taken for gone.
RemovalSabotage believes_deleted();
// What could not be removed is taken for gone.
RemovalSabotage assumes_gone();
// What has the name of an object that is to go is removed in its place.
RemovalSabotage forgets_uids();
// What others have in a namespace, or of a kind, is not seen.
RemovalSabotage overlooks_others();
// That something carries the finalizer of somebody else is not seen.
RemovalSabotage overlooks_finalizers();
// An object that the label was copied to is taken for a member.
RemovalSabotage believes_labels();
// A Lease is written whatever has become of it since it was read.
LeaseSabotage takes_regardless();
// Lists of Leases are old.
LeaseSabotage shows_the_past();
// That the machine was suspended is not noticed.
LeaseSabotage overlooks_suspension();

}  // namespace fairlead::sim
