// Knows what is there and tells when it is gone: a list and a watch a kind, for all targets of the kind, and for the
// instances of CRDs that go. Where a kind may not be read in the whole cluster, or in a namespace, its objects are
// watched namespace by namespace, or one by one.
//
// There is no label selector: an object that loses its label would look as if it were gone.
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
  Tracker(Run& run, Scope& scope) : run_(run), scope_(scope), synced_(run.loop) {}

  // Starts the watches that the targets need and that do not run yet, and waits until each has told what is there or
  // has failed. Fails when cancelled.
  Task<Result<void>> start();

  // What is there of that target; null if it is not there.
  const Json* find(uint32_t target) const;
  // Whether what is there was seen, so that what was not found is not there.
  bool is_known(uint32_t target) const;
  // Why nothing is known about it, for good; null if that is not so.
  const Error* trouble(uint32_t target) const;
  // Why nothing is known about it at the moment.
  const Error* interruption(uint32_t target) const;

  // Of a target that is a CRD: the instances that are there and are not among the targets.
  struct Others {
    bool known = false;
    std::vector<const Json*> objects;
    const object::Resource* resource = nullptr;
  };
  Others others_of(uint32_t definition) const;
  // Of a target that is a CRD: all instances; null where it is not served.
  const kube::Watched* instances_of(uint32_t definition) const;

  // All objects of a kind in a namespace, where they are watched; null where they are not.
  const kube::Watched* covering(const object::Resource& resource, const std::string& ns) const;

  // Journals what is interrupted since the last call, and what works again.
  void report_interruptions();

 private:
  struct Source {
    object::Resource resource;
    kube::WatchOptions options;
    std::unique_ptr<kube::Watched> watched;
    // Of a CRD among the targets.
    std::optional<uint32_t> definition;
    // Instances that are known to be on their way out.
    std::set<std::string, std::less<>> leaving;
    // What was last told.
    std::string interrupted;

    Source(object::Resource of, kube::WatchOptions with) : resource(std::move(of)), options(std::move(with)) {}
  };

  void plan_watches();
  void plan_watches_of(const std::vector<uint32_t>& targets);
  void add(const object::Resource& resource, const std::string& ns, const std::string& name, bool metadata_only);
  void changed(Source& source, const Json& object, bool gone);
  void see_instance(Source& source, const Json& object, bool gone);
  // A definition is gone: so are its instances.
  void failed(const Source& source);
  const Source* source_of(uint32_t target) const;
  // It was forbidden, and narrower ones may not be.
  static bool is_too_wide(const Source& source);
  bool may_watch(const object::Resource& resource, const std::string& ns) const;

  Run& run_;
  Scope& scope_;
  Signal synced_;
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace fairlead::removal
