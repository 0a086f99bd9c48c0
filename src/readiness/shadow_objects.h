// What a shadow is made of: names, and the objects and hooks to put into a cluster. Pure.
//
// All of it matches only dry runs that carry the shadow's own field manager: nobody else's writes, whatever happens to
// us.
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

// What a probe asks the API server to create, in a dry run. API servers call webhooks and policies for both kinds; for
// reviews (SelfSubjectReview and its like), which everybody may send, they have called none since Kubernetes 1.37.
enum class ProbeKind {
  // Has no namespace and no quota, and hardly any webhook looks at it.
  runtime_class,
  // For those who may not create RuntimeClasses. Needs a namespace that exists.
  config_map,
};

// One shadow: its run, its number there, when others may remove it, and the kind of its probes. A change is a new
// number: an API server can stay with the old form of what is updated, or made again under its name.
struct Stamp {
  std::string run;
  uint64_t number = 0;
  WallTime expires;
  ProbeKind probe = ProbeKind::runtime_class;

  // "0-fairlead-shadow-run-7": first in the order in which webhooks are called.
  std::string name() const;
  // The field manager of its probes.
  std::string manager() const;
  std::string marker() const;
  std::string mirror() const;
  // A marker inside somebody's configuration: has the expiry in its name, since it has no other place for it.
  std::string guest() const;
};

// Small letters, digits and dashes, neither first nor last a dash, 30 at most.
std::string plain_run(std::string_view run);

// In the order in which they are made. Mutating policies are served in one of several versions.
std::vector<object::Resource> resources_of(GuardKind kind, std::string_view version = "v1");
// The webhook configurations of a kind ("ValidatingWebhookConfiguration"); nothing for any other.
std::optional<object::Resource> configurations_of(std::string_view kind);

// A configuration, or a policy with its binding, that says no to its probes.
std::vector<Json> marker_objects(GuardKind kind, const Stamp& stamp, std::string_view version = "v1");
// A mutating configuration that asks the target, and says no if the target does not.
Json mirror_object(const Stamp& stamp, const Target& target, int seconds);
// To be applied to a configuration: one hook more. Only to the one that has this uid.
Json guest_patch(const object::Resource& resource, std::string_view name, std::string_view uid, bool mutating,
                 const Stamp& stamp);
// The same without the hook: takes it away again.
Json empty_patch(const object::Resource& resource, std::string_view name, std::string_view uid);

// The server has kept every condition: an old one drops what it does not know, and the hook would match everybody.
bool keeps_conditions(const Json& object);

// What a probe creates, dry.
struct ProbeObject {
  object::Resource resource;
  Json object;
};
ProbeObject probe_object(ProbeKind kind);

// Of which run an object is the shadow, and until when; nothing if it is none or does not say.
struct Ownership {
  std::string run;
  WallTime expires;
};
std::optional<Ownership> shadow_ownership(const Json& object);
std::optional<Ownership> guest_ownership(std::string_view hook);

}  // namespace fairlead::readiness
