// Knows which objects belong to a bundle. This is stored in the cluster.
//
// This is the room's first header. Every bundle has an inventory object, called the parent: the ConfigMap
// `fairlead-NAME` in the bundle's home namespace. It has the labels and annotations of an ApplySet (applyset.h), which
// list the kinds and namespaces of the members. Members have the label `part-of`. The parent is written before any
// member, and reduced only after members are deleted. So even if a run is killed at any moment, the next run finds what
// it left.
//
// The parent also has the claim (claim.h) of the current run, in one annotation. So taking the bundle and extending its
// coverage is one compare-and-swap of one object. Besides its LISTs, a run costs three requests here (read, claim,
// settle), needs permissions for this ConfigMap only, and no second object can contradict the parent.
//
// An object that a LIST by the label returns is a member only if the bundle applied it and no controller owns it
// (membership.h). This room never writes or deletes members.
//
// A run calls open() and claim(), then runs keep() next to its work, which may call members(). At the end it cancels
// keep(), joins it, and calls settle() or release(). All calls are made on the thread of the loop. claim(), settle()
// and release() must not run at the same time, and not while keep() runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "inventory/applyset.h"
#include "inventory/claim.h"
#include "inventory/membership.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "object/key.h"

namespace fairlead::inventory {

// An object of the bundle that is to be written.
struct Wanted {
  object::Key key;
  // The API version, such as "v1". Members of this kind are read in the version that most objects have.
  std::string version;
};

// An object in the cluster that belongs to the bundle.
struct Member {
  object::Key key;
  std::string version;
  std::string uid;
  std::string resource_version;
  // The object is being deleted.
  bool terminating = false;
  // The whole object, or only its apiVersion, kind and metadata.
  Json object;
};

// A kind whose members could not be listed, and the reason: no permission, or its API server is down.
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
  // Sorted by kind, namespace and name.
  std::vector<Member> found;
  std::vector<Unlisted> unlisted;
  // Sorted by kind, namespace and name. These objects are never deleted.
  std::vector<ForeignObject> foreign_objects;
};

// Describes foreign objects for people, in one sentence per kind and reason. Objects that controllers own are not
// mentioned.
std::vector<std::string> texts_of(const std::vector<ForeignObject>& foreign_objects);

struct Options {
  // The name of the bundle: lower-case letters, digits and dashes, at most 53.
  std::string name;
  // The home namespace, where the parent is.
  std::string ns = "default";
  // The field manager of this run. If empty, the bundle's own is used.
  std::string field_manager;
  // The name of this run for people, such as "ann@laptop, process 4711".
  std::string holder;
  // The name of this run for other runs: identifies the process.
  std::string origin;
  // How long other runs wait for a renewal before they take over. This run renews three times as often.
  Duration lease = kLease;
  // Returns true if the process of that origin is known to have ended. Then its claim is taken over without waiting.
  std::function<bool(std::string_view origin)> known_dead;
  // Called once if claim() has to wait to see whether another run is still alive, with the longest time that it may
  // take.
  std::function<void(const Claim& other, Duration at_most)> waiting;
  // Called when a webhook that does not answer starts to prevent the renewal of the claim.
  std::function<void(const kube::Fault& fault)> held_up;
};

// Fails if this cannot be the name of a bundle.
Result<void> check_name(std::string_view name);

// True if a write was refused because a webhook that fails closed did not answer. Then it is refused for everybody.
bool webhook_in_the_way(const kube::Failure& failure);

// Reads and writes the inventory of one bundle.
class Inventory {
 public:
  // Reads the parent, and creates nothing. The client and the discovery must outlive the inventory. Fails if the
  // ConfigMap exists but is not the inventory of this bundle.
  static Task<kube::Outcome<std::unique_ptr<Inventory>>> open(kube::Client& client, kube::Discovery& discovery,
                                                              Options options);
  // Returns the inventory of a parent that was listed, without a request. Fails as open() does, and if the parent is
  // not that of a bundle of Fairlead.
  static kube::Outcome<std::unique_ptr<Inventory>> of(kube::Client& client, kube::Discovery& discovery, Json parent);
  ~Inventory();
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  // The value of kPartOfLabel on every member. It is known before anything is written.
  const std::string& label_value() const { return id_; }
  // The field manager under which this run applies objects: "fairlead/default/shop" unless the options name another.
  // Because each bundle has its own, the API server itself refuses to change an object of another bundle.
  std::string field_manager() const;
  // Distinguishes members from objects of others.
  Identity identity() const;
  const std::string& name() const { return options_.name; }
  const std::string& home() const { return options_.ns; }
  const object::Key& parent() const { return parent_; }

  // True if the parent exists, that is, if the bundle was rolled out before.
  bool exists() const { return stored_.has_value(); }
  // The kinds and namespaces that the parent lists.
  const Coverage& coverage() const { return coverage_; }
  // True if a run of the bundle has ever called settle(), which means that it completed.
  bool was_installed() const;
  // Returns the value of an annotation of the parent: the one that annotate() set, else as it was last read or written.
  // Empty if there is none.
  std::string_view annotation(std::string_view name) const;
  // Sets an annotation of the parent. The next write of the parent takes it along.
  void annotate(std::string name, std::string value) { annotations_[std::move(name)] = std::move(value); }
  // The uid of the parent; empty if it does not exist.
  std::string_view uid() const;
  // The claim in the parent as it was last read or written, even if it is our own.
  std::optional<Claim> claimed_by() const;
  // True if no other run can be working on the bundle: there is no claim, its holder is known to have ended, or it is
  // very old. A claim that was merely not renewed does not count, because its run may be unable to renew it.
  bool is_free() const;
  // True if later runs would find an object with this key through the parent as it is now.
  bool covers(const object::Key& key) const;

  // Takes the bundle for this run, and extends the coverage of the parent by `wanted`. Must be called before any member
  // is written. Fails while another run is alive; if that is not clear at once, waits for at most that run's lease.
  // Fails with FaultKind::namespace_missing if the home namespace does not exist: if the namespace is part of the
  // bundle, write it first (with the label), then claim. Cancelling ends the waits, but not a write in flight, so
  // claimed() is true whenever the parent has our claim.
  Task<kube::Outcome<void>> claim(std::vector<Wanted> wanted);
  bool claimed() const { return own_.has_value(); }
  // True if another run worked on the bundle between the last call of members() or open() and the claim. Then the
  // results of that call may be outdated.
  bool overtaken() const { return overtaken_; }

  // Renews the claim until it is cancelled. It never succeeds: it returns ErrorKind::cancelled, or the reason why the
  // bundle is no longer ours. In the latter case all work on the bundle has to stop. While a webhook prevents every
  // write of the parent, nobody else can take the bundle, so the claim stays valid as long as it can be read.
  Task<Result<void>> keep();

  // Lists all members, with one LIST per kind over all namespaces, or if that is forbidden, one per namespace. A kind
  // that the cluster no longer serves has no members. Does not require a claim. Fails if a request gets no answer or a
  // server has a temporary problem.
  Task<kube::Outcome<Members>> members(bool whole_objects);

  // Ends a run: reduces the coverage of the parent to `remaining` and the kinds that members() could not list, and
  // removes the claim. If nothing remains, deletes the parent.
  Task<kube::Outcome<void>> settle(const std::vector<object::Key>& remaining);
  // Ends a run that does not know what remains: removes the claim and keeps the coverage.
  Task<kube::Outcome<void>> release();

 private:
  Inventory(kube::Client& client, kube::Discovery& discovery, Options options);

  BundleName bundle() const { return {.name = options_.name, .home = options_.ns}; }
  Task<kube::Outcome<void>> read();
  kube::Outcome<void> take_in(std::optional<Json> parent);
  std::string version() const;
  void remember_reading();
  Json parent_with(const Coverage& coverage, const std::optional<Claim>& claim) const;
  // Writes the parent in one compare-and-swap against its last known version.
  Task<kube::Outcome<void>> swap(const Coverage& coverage, const std::optional<Claim>& claim);
  Task<kube::Outcome<void>> remove_parent();
  // Call it after a failed swap. Reads the parent again if another attempt makes sense. Otherwise returns the failure.
  Task<kube::Outcome<void>> recover(kube::Failure failure, int& attempts);
  Task<kube::Outcome<void>> give_back(Coverage coverage, bool remove_if_empty);
  // Returns false if a webhook prevents the write while the parent still has our claim.
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

  // True once this run has completed.
  bool installed_ = false;
  // The parent as it was last read or written, or nothing if it does not exist.
  std::optional<Json> stored_;
  TimePoint read_at_{};
  Coverage coverage_;
  // Field managers of runs of this bundle, besides the bundle's own.
  std::set<std::string, std::less<>> managers_;
  // What annotate() set.
  std::map<std::string, std::string, std::less<>> annotations_;
  // Our own claim while we have the bundle, and the time when its last renewal was sent.
  std::optional<Claim> own_;
  TimePoint renewed_at_{};
  // The webhook that prevents renewals, once it was reported.
  std::string held_up_by_;
  // The version of the parent when members were last read, and whether another run was working then.
  std::string read_version_;
  bool read_while_held_ = false;
  bool overtaken_ = false;
  // A claim of another run that was found dead.
  std::optional<Claim> dead_;
  // For each kind, the version that most of the wanted objects have.
  std::map<GroupKind, std::string> versions_;
  std::set<GroupKind> unlisted_;
};

// The bundle or ApplySet that an object belongs to.
struct Owner {
  // For example "bundle shop, namespace default", or a description of another tool's ApplySet.
  std::string text;
  // Empty if it is not a bundle of Fairlead.
  std::optional<BundleName> bundle;
};
// Finds the owner of an object that has the label part-of. Sends one request, or none if the object itself names its
// owner.
Task<Owner> find_owner(kube::Client& client, Json object);

}  // namespace fairlead::inventory
