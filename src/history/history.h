// Keeps the last ten revisions of a bundle in the cluster.
//
// This is the room's first header. The list of revisions (revision.h) is an annotation of the bundle's record, so it is
// written with the record and costs no request. The manifests of each are gzipped in a Secret
// `fairlead-NAME.revision-N` beside the record, where N is the last digit of the revision's number: the eleventh
// revision replaces the first, so nothing has to be deleted, and a user needs rights for ten names only. They are in
// Secrets and not in ConfigMaps because fewer people may read those, and manifests tell more than their readers may
// know. Manifests that do not fit into one Secret are in several (`fairlead-NAME.revision-N.1` …). The record owns
// them: Kubernetes deletes them with it.
//
// Revisions are written by the run that has the bundle's claim. They are no members of the bundle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/task.h"
#include "history/revision.h"
#include "inventory/inventory.h"
#include "kube/client.h"

namespace fairlead::history {

// A bundle keeps this many of its last revisions.
inline constexpr int64_t kKeptRevisions = 10;

// On each of the Secrets: the id of the bundle.
inline constexpr std::string_view kRevisionOfLabel = "fairlead.dev/revision-of";

// The revisions of a bundle, the newest first, as the record had them when it was last read or written.
std::vector<Revision> revisions_of(const inventory::Inventory& inventory);

// The same for those who have only the record: the ConfigMap, or its metadata. Pure, as are the next two.
std::vector<Revision> revisions_in(const Json& record);
// Returns the name of the Secret that holds the manifests of a revision, or the first part of them.
std::string secret_name(std::string_view record, const Revision& revision);
// Returns the manifests of a revision from that Secret. Fails if they are in several.
Result<std::vector<KeptObject>> unpack(const Json& secret, const Revision& revision);

// What the last run of a bundle left in the record, whether it changed something or not.
struct LastRun {
  std::string who;
  std::string when;
  std::string how;
  int64_t objects = 0;
};
std::optional<LastRun> last_run_of(const inventory::Inventory& inventory);

// The run that is to be remembered.
struct Run {
  std::string how;
  std::string who;
  std::string note;
  bool with_secrets = false;
  // The objects have Helm hooks for the deletion of the bundle.
  bool has_delete_hooks = false;
  std::vector<KeptObject> objects;
};

// Notes a run in the record, with the time of now: the next write of the record, such as giving back the claim, takes
// it along.
void note_run(inventory::Inventory& inventory, const LastRun& run, WallTime now);

// Keeps the run as a new revision: writes its manifests, and adds it to the list, which the next write of the record
// takes along. Does nothing if the newest revision applied the same and ended in the same way. Requires the claim.
// Returns the number of the revision. On failure the list stays as it is.
Task<Result<int64_t>> keep_revision(kube::Client& client, inventory::Inventory& inventory, const Run& run);

// Reads the manifests of a revision. Fails if they are not kept, or may not be read.
Task<Result<std::vector<KeptObject>>> read_revision(kube::Client& client, const inventory::Inventory& inventory,
                                                    const Revision& revision);

// Deletes the manifests of all revisions. Those that may not be deleted go with the record, by Kubernetes' garbage
// collection.
Task<void> delete_revisions(kube::Client& client, const inventory::Inventory& inventory);

// Returns the revision to go back to: that of the number, or, for zero, the last one that was done and applied
// something else than the newest. Fails if there is none, or if its manifests are not kept.
Result<Revision> revision_to_go_back_to(const std::vector<Revision>& revisions, int64_t number,
                                        const std::string& bundle);

// What to do about values of Secrets that a revision had and that were not kept, where the cluster has other values.
enum class OtherValues {
  refuse,
  keep,  // use the values that are in the cluster
};
struct Restored {
  std::vector<object::Object> objects;
  std::vector<std::string> warnings;
};
// Returns the objects of a revision as they can be applied. The values of Secrets that were not kept are taken from the
// cluster, if they are the same there. A hash is never applied. Fails if a value is not in the cluster either.
Task<Result<Restored>> restore(kube::Client& client, std::vector<KeptObject> objects, OtherValues other,
                               std::string_view salt);

}  // namespace fairlead::history
