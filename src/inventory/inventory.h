// What belongs to a bundle, kept in the cluster: the room's first header.
//
// A bundle has a parent, ConfigMap `fairlead-NAME` in its home namespace, with the labels and annotations of an
// ApplySet (applyset.h): of which kinds and in which namespaces it has members. Members have the label `part-of`. The
// parent is written before any member and shrunk after the last has gone, so that whatever a run left behind, killed at
// any moment, the next one finds.
//
// The parent also carries the claim (claim.h) of the run that is at work, in one annotation: so taking the bundle and
// extending what it covers is one compare-and-swap of one object, and a run costs three requests here besides its LISTs
// (read, claim, settle), needs no permission but for that ConfigMap, and no second object can disagree with it.
//
// What a LIST by that label finds is a member only if the bundle applied it and no controller owns it (membership.h).
//
// This room never writes or deletes members.
//
//   open → claim → (keep, beside the work) → members, the work → cancel keep, join it → settle or release
//
// On the loop's thread only; claim, settle and release one at a time, and not while keep() runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "inventory/applyset.h"
#include "inventory/claim.h"
#include "inventory/membership.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "object/key.h"

namespace fairlead::inventory {

// An object of the bundle as it is to be written.
struct Wanted {
  object::Key key;
  // "v1": members of its kind are read in it.
  std::string version;
};

// An object in the cluster that belongs to the bundle.
struct Member {
  object::Key key;
  std::string version;
  std::string uid;
  std::string resource_version;
  // It is on its way out.
  bool terminating = false;
  // Whole, or apiVersion, kind and metadata only.
  Json object;
};

// A kind whose members could not be listed, and why: no permission, or its API server is down.
struct Unlisted {
  GroupKind kind;
  Error why;
};

// An object that a LIST returned and that does not belong to the bundle.
struct ForeignObject {
  object::Key key;
  Membership why = Membership::unlabelled;
};

struct Members {
  // By kind, namespace and name.
  std::vector<Member> found;
  std::vector<Unlisted> unlisted;
  // By kind, namespace and name. None of them is ever removed.
  std::vector<ForeignObject> foreign_objects;
};

// What people should know about `strangers`, one sentence per kind and reason. What controllers own is not worth one.
std::vector<std::string> texts_of(const std::vector<ForeignObject>& foreign_objects);

struct Options {
  // Of the bundle: lower-case letters, digits and dashes, at most 53.
  std::string name;
  // Its home: where the parent is.
  std::string ns = "default";
  // The field manager of this run; empty: the bundle's own.
  std::string field_manager;
  // Who we are, for others to read: "ann@laptop, process 4711".
  std::string holder;
  // For other runs: what tells this process from all others.
  std::string origin;
  // How long others wait for a sign of life before they take over. We give one three times as often.
  Duration lease = std::chrono::seconds(30);
  // True if the process of that origin is known to have ended: its claim is taken over without waiting.
  std::function<bool(std::string_view origin)> known_dead;
  // Told once when claim() has to wait to see whether another run is still alive, and for how long at most.
  std::function<void(const Claim& other, Duration at_most)> waiting;
  // Told when a webhook that does not answer comes to stand in the way of renewing the claim.
  std::function<void(const kube::Fault& fault)> held_up;
};

// Of a bundle: whether it can be one.
Result<void> check_name(std::string_view name);

// The write was refused since a webhook, which fails closed, gave no answer of its own. It is refused to everybody.
bool webhook_in_the_way(const kube::Failure& failure);

class Inventory {
 public:
  // Reads the parent; creates nothing. Client and discovery must outlive it. Fails if that ConfigMap is there and is
  // something else than a bundle of ours.
  static Task<kube::Outcome<std::unique_ptr<Inventory>>> open(kube::Client& client, kube::Discovery& discovery,
                                                              Options options);
  ~Inventory();
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  // The value of kPartOfLabel on every member. Known before anything is written.
  const std::string& label_value() const { return id_; }
  // The field manager under which this run applies objects, "fairlead/default/shop" unless the options name another.
  // With one per bundle, the API server itself refuses to change an object of another bundle.
  std::string field_manager() const;
  // Tells members from objects of others.
  Identity identity() const;
  const std::string& name() const { return options_.name; }
  const std::string& home() const { return options_.ns; }
  const object::Key& parent() const { return parent_; }

  // Whether the bundle was ever rolled out (its parent is there), what it covers, and who is at work on it.
  bool exists() const { return stored_.has_value(); }
  const Coverage& coverage() const { return coverage_; }
  // Whether a run of it has ever done all that it had to: settle() was called.
  bool was_installed() const;
  std::optional<Claim> claimed_by() const;
  // Nobody else can be at work on it: there is no claim, or its holder is known to have ended, or it is of long ago.
  // One that was merely not renewed may be of a run that cannot renew it.
  bool is_free() const;
  // An object of that kind in that namespace is found by later runs as the parent is now.
  bool covers(const object::Key& key) const;

  // Takes the bundle for this run and makes the parent cover `wanted` besides what it covered before. To be called
  // before any member is written. Refused while another run is alive; waits, for its lease at most, where that cannot
  // be told at once. FaultKind::namespace_missing if the home namespace is not there: if it is part of the bundle,
  // write it first (with the label), then claim. Cancelled, it ends its waits and not the write that is in flight: so
  // claimed() is true whenever the parent has our claim.
  Task<kube::Outcome<void>> claim(std::vector<Wanted> wanted);
  bool claimed() const { return own_.has_value(); }
  // Between the last call of members(), or open(), and the claim another run was at work on the bundle: what was read
  // then may not be so any more.
  bool overtaken() const { return overtaken_; }

  // Renews the claim until it is cancelled. Never succeeds: ends with ErrorKind::cancelled, or with why the bundle is
  // no longer ours, and then all work on it has to stop. While a webhook stands in the way nobody can write the parent,
  // and so nobody can take the bundle: the claim holds for as long as it can be read.
  Task<Result<void>> keep();

  // Everything that belongs to the bundle: one LIST per kind over all namespaces where that is allowed, else one per
  // namespace. A kind that the cluster no longer serves has no members. Needs no claim. Fails where nothing at all can
  // be told.
  Task<kube::Outcome<Members>> members(bool whole_objects);

  // The end of a run: makes the parent cover exactly `remaining`, and what members() could not list, and gives the
  // bundle back. With nothing remaining, the parent goes.
  Task<kube::Outcome<void>> settle(const std::vector<object::Key>& remaining);
  // The end of a run that cannot say what remains: gives the bundle back, and the parent covers what it covered.
  Task<kube::Outcome<void>> release();

 private:
  Inventory(kube::Client& client, kube::Discovery& discovery, Options options);

  BundleName bundle() const { return {.name = options_.name, .home = options_.ns}; }
  Task<kube::Outcome<void>> read();
  kube::Outcome<void> take_in(std::optional<Json> parent);
  std::string version() const;
  void remember_reading();
  Json parent_with(const Coverage& coverage, const std::optional<Claim>& claim) const;
  // One compare-and-swap of the parent as it was last seen.
  Task<kube::Outcome<void>> swap(const Coverage& coverage, const std::optional<Claim>& claim);
  Task<kube::Outcome<void>> remove_parent();
  // After a swap that failed: the parent read anew, if it makes sense to try again; otherwise the failure.
  Task<kube::Outcome<void>> recover(kube::Failure failure, int& attempts);
  Task<kube::Outcome<void>> give_back(Coverage coverage, bool remove_if_empty);
  // False if a webhook stands in the way, and the parent still has our claim.
  Task<Result<bool>> renew();
  void tell_held_up(const kube::Fault& fault);
  bool is_ours() const;
  bool has_ended(const Claim& claim) const;
  Error lost() const;
  Error held(const Claim& other) const;
  std::string text() const;

  struct Listing;
  Task<void> list_kind(GroupKind kind, Listing& listing);
  Task<void> list_place(object::Resource resource, std::string ns, Listing& listing);
  Task<kube::Outcome<std::optional<object::Resource>>> resource_of(const GroupKind& kind);

  kube::Client& client_;
  kube::Discovery& discovery_;
  Options options_;
  object::Key parent_;
  std::string id_;

  // This run has done all that it had to.
  bool installed_ = false;
  // The parent as it was last seen; nothing if it was not there.
  std::optional<Json> stored_;
  TimePoint read_at_{};
  Coverage coverage_;
  // The field managers, besides the bundle's own, under which runs have applied objects.
  std::set<std::string, std::less<>> managers_;
  // Our own claim, while we hold the bundle, and when its last renewal was sent.
  std::optional<Claim> own_;
  TimePoint renewed_at_{};
  // What stands in the way of the next renewal, once it was told.
  std::string held_up_by_;
  // The version of the parent when members were read last, and whether another run was at work then.
  std::string read_version_;
  bool read_while_held_ = false;
  bool overtaken_ = false;
  // Another's claim, once it has been watched long enough.
  std::optional<Claim> dead_;
  // The version in which most of the wanted objects of a kind are written.
  std::map<GroupKind, std::string> versions_;
  std::set<GroupKind> unlisted_;
};

// Who an object belongs to.
struct Owner {
  // "bundle shop, namespace default", or what can be said of an ApplySet of another tool.
  std::string text;
  // Nothing if it is not a bundle of ours.
  std::optional<BundleName> bundle;
};
// Of an object that has the label part-of. One request, and none if the object itself tells.
Task<Owner> find_owner(kube::Client& client, Json object);

}  // namespace fairlead::inventory
