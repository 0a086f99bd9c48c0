#include "inventory/inventory.h"

#include "async/scope.h"
#include "base/backoff.h"
#include "base/timestamp.h"
#include "base/version.h"
#include "object/name.h"

namespace fairlead::inventory {
namespace {

using kube::Failure;
using kube::FaultKind;
using kube::Outcome;

constexpr std::string_view kClaimAnnotation = "fairlead.dev/claim";
constexpr std::string_view kInstalledAnnotation = "fairlead.dev/installed";
constexpr std::string_view kManagersAnnotation = "fairlead.dev/field-managers";
constexpr size_t kMaxName = 53;
// The number of attempts for a failing swap. The pauses between them grow.
constexpr int kAttempts = 8;

object::Resource config_maps() {
  return {.group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true};
}

bool is_label(std::string_view name, size_t max) {
  auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= max && std::ranges::all_of(name, fits) && name.front() != '-' &&
         name.back() != '-';
}

// Reads a JSON list of names.
std::set<std::string, std::less<>> read_managers(const Json& annotations) {
  std::set<std::string, std::less<>> managers;
  Result<Json> list = Json::parse(annotations[kManagersAnnotation].string_or("[]"), {.bytes = 65536, .depth = 2});
  if (!list) return managers;
  for (const Json& one : list->items())
    if (!one.string_or("").empty()) managers.emplace(one.string_or(""));
  return managers;
}

// Returns "fairlead" for "fairlead/v0.1.0".
std::string_view tool_of(std::string_view tooling) { return tooling.substr(0, tooling.rfind('/')); }

bool changed_meanwhile(const Failure& failure) {
  return failure.is(FaultKind::conflict) || failure.is(FaultKind::already_exists) || failure.is(FaultKind::not_found);
}

// True if the failure may be temporary. The write may have happened all the same.
bool passing(const Failure& failure) {
  if (failure.fault()) return failure.fault()->disposition == kube::Disposition::passing;
  ErrorKind kind = failure.error().kind();
  return kind == ErrorKind::unavailable || kind == ErrorKind::timeout || kind == ErrorKind::protocol;
}

}  // namespace

Result<void> check_name(std::string_view name) {
  if (is_label(name, kMaxName)) return {};
  return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" is not a valid bundle name", name))
                  .because(fmt::format("a bundle name consists of lower-case letters, digits and '-', starts and ends "
                                       "with a letter or digit, and has at most {} characters",
                                       kMaxName)));
}

bool webhook_in_the_way(const Failure& failure) {
  const kube::Fault* fault = failure.fault();
  return fault && fault->webhook && fault->kind != FaultKind::webhook_denied;
}

Inventory::Inventory(kube::Client& client, kube::Discovery& discovery, Options options)
    : client_(client),
      discovery_(discovery),
      options_(std::move(options)),
      parent_{"", "ConfigMap", options_.ns, bundle().record()},
      id_(bundle().label_value()) {}

Inventory::~Inventory() = default;

Task<Outcome<std::unique_ptr<Inventory>>> Inventory::open(kube::Client& client, kube::Discovery& discovery,
                                                          Options options) {
  CO_TRY(check_name(options.name));
  CO_TRY(object::check_path_segment("the namespace of a bundle", options.ns));
  std::unique_ptr<Inventory> inventory(new Inventory(client, discovery, std::move(options)));
  CO_TRY(co_await inventory->read());
  inventory->remember_reading();
  co_return inventory;
}

Outcome<std::unique_ptr<Inventory>> Inventory::of(kube::Client& client, kube::Discovery& discovery, Json parent) {
  std::string_view name = parent["metadata"]["name"].string_or("");
  std::string_view ns = parent["metadata"]["namespace"].string_or("");
  std::string prefix = fmt::format("{}-", kTool);
  std::string bundle(name.starts_with(prefix) ? name.substr(prefix.size()) : "");
  TRY(check_name(bundle));
  std::unique_ptr<Inventory> inventory(
      new Inventory(client, discovery, {.name = std::move(bundle), .ns = std::string(ns)}));
  TRY(inventory->take_in(std::move(parent)));
  inventory->remember_reading();
  return inventory;
}

std::string_view Inventory::annotation(std::string_view name) const {
  if (auto found = annotations_.find(name); found != annotations_.end()) return found->second;
  return stored_ ? (*stored_)["metadata"]["annotations"][name].string_or("") : std::string_view();
}

std::string_view Inventory::uid() const {
  return stored_ ? (*stored_)["metadata"]["uid"].string_or("") : std::string_view();
}

std::string Inventory::field_manager() const {
  return options_.field_manager.empty() ? bundle().field_manager() : options_.field_manager;
}

Identity Inventory::identity() const {
  Identity identity{.label_value = id_, .managers = managers_};
  identity.managers.insert(bundle().field_manager());
  identity.managers.insert(field_manager());
  return identity;
}

std::string Inventory::text() const { return fmt::format("bundle {} in namespace {}", options_.name, options_.ns); }

std::optional<Claim> Inventory::claimed_by() const {
  if (!stored_) return std::nullopt;
  const std::string* claim = (*stored_)["metadata"]["annotations"][kClaimAnnotation].if_string();
  if (!claim || claim->empty()) return std::nullopt;
  return Claim::parse(*claim);
}

bool Inventory::is_free() const {
  std::optional<Claim> other = claimed_by();
  if (!other || has_ended(*other)) return true;
  Loop& loop = client_.loop();
  return ClaimWatch().see(*other, loop.now(), loop.clock().wall_now()) == ClaimWatch::Verdict::dead;
}

bool Inventory::covers(const object::Key& key) const {
  bool in_reach = key.ns.empty() || key.ns == parent_.ns || coverage_.namespaces.contains(key.ns);
  return exists() && in_reach && coverage_.kinds.contains({key.group, key.kind});
}

bool Inventory::has_ended(const Claim& claim) const {
  return !claim.origin.empty() && options_.known_dead && options_.known_dead(claim.origin);
}

bool Inventory::is_ours() const {
  std::optional<Claim> claim = claimed_by();
  return own_ && claim && claim->same_run(*own_);
}

Task<Outcome<void>> Inventory::read() {
  Outcome<kube::Reply> reply = co_await client_.get(config_maps(), parent_.ns, parent_.name);
  if (!reply && !reply.error().is(FaultKind::not_found) && !reply.error().is(FaultKind::namespace_missing))
    co_return std::unexpected(Failure(std::move(reply).error()));
  co_return take_in(reply ? std::optional(std::move(reply->value)) : std::nullopt);
}

std::string Inventory::version() const {
  return stored_ ? std::string((*stored_)["metadata"]["resourceVersion"].string_or("")) : std::string();
}

void Inventory::remember_reading() {
  read_version_ = version();
  read_while_held_ = !is_ours() && !is_free();
}

Outcome<void> Inventory::take_in(std::optional<Json> parent) {
  if (parent) {
    const Json& metadata = (*parent)["metadata"];
    std::string_view tooling = metadata["annotations"][kToolingAnnotation].string_or("");
    if (metadata["labels"][kIdLabel].string_or("") != id_ || tool_of(tooling) != kTool)
      return std::unexpected(
          Failure(Error(ErrorKind::invalid, fmt::format("{} cannot be used", text()))
                      .because(fmt::format("{} already exists and is not the inventory of that bundle", parent_.text()))
                      .next(fmt::format("kubectl -n {} get configmap {} -o yaml", parent_.ns, parent_.name))));
    coverage_ = Coverage::read(metadata["annotations"], parent_.ns);
    managers_ = read_managers(metadata["annotations"]);
  } else {
    coverage_ = {};
    managers_.clear();
  }
  stored_ = std::move(parent);
  read_at_ = client_.loop().now();
  return {};
}

bool Inventory::was_installed() const {
  return stored_ && (*stored_)["metadata"]["annotations"].contains(kInstalledAnnotation);
}

Json Inventory::parent_with(const Coverage& coverage, const std::optional<Claim>& claim) const {
  // Keeps everything that people have added to the parent.
  Json parent = stored_.value_or(Json(Json::Object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}}));
  Json& metadata = parent.make("metadata");
  metadata.make("name") = parent_.name;
  metadata.make("namespace") = parent_.ns;
  metadata.make("labels").make(kIdLabel) = id_;
  Json& annotations = metadata.make("annotations");
  annotations.make(kToolingAnnotation) = fmt::format("{}/v{}", kTool, program_version());
  coverage.write(annotations, parent_.ns);
  Identity known = identity();
  known.managers.erase(bundle().field_manager());
  if (!known.managers.empty())
    annotations.make(kManagersAnnotation) = Json(Json::Array(known.managers.begin(), known.managers.end())).dump();
  if (installed_) annotations.make(kInstalledAnnotation) = "true";
  for (const auto& [name, value] : annotations_) annotations.make(name) = value;
  if (claim) annotations.make(kClaimAnnotation) = claim->dump();
  else annotations.if_object()->erase(kClaimAnnotation);
  if (Json::Object* members = metadata.if_object()) members->erase("managedFields");
  return parent;
}

Task<Outcome<void>> Inventory::swap(const Coverage& coverage, const std::optional<Claim>& claim) {
  Json parent = parent_with(coverage, claim);
  // A parent that was read has a resourceVersion, so the server refuses the write if somebody else was faster.
  Outcome<kube::Reply> reply = stored_ ? co_await client_.replace(config_maps(), parent_.ns, parent_.name, parent)
                                       : co_await client_.create(config_maps(), parent_.ns, parent);
  if (!reply) co_return std::unexpected(Failure(std::move(reply).error()));
  co_return take_in(std::move(reply->value));
}

Task<Outcome<void>> Inventory::remove_parent() {
  const Json& metadata = (*stored_)["metadata"];
  kube::DeleteOptions options;
  options.uid = metadata["uid"].string_or("");
  options.resource_version = metadata["resourceVersion"].string_or("");
  Outcome<kube::Reply> reply = co_await client_.remove(config_maps(), parent_.ns, parent_.name, options);
  if (!reply && !reply.error().is(FaultKind::not_found)) co_return std::unexpected(Failure(std::move(reply).error()));
  co_return take_in(std::nullopt);
}

Task<Outcome<void>> Inventory::recover(Failure failure, int& attempts) {
  while (true) {
    bool at_once = changed_meanwhile(failure) && attempts == 0;
    if ((!changed_meanwhile(failure) && !passing(failure)) || ++attempts == kAttempts)
      co_return std::unexpected(std::move(failure));
    if (!at_once) CO_TRY(co_await sleep_for(client_.loop(), std::chrono::milliseconds(100) * (1 << attempts)));
    Outcome<void> again = co_await read();
    if (again) co_return Outcome<void>();
    failure = std::move(again).error();
  }
}

Error Inventory::held(const Claim& other) const {
  return Error(ErrorKind::unavailable, fmt::format("{} is claimed by another run", text()))
      .because(fmt::format("{} claimed it{}{}, and that run is still alive", other.holder,
                           other.since.empty() ? "" : " at ", other.since))
      .next(fmt::format("wait until that run has ended; kubectl -n {} describe configmap {} shows it", parent_.ns,
                        parent_.name));
}

Error Inventory::lost() const {
  Error error(ErrorKind::unavailable, fmt::format("{} is no longer claimed by this run", text()));
  std::optional<Claim> other = claimed_by();
  std::string why = !stored_ ? fmt::format("somebody deleted {}", parent_.text())
                    : !other ? fmt::format("somebody removed the claim from {}", parent_.text())
                             : fmt::format("{} took over the claim", other->holder);
  return std::move(error).because(std::move(why)).next("run again when no other run is working on it");
}

Task<Outcome<void>> Inventory::claim(std::vector<Wanted> wanted) {
  Coverage wish;
  std::map<GroupKind, std::map<std::string, size_t>> uses;
  for (const Wanted& one : wanted) {
    GroupKind kind{one.key.group, one.key.kind};
    if (!one.key.ns.empty()) wish.namespaces.insert(one.key.ns);
    ++uses[kind][one.version];
    wish.kinds.insert(std::move(kind));
  }
  for (const auto& [kind, versions] : uses)
    versions_[kind] = std::ranges::max_element(versions, {}, [](const auto& use) { return use.second; })->first;

  Loop& loop = client_.loop();
  Claim mine{.holder = options_.holder,
             .origin = options_.origin,
             .since = dump_micro_time(loop.clock().wall_now()),
             .lease = options_.lease};
  mine = Claim::parse(mine.dump());  // as others will read it
  ClaimWatch watch;
  bool told = false;
  int attempts = 0;
  while (true) {
    std::optional<Claim> other = claimed_by();
    bool is_gone = other && (other == dead_ || has_ended(*other));
    if (other && !other->same_run(mine) && !is_gone) {
      ClaimWatch::Verdict verdict = watch.see(*other, read_at_, loop.clock().wall_now());
      if (verdict == ClaimWatch::Verdict::alive) co_return std::unexpected(Failure(held(*other)));
      if (verdict == ClaimWatch::Verdict::unknown) {
        if (!told && options_.waiting) options_.waiting(*other, watch.dies() - loop.now());
        told = true;
        // Reads often enough to see a renewal soon. Holders renew every third of a lease.
        CO_TRY(co_await sleep_until(loop, std::min(watch.dies(), loop.now() + other->lease / 15)));
        Outcome<void> again = co_await read();
        if (!again) CO_TRY(co_await recover(std::move(again).error(), attempts));
        continue;
      }
      dead_ = std::move(other);
    }
    Coverage united = coverage_;
    united.add(wish);
    mine.renewed = dump_micro_time(loop.clock().wall_now());
    TimePoint sent = loop.now();
    bool is_as_read = version() == read_version_ && !read_while_held_;
    // Cancelling the run must not cancel this write: the server may carry it out all the same, and then nobody would
    // know that the claim has to be removed.
    CancelSource until_answered;
    Outcome<void> swapped = co_await swap(united, mine).governed_by(&until_answered);
    if (swapped) {
      overtaken_ = !is_as_read;
      own_ = std::move(mine);
      renewed_at_ = sent;
      co_return Outcome<void>();
    }
    CO_TRY(co_await recover(std::move(swapped).error(), attempts));
  }
}

// Renews the claim once, with as many attempts as make sense.
Task<Result<bool>> Inventory::renew() {
  int attempts = 0;
  while (true) {
    Claim next = *own_;
    ++next.renewals;
    next.renewed = dump_micro_time(client_.loop().clock().wall_now());
    TimePoint sent = client_.loop().now();
    Outcome<void> swapped = co_await swap(coverage_, next);
    if (swapped) {
      own_ = std::move(next);
      renewed_at_ = sent;
      held_up_by_.clear();
      co_return true;
    }
    bool in_the_way = webhook_in_the_way(swapped.error());
    if (in_the_way) tell_held_up(*swapped.error().fault());
    Outcome<void> recovered = in_the_way ? co_await read() : co_await recover(std::move(swapped).error(), attempts);
    if (!recovered) co_return fail(recovered.error().error());
    if (!is_ours()) {
      own_.reset();
      co_return fail(lost());
    }
    if (in_the_way) co_return false;
  }
}

void Inventory::tell_held_up(const kube::Fault& fault) {
  if (held_up_by_ == fault.webhook->name) return;
  held_up_by_ = fault.webhook->name;
  if (options_.held_up) options_.held_up(fault);
}

Task<Result<void>> Inventory::keep() {
  if (!own_) co_return fail(ErrorKind::internal, "{} is renewed without being claimed", text());
  Loop& loop = client_.loop();
  while (true) {
    CO_TRY(co_await sleep_until(loop, renewed_at_ + options_.lease / 3));
    // This is before others may take the bundle, so that the work has time to stop.
    TimePoint given_up = renewed_at_ + options_.lease * 5 / 6;
    for (Backoff pauses(std::chrono::seconds(1), options_.lease / 6);;) {
      Result<bool> renewed = co_await with_deadline(loop, given_up, "no answer in time", renew());
      if (renewed && *renewed) break;
      if (renewed) {
        given_up = read_at_ + options_.lease * 5 / 6;
        CO_TRY(co_await sleep_for(loop, pauses.next()));
        continue;
      }
      if (!own_ || renewed.error().kind() == ErrorKind::cancelled) co_return fail(renewed.error());
      if (loop.now() >= given_up) {
        own_.reset();
        co_return fail(Error(ErrorKind::timeout, fmt::format("{} is no longer claimed by this run", text()))
                           .because(std::move(renewed).error().in("the claim could not be renewed")));
      }
      CO_TRY(co_await sleep_until(loop, std::min(given_up, loop.now() + std::chrono::seconds(1))));
    }
  }
}

Task<Outcome<void>> Inventory::settle(const std::vector<object::Key>& remaining) {
  Coverage coverage{.kinds = unlisted_, .namespaces = {}};
  // It is not known in which namespaces their members are.
  if (!unlisted_.empty()) coverage.namespaces = coverage_.namespaces;
  for (const object::Key& key : remaining) {
    coverage.kinds.insert({key.group, key.kind});
    if (!key.ns.empty()) coverage.namespaces.insert(key.ns);
  }
  installed_ = true;
  return give_back(std::move(coverage), true);
}

Task<Outcome<void>> Inventory::release() { return give_back(coverage_, false); }

Task<Outcome<void>> Inventory::give_back(Coverage coverage, bool remove_if_empty) {
  if (!own_)
    co_return std::unexpected(
        Failure(Error(ErrorKind::internal, fmt::format("{} is released without being claimed", text()))));
  int attempts = 0;
  while (true) {
    bool gone = remove_if_empty && coverage.kinds.empty();
    Outcome<void> done = gone ? co_await remove_parent() : co_await swap(coverage, std::nullopt);
    if (done) break;
    bool refused = changed_meanwhile(done.error());
    CO_TRY(co_await recover(std::move(done).error(), attempts));
    if (is_ours()) continue;
    // If the write got no answer and the parent no longer has our claim, the write was successful.
    if (!refused) break;
    own_.reset();
    co_return std::unexpected(Failure(lost()));
  }
  own_.reset();
  co_return Outcome<void>();
}

}  // namespace fairlead::inventory
