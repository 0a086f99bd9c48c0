// Knows which targets exist, and reports when they are deleted. There is one list and watch per kind, for all targets
// of that kind and for the instances of CRDs that are deleted. If a kind may not be read in the whole cluster, or in a
// namespace, its objects are watched per namespace, or one by one.
//
// There is no label selector, because an object that loses its label would look as if it were deleted.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/watched.h"
#include "removal/run.h"

namespace fairlead::removal {

class Tracker {
 public:
  Tracker(kube::Client& client, const kube::Discovery& discovery, Run& run, Scope& scope)
      : client_(client), discovery_(discovery), run_(run), scope_(scope), synced_(run.loop()) {}

  // Starts the watches that the targets need and that do not run yet. Waits until each of them has listed its objects
  // or has failed. Fails when cancelled.
  Task<Result<void>> start();

  // Returns the target as it is in the cluster; null if it does not exist or is not known.
  const Json* find(NodeId target) const;
  // True if its watch has listed everything or has failed, or if the cluster does not serve its kind. Unless trouble()
  // says otherwise, a target that find() does not return does not exist.
  bool is_known(NodeId target) const;
  // Returns why its watch failed for good; null if it did not.
  const Error* trouble(NodeId target) const;
  // Returns why its watch does not work at the moment; null if it works.
  const Error* interruption(NodeId target) const;

  // For a target that is a CRD: the instances that are not among the targets.
  struct Others {
    bool known = false;
    std::vector<const Json*> objects;
    const object::Resource* resource = nullptr;
  };
  Others others_of(NodeId definition) const;
  // For a target that is a CRD: returns the watch of all its instances; null if there is none, since the kind is not
  // served.
  const kube::Watched* instances_of(NodeId definition) const;

  // Returns a watch that shows all objects of the kind in that namespace; null if there is none.
  const kube::Watched* covering(const object::Resource& resource, const std::string& ns) const;

  // Adds to the journal which watches were interrupted since the last call, and which work again.
  void report_interruptions();

 private:
  struct Source {
    object::Resource resource;
    kube::WatchOptions options;
    std::unique_ptr<kube::Watched> watched;
    // The CRD among the targets whose instances this is.
    std::optional<NodeId> definition;
    // Instances that are known to be terminating, by UID.
    std::set<std::string, std::less<>> leaving;
    // The interruption that was last reported.
    std::string interrupted;

    Source(object::Resource of, kube::WatchOptions with) : resource(std::move(of)), options(std::move(with)) {}
  };

  void plan_watches();
  void plan_watches_of(const std::vector<NodeId>& targets);
  void add(const object::Resource& resource, const std::string& ns, const std::string& name, bool metadata_only);
  void changed(Source& source, const Json& object, bool gone);
  void see_instance(Source& source, const Json& object, bool gone);
  // Handles the failure of a watch. If its kind is no longer served, its targets count as deleted.
  void failed(const Source& source);
  const Source* source_of(NodeId target) const;
  // True if the watch was forbidden, and narrower ones may be allowed.
  static bool is_too_wide(const Source& source);
  bool may_watch(const object::Resource& resource, const std::string& ns) const;

  kube::Client& client_;
  const kube::Discovery& discovery_;
  Run& run_;
  Scope& scope_;
  Signal synced_;
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace fairlead::removal
