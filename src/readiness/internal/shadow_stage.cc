#include "readiness/internal/shadow_stage.h"

#include <algorithm>
#include <array>

#include "kube/faults/another_object.h"

namespace fairlead::readiness {
namespace {

using kube::Failure, kube::Fault, kube::FaultKind, kube::Outcome, kube::Reply;

constexpr std::array<std::string_view, 3> kPolicyVersions = {"v1", "v1beta1", "v1alpha1"};
constexpr std::string_view kDroppedConditions =
    "the API server does not support matchConditions (Kubernetes before 1.28), so a temporary webhook would match "
    "other requests too";
// How many names to try if an earlier run had the same name.
constexpr int kTakenNames = 20;
constexpr int kRemovals = 4;
constexpr Duration kRemovalPause = std::chrono::milliseconds(200);

bool will_not_change(FaultKind kind) {
  switch (kind) {
    case FaultKind::forbidden:
    case FaultKind::unauthorized:
    case FaultKind::refused:
    case FaultKind::not_served:
    case FaultKind::not_found:
    case FaultKind::not_supported:
    case FaultKind::schema: return true;
    default: return false;
  }
}

bool is_gone(const Failure& failure) { return failure.is(FaultKind::not_found) || failure.is(FaultKind::not_served); }

std::string version_of(GuardKind kind, size_t index) {
  return std::string(kind == GuardKind::mutating_policies ? kPolicyVersions[index] : "v1");
}

}  // namespace

bool may_not_be_sent(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::forbidden:
    case FaultKind::unauthorized:
    case FaultKind::not_served:
    case FaultKind::not_found:
    case FaultKind::not_supported: return true;
    default: return false;
  }
}

Proof not_proved(std::string why, bool hopeless, std::optional<Fault> fault) {
  Proof proof;
  proof.rung = Rung::registered;
  proof.hopeless = hopeless;
  proof.why_not = std::move(why);
  proof.fault = std::move(fault);
  return proof;
}

ShadowStage::ShadowStage(kube::Client& client, Prover::Options options)
    : client_(client), options_(std::move(options)), chores_(client.loop(), &stop_) {
  options_.run = plain_run(options_.run);
}

Stamp ShadowStage::next_stamp() {
  return {options_.run, ++last_number_, loop().clock().wall_now() + options_.life, probe_};
}

std::string ShadowStage::next_guest_manager() {
  return fmt::format("fairlead-marker-{}-{}", options_.run, ++last_guest_);
}

// Runs once per run, before the first webhook shadow. A dry run shows whether the server would keep the
// matchConditions, which make the shadow harmless.
Task<Outcome<std::optional<Proof>>> ShadowStage::rehearse(GuardKind kind, const Build& build) {
  if (rehearsed_ || !is_webhooks(kind)) co_return std::nullopt;
  Stamp stamp = next_stamp();
  kube::WriteOptions dry;
  dry.dry_run = true;
  Outcome<Reply> reply = co_await client_.create(resources_of(kind)[0], "", build(stamp, "v1")[0], dry);
  // A refusal would be the same for the real request, which reports it.
  if (!reply && !reply.error().fault()) co_return std::unexpected(std::move(reply).error());
  if (reply && !keeps_conditions(reply->value)) co_return not_proved(std::string(kDroppedConditions), true);
  rehearsed_ = reply.has_value();
  co_return std::nullopt;
}

// Runs once per kind. A shadow that cannot be deleted again must not be created. A dry-run deletion of a name that does
// not exist shows whether the user may delete.
Task<Outcome<std::optional<Proof>>> ShadowStage::check_removal(GuardKind kind) {
  if (removable_.contains(kind)) co_return std::nullopt;
  kube::DeleteOptions dry;
  dry.dry_run = true;
  std::string name = Stamp{.run = options_.run, .number = 0, .expires = {}}.name();  // numbers begin with 1
  for (const object::Resource& resource : resources_of(kind, version_of(kind, policy_version_))) {
    Outcome<Reply> reply = co_await client_.remove(resource, "", name, dry);
    const Fault* fault = reply ? nullptr : reply.error().fault();
    if (!reply && !fault) co_return std::unexpected(std::move(reply).error());
    if (fault && (fault->kind == FaultKind::forbidden || fault->kind == FaultKind::unauthorized))
      co_return not_proved(
          fmt::format("no temporary object was created to test {}, because it could not be deleted again: {}",
                      name_of(kind), fault->explanation),
          true, *fault);
  }
  removable_.insert(kind);
  co_return std::nullopt;
}

// Sets `taken` if the name is in use, so that the caller tries the next one.
Task<Outcome<std::optional<Proof>>> ShadowStage::create(GuardKind kind, const Stamp& stamp, const Build& build,
                                                        bool& taken) {
  std::string version = version_of(kind, policy_version_);
  std::vector<object::Resource> resources = resources_of(kind, version);
  std::vector<Json> objects = build(stamp, version);
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i == 0) standing_[stamp.name()] = kind;
    Outcome<Reply> reply = co_await client_.create(resources[i], "", objects[i]);
    if (reply && keeps_conditions(reply->value)) continue;
    if (reply) {
      // Not in the background: until the shadow is removed, it fails requests of other users.
      co_await remove(kind, stamp.name()).governed_by(&stop_);
      co_return not_proved(std::string(kDroppedConditions), true);
    }
    const Fault* fault = reply.error().fault();
    if (!fault) co_return std::unexpected(std::move(reply).error());
    taken = fault->kind == FaultKind::already_exists;
    if (i == 0 && !fault->outcome_unknown) standing_.erase(stamp.name());
    else retire(kind, stamp);
    co_return not_proved(
        fmt::format("no temporary object can be created to test {}: {}", name_of(kind), fault->explanation),
        will_not_change(fault->kind), *fault);
  }
  co_return std::nullopt;
}

Task<Outcome<ShadowStage::Placed>> ShadowStage::put(GuardKind kind, Build build) {
  if (auto known = refusals_.find(kind); known != refusals_.end()) co_return Placed{{}, known->second};
  Outcome<std::optional<Proof>> refusal = co_await rehearse(kind, build);
  if (refusal && !*refusal) refusal = co_await check_removal(kind);
  for (int attempt = 0; refusal && !*refusal && attempt < kTakenNames; ++attempt) {
    Stamp stamp = next_stamp();
    bool taken = false;
    size_t version = policy_version_;
    refusal = co_await create(kind, stamp, build, taken);
    if (refusal && !*refusal) co_return Placed{std::move(stamp), std::nullopt};
    if (taken) refusal->reset();
    bool unserved = refusal && *refusal && (*refusal)->fault && (*refusal)->fault->kind == FaultKind::not_served;
    if (unserved && kind == GuardKind::mutating_policies && version + 1 < kPolicyVersions.size()) {
      policy_version_ = version + 1;
      refusal->reset();
    }
  }
  if (!refusal) co_return std::unexpected(std::move(refusal).error());
  if (!*refusal) co_return Placed{{}, not_proved("every name for a temporary object is in use", false)};
  if ((*refusal)->hopeless) refusals_[kind] = **refusal;
  co_return Placed{{}, **std::move(refusal)};
}

Task<Outcome<ShadowStage::Placed>> ShadowStage::put_hook(Guest guest) {
  bool mutating = guest.resource.kind == "MutatingWebhookConfiguration";
  GuardKind kind = mutating ? GuardKind::mutating_webhooks : GuardKind::validating_webhooks;
  Outcome<std::optional<Proof>> refusal = co_await rehearse(
      kind, [kind](const Stamp& stamp, std::string_view version) { return marker_objects(kind, stamp, version); });
  if (!refusal) co_return std::unexpected(std::move(refusal).error());
  if (*refusal) co_return Placed{{}, **std::move(refusal)};
  Stamp stamp = next_stamp();
  std::vector<std::string>& hooks = guests_.try_emplace(guest.manager, guest).first->second.hooks;
  hooks.push_back(stamp.guest());
  kube::ApplyOptions options;
  options.field_manager = guest.manager;
  Outcome<Reply> reply =
      co_await client_.apply(guest.resource, "", guest.configuration,
                             guest_patch(guest.resource, guest.configuration, guest.uid, mutating, stamp), options);
  if (reply && keeps_conditions(reply->value)) co_return Placed{std::move(stamp), std::nullopt};
  if (reply) {
    co_await remove_guest(guest.manager).governed_by(&stop_);
    co_return Placed{{}, not_proved(std::string(kDroppedConditions), true)};
  }
  const Fault* fault = reply.error().fault();
  if (!fault) co_return std::unexpected(std::move(reply).error());
  co_return Placed{{},
                   not_proved(fmt::format("no temporary webhook can be added to {} {}: {}", guest.resource.kind,
                                          guest.configuration, fault->explanation),
                              will_not_change(fault->kind), *fault)};
}

ShadowStage::NextProbe ShadowStage::next_probe(const Stamp& stamp) {
  if (stamp.probe == ProbeKind::runtime_class) {
    if (options_.namespaces.empty()) return NextProbe::none;
    probe_ = ProbeKind::config_map;
    return NextProbe::new_shadow;
  }
  return closed_.size() < options_.namespaces.size() ? NextProbe::same_shadow : NextProbe::none;
}

Task<Outcome<Reply>> ShadowStage::probe(const Stamp& stamp, uint64_t connection) {
  ProbeObject probe = probe_object(stamp.probe);
  kube::WriteOptions options;
  options.field_manager = stamp.manager();
  options.dry_run = true;
  options.connection = connection;
  if (stamp.probe == ProbeKind::runtime_class)
    co_return co_await client_.create(probe.resource, "", probe.object, options);
  std::string ns = options_.namespaces[place_];
  Outcome<Reply> answer = co_await client_.create(probe.resource, ns, probe.object, options);
  const Fault* fault = answer ? nullptr : answer.error().fault();
  bool never = fault && may_not_be_sent(*fault);
  bool not_yet =
      fault && (fault->kind == FaultKind::namespace_missing || fault->kind == FaultKind::namespace_terminating);
  if (never) closed_.insert(ns);
  // Moves on to the next namespace that may allow probes, unless another probe has done so already.
  if ((never || not_yet) && options_.namespaces[place_] == ns)
    for (size_t i = 1; i <= options_.namespaces.size(); ++i)
      if (size_t at = (place_ + i) % options_.namespaces.size(); !closed_.contains(options_.namespaces[at])) {
        place_ = at;
        break;
      }
  co_return answer;
}

Task<Outcome<Reply>> ShadowStage::get(object::Resource resource, std::string name) {
  co_return co_await client_.get(resource, "", name);
}

void ShadowStage::retire(GuardKind kind, const Stamp& stamp) { chores_.spawn(remove(kind, stamp.name())); }
void ShadowStage::retire_guest(std::string manager) { chores_.spawn(remove_guest(std::move(manager))); }

// Returns false if the object may still exist.
Task<bool> ShadowStage::remove_object(object::Resource resource, std::string name, std::string uid) {
  Duration pause = kRemovalPause;
  kube::DeleteOptions options;
  options.uid = uid;
  for (int attempt = 0; attempt < kRemovals; ++attempt) {
    Outcome<Reply> reply = co_await client_.remove(resource, "", name, options);
    if (reply || is_gone(reply.error())) co_return true;
    // The name now belongs to another object.
    if (!uid.empty() && reply.error().is(FaultKind::conflict)) co_return true;
    if (const Fault* fault = reply.error().fault(); fault && will_not_change(fault->kind)) co_return false;
    if (!co_await sleep_for(loop(), pause)) co_return false;
    pause *= 2;
  }
  co_return false;
}

Task<void> ShadowStage::remove(GuardKind kind, std::string name) {
  std::vector<object::Resource> resources = resources_of(kind, version_of(kind, policy_version_));
  bool gone = true;
  for (auto resource = resources.rbegin(); resource != resources.rend(); ++resource)
    gone = co_await remove_object(*resource, name, "") && gone;
  if (gone) standing_.erase(name);
}

Task<void> ShadowStage::remove_guest(std::string manager) {
  auto known = guests_.find(manager);
  if (known == guests_.end()) co_return;
  Guest guest = known->second;
  kube::ApplyOptions options;
  options.field_manager = manager;
  Duration pause = kRemovalPause;
  for (int attempt = 0; attempt < kRemovals; ++attempt) {
    Outcome<Reply> reply = co_await client_.apply(guest.resource, "", guest.configuration,
                                                  empty_patch(guest.resource, guest.configuration, guest.uid), options);
    const Fault* fault = reply ? nullptr : reply.error().fault();
    bool is_replaced = fault && (fault->kind == FaultKind::conflict || kube::is_about_another_object(*fault));
    bool gone = reply || is_gone(reply.error()) || is_replaced;
    if (reply)
      // If somebody replaced the whole configuration meanwhile, they own our hook as well, and it has to be removed
      // explicitly.
      for (const Json& hook : reply->value["webhooks"].items())
        if (std::string name(hook["name"].string_or("")); std::ranges::find(guest.hooks, name) != guest.hooks.end())
          gone = co_await remove_leftover(guest.resource, guest.configuration, name) && gone;
    if (gone) {
      guests_.erase(manager);
      co_return;
    }
    if (!co_await sleep_for(loop(), pause)) co_return;
    pause *= 2;
  }
}

Task<void> ShadowStage::clear() {
  Loop::TimerId timer = loop().call_after(options_.clean_up_time, [this] { stop_.cancel(); });
  co_await chores_.join();
  for (const auto& [name, kind] : standing_) chores_.spawn(remove(kind, name));
  for (const auto& [manager, guest] : guests_) chores_.spawn(remove_guest(manager));
  co_await chores_.join();
  loop().cancel_timer(timer);
}

}  // namespace fairlead::readiness
