// A watcher that keeps a copy of what it sees, and checks that all of it is true: nothing missed, nothing twice,
// nothing going back.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/watch.h"
#include "store_log.h"

namespace fairlead::sim {

class Mirror {
 public:
  // What it watches is drawn: everything, a namespace, those labelled team=a, one object; whole or only the metadata.
  Mirror(World& world, const StoreLog& log, std::string name, http::Transport& transport);

  // Until it is cancelled.
  Task<void> watch();
  // Whether it is what the store has now.
  void check();

 private:
  struct Seen {
    std::string uid;
    uint64_t version = 0;
  };
  bool selects(const sandbox::Place& place, const Json& object) const;
  bool concerns(const sandbox::Event& event) const;
  void take(const kube::WatchEvent& event);
  void check_order(uint64_t version);
  void fail(std::string what);

  World& world_;
  const StoreLog& log_;
  std::string name_;
  kube::Client client_;
  kube::WatchOptions options_;
  std::map<sandbox::Place, Seen> seen_;
  // The newest version ever seen of what is or was at a place.
  std::map<sandbox::Place, uint64_t> newest_;
  // The newest version of all, and up to which version a list stands for what happened.
  uint64_t position_ = 0;
  uint64_t listed_to_ = 0;
  uint64_t lists_ = 0;
};

}  // namespace fairlead::sim
