// Follows what was stored until it is ready: one watch per kind, started when something of that kind is not ready at
// once. Where the user may not read a kind in the whole cluster, there is one watch per namespace, and where that is
// forbidden as well, one per object.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/watched.h"
#include "rollout/deadline.h"
#include "rollout/evidence.h"
#include "rollout/run.h"

namespace fairlead::rollout {

class Tracker {
 public:
  // The watches run in the scope.
  Tracker(Run& run, Evidence& evidence, Scope& scope) : run_(run), evidence_(evidence), scope_(scope) {}
  ~Tracker();

  // The object was stored, and this is its form. Ready at once, or followed until it is.
  void follow(uint32_t node, Json stored);
  // Something that is not part of the bundle, and that an object of the bundle waits for.
  void follow_outside(uint32_t node);

  // What workloads or claims stand on has changed.
  void evidence_changed(std::string_view kind, const std::string& ns);

 private:
  struct Waiting {
    Json last;
    // A controller had time enough to write a status.
    bool status_overdue = false;
    // What was last told of its pods.
    std::string trouble;
    std::unique_ptr<Deadline> deadline;
    std::vector<Loop::TimerId> timers;
  };
  // What a watch shows.
  struct View {
    std::string name;
    kube::WatchOptions options;
  };

  // Nobody waits for it to become more than stored.
  bool is_enough(uint32_t node) const;
  // The views that show the object, the widest first.
  std::vector<View> views_of(uint32_t node);
  // Starts the widest view of the object that the user may have, unless it runs already.
  void watch(uint32_t node);
  void start(const object::Resource& resource, View view);
  void synced(const std::string& view);
  void cannot_see(uint32_t node, Error why);
  void look_again(uint32_t node);
  Task<void> find_out_whether_deleted(uint32_t node);
  // `how`: "was deleted"
  void deleted(uint32_t node, std::string_view how);
  void see(uint32_t node, const Json& object);
  void judge(uint32_t node);
  // Of a workload: what its pods say. Nothing of anything else.
  readiness::Why why(uint32_t node, const Json& object) const;
  void tell_trouble(uint32_t node, const readiness::Why& why);
  void settle(uint32_t node);
  bool has_status(const object::Key& key, std::string_view version) const;
  Duration age_of(const Json& object) const;
  readiness::Options options_for(uint32_t node, const Waiting& waiting) const;

  Run& run_;
  Evidence& evidence_;
  Scope& scope_;
  // By the name of the view.
  std::map<std::string, std::unique_ptr<kube::Watched>> watches_;
  std::map<uint32_t, Waiting> waiting_;
  // By kind: whether the bundle has objects of it in several namespaces.
  std::map<std::string, bool> scattered_;
};

}  // namespace fairlead::rollout
