// What the controllers of workloads have in common: pods and who owns them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/controllers/controllers.h"

namespace fairlead::sandbox {

// The kinds that several controllers work on.
inline const ResourceId kClaims{"", "persistentvolumeclaims"};
inline const ResourceId kNamespaces{"", "namespaces"};
inline const ResourceId kPods{"", "pods"};
inline const ResourceId kReplicaSets{"apps", "replicasets"};
inline const ResourceId kServices{"", "services"};

// The owner that controls it; null if there is none.
const Json& controller_of(const Json& object);
// The place of that owner, if it is of that kind.
std::optional<Place> owner_place(const Place& place, const Json& object, std::string_view kind);
Json owner_reference(const Json& owner);

// The objects of a resource that are controlled by the one with that uid.
std::vector<ObjectPtr> controlled_by(const Core& core, const ResourceId& resource, const Json& owner);

// Gives those that fit its selector and that nobody controls to `owner`.
Task<void> adopt(Actor& actor, ResourceId resource, Json owner);

bool is_ready(const Json& pod);
// Neither ended nor on its way out.
bool is_active(const Json& pod);
// It was told to go, and its containers may still run.
bool is_terminating(const Json& pod);
bool is_deleting(const Json& object);
// Ready for minReadySeconds; else how long it still takes, if only time is missing.
bool is_available(const Core& core, const Json& pod, int64_t min_ready_seconds, Duration& wait);

// A pod from a template, owned by `owner`. Without a name: the caller sets name or generateName.
Json pod_from(const Json& pod_template, const Json& owner);

// A short text that changes whenever the template does, in the alphabet of names.
std::string template_hash(const Json& pod_template);

// "25%" or a number, of a total.
int64_t resolve_amount(const Json& amount, int64_t total, bool round_up);

// An Event about the object, as `kubectl describe` shows it. Written without managedFields.
void record_event(Core& core, const Json& about, std::string_view type, std::string_view reason, std::string message,
                  std::string_view component);

Place place_of(const Json& object);
std::string uid_of(const Json& object);

}  // namespace fairlead::sandbox
