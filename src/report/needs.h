// What the objects of a run still wait for before they are sent, from the graph in the journal. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/journal.h"
#include "plan/id.h"

namespace fairlead::report {

class Needs {
 public:
  // Takes the graph of a `graph` event. Forgets the one before.
  void read_graph(const Json& details);
  // Each does nothing for an object that is not in the graph.
  void sent(const object::Key& key);
  void stored(const object::Key& key);
  void done(const object::Key& key);
  // The guard has reached the rung.
  void guard(const std::string& name, const std::string& rung);

  // Objects of one kind and namespace that were not sent, and wait for the same.
  struct Group {
    object::Key first;
    size_t count = 0;
    // What they wait for: an object or a guard. Empty if that is not known.
    std::string awaited;
    std::string reason;
  };
  std::vector<Group> unsent() const;

 private:
  using NodeId = plan::NodeId;

  struct Need {
    NodeId target;
    size_t reason = 0;
    // 0 until the target is stored, 1 until it is ready, 2 until it is deleted.
    int64_t level = 0;
  };
  struct Node {
    object::Key key;
    std::string text;
    std::string type;  // "object", "guard", "wave", "group" or "outside"
    std::vector<Need> needs;
    bool is_sent = false;
    bool is_stored = false;
    bool is_done = false;
  };
  Node* find(const object::Key& key);
  bool is_met(const Need& need) const;
  const Need* unmet(NodeId node, int depth) const;

  plan::IdVector<NodeId, Node> nodes_;
  std::vector<std::string> reasons_;
  std::unordered_map<object::Key, NodeId> objects_;
  std::unordered_map<std::string, NodeId> guards_;
};

}  // namespace fairlead::report
