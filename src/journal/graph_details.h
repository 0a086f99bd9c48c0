// The details of a `graph` event: the objects and guards of a run, and what each of them needs.
//
// The form is compact, since a bundle may have thousands of objects: nodes are numbers, and each reason is written
// once.
//   {"objects":[[group, kind, namespace, name, source], …], "others":[[type, text], …],
//    "reasons":[text, …], "needs":[[node, target, reason, level], …]}
// Objects are the nodes from 0 on, and `others` the nodes after them. `reason` is a position in `reasons`. `level` is 0
// if the target must be stored, 1 if it must be ready, and 2 if it must be deleted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/json.h"
#include "base/secrets.h"
#include "object/key.h"
#include "plan/id.h"

namespace fairlead::journal {

enum class NeedLevel : uint8_t { stored, ready, deleted };

class GraphDetails {
 public:
  // Removes `secrets` from the reasons. They must outlive this object.
  explicit GraphDetails(const Secrets& secrets) : secrets_(secrets) {}

  // Nodes are numbered from 0 in the order they are added. Add all objects before any other node.
  void add_object(const object::Key& key, std::string source);
  // `type` is guard, wave, group or outside. `text` names the node, as it does in the events about it.
  void add_other(std::string_view type, std::string text);
  void add_need(plan::NodeId node, plan::NodeId target, NeedLevel level, std::string_view reason);

  Json json() &&;

 private:
  uint64_t number_of(std::string_view reason);

  const Secrets& secrets_;
  Json::Array objects_;
  Json::Array others_;
  Json::Array reasons_;
  Json::Array needs_;
  std::unordered_map<std::string, uint64_t> numbers_;
};

}  // namespace fairlead::journal
