// Builds the names, objects and hooks of a shadow. Pure.
//
// Everything matches only dry runs with the shadow's own field manager. So a shadow never affects a write of anybody
// else, even if it is left behind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "object/resource.h"
#include "readiness/proof.h"

namespace fairlead::readiness {

inline constexpr std::string_view kShadowLabel = "fairlead.dev/shadow";
inline constexpr std::string_view kExpiryAnnotation = "fairlead.dev/expires";

// What a probe asks the API server to create, in a dry run. API servers call webhooks and policies for both kinds. They
// no longer call any for reviews (SelfSubjectReview and the like), which everybody may send, since Kubernetes 1.37.
enum class ProbeKind {
  // Has no namespace and no quota, and hardly any webhook matches it.
  runtime_class,
  // For users who may not create RuntimeClasses. Needs a namespace that exists.
  config_map,
};

// Identifies one shadow: its run, its number in the run, the time when others may remove it, and the kind of its
// probes. A changed shadow gets a new number, because an API server can keep using the old version of an object that is
// updated, or created again under its name.
struct Stamp {
  std::string run;
  uint64_t number = 0;
  WallTime expires;
  ProbeKind probe = ProbeKind::runtime_class;

  // For example "0-fairlead-shadow-run-7". The 0 makes it the first in the order in which webhooks are called.
  std::string name() const;
  // The field manager of its probes.
  std::string manager() const;
  std::string marker() const;
  std::string mirror() const;
  // The name of a marker hook in a configuration of somebody else. It contains the expiry, because a hook has no other
  // place for it.
  std::string guest() const;
};

// Returns the name of the run in lower-case letters, digits and dashes, at most 30 of them, without a dash at either
// end.
std::string plain_run(std::string_view run);

// Returns the resources of a shadow in the order in which they are created. `version` is used for mutating policies,
// which different servers serve in different versions.
std::vector<object::Resource> resources_of(GuardKind kind, std::string_view version = "v1");
// Returns the resource of a webhook configuration kind, such as "ValidatingWebhookConfiguration". Returns nothing for
// any other kind.
std::optional<object::Resource> configurations_of(std::string_view kind);

// Builds a webhook configuration, or a policy with its binding. It refuses its probes; a mutating policy annotates them
// instead.
std::vector<Json> marker_objects(GuardKind kind, const Stamp& stamp, std::string_view version = "v1");
// Builds a mutating configuration with two hooks: the mirror calls the target, and the marker refuses the probe after
// it.
Json mirror_object(const Stamp& stamp, const Target& target, int seconds);
// Builds a patch for server-side apply that adds a marker hook to a configuration. It fits only the object with this
// uid.
Json guest_patch(const object::Resource& resource, std::string_view name, std::string_view uid, bool mutating,
                 const Stamp& stamp);
// Builds the same patch without the hook. Applying it removes the hook.
Json empty_patch(const object::Resource& resource, std::string_view name, std::string_view uid);

// True if the server kept the matchConditions of all our hooks. An old server drops fields that it does not know, and
// the hook would then match everybody's requests.
bool keeps_conditions(const Json& object);

// What a probe creates, in a dry run.
struct ProbeObject {
  object::Resource resource;
  Json object;
};
ProbeObject probe_object(ProbeKind kind);

// The run that a shadow belongs to, and when it expires. The functions return nothing if the object or hook is not a
// shadow.
struct Ownership {
  std::string run;
  WallTime expires;
};
std::optional<Ownership> shadow_ownership(const Json& object);
std::optional<Ownership> guest_ownership(std::string_view hook);

}  // namespace fairlead::readiness
