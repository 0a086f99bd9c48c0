// Follows stored objects until they are ready. There is one watch per kind, started when an object of that kind is not
// ready at once. If the user may not read a kind in the whole cluster, there is one watch per namespace, and if that is
// forbidden as well, one per object.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/discovery.h"
#include "kube/watched.h"
#include "rollout/core/deadline.h"
#include "rollout/core/run.h"
#include "rollout/guards/evidence.h"

namespace fairlead::rollout {

class Tracker {
 public:
  // The watches run in the scope.
  Tracker(kube::Client& client, const kube::Discovery& discovery, Run& run, Evidence& evidence, Scope& scope)
      : client_(client), discovery_(discovery), run_(run), evidence_(evidence), scope_(scope) {}
  ~Tracker();

  // Call when the object was stored in the form `stored`. Marks it ready at once, or follows it until it is ready or
  // failed.
  void follow(NodeId node, Json stored);
  // Follows an object that is not part of the bundle and that an object of the bundle waits for.
  void follow_outside(NodeId node);

  // Call when an object that workloads or PersistentVolumeClaims depend on has changed.
  void evidence_changed(std::string_view kind, const std::string& ns);

 private:
  struct Waiting {
    Json last;
    // A controller has had enough time to write a status.
    bool status_overdue = false;
    // The last trouble with its pods that was reported.
    std::string trouble;
    std::unique_ptr<Deadline> deadline;
    std::vector<Loop::TimerId> timers;
  };
  // The objects that one watch shows.
  struct View {
    std::string name;
    kube::WatchOptions options;
  };

  // True if nobody waits for the object to become ready, so that being stored is enough.
  bool is_enough(NodeId node) const;
  // Returns the views that show the object, the widest first.
  std::vector<View> views_of(NodeId node);
  // Starts the widest view of the object that the user may read, unless it runs already.
  void watch(NodeId node);
  void start(const object::Resource& resource, View view);
  void synced(const std::string& view);
  void cannot_see(NodeId node, Error why);
  void look_again(NodeId node);
  Task<void> find_out_whether_deleted(NodeId node);
  // Marks the object as failed. `how`: "was deleted"
  void deleted(NodeId node, std::string_view how);
  void see(NodeId node, const Json& object);
  void judge(NodeId node);
  // Returns what the pods of a workload report; nothing for other objects.
  readiness::Why why(NodeId node, const Json& object) const;
  void tell_trouble(NodeId node, const readiness::Why& why);
  void settle(NodeId node);
  bool has_status(const object::Key& key, std::string_view version) const;
  Duration age_of(const Json& object) const;
  readiness::Options options_for(NodeId node, const Waiting& waiting) const;

  kube::Client& client_;
  const kube::Discovery& discovery_;
  Run& run_;
  Evidence& evidence_;
  Scope& scope_;
  // By the name of the view.
  std::map<std::string, std::unique_ptr<kube::Watched>> watches_;
  std::map<NodeId, Waiting> waiting_;
  // For each kind: whether the bundle has objects of it in several namespaces.
  std::map<std::string, bool> scattered_;
};

}  // namespace fairlead::rollout
