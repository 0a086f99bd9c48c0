// What doctor knows about a cluster: objects, what the API server serves and counts, and what could not be read.
//
// A snapshot is plain data. The checks (checks.h) are pure functions of it, so that every trouble can be made in a test
// by writing down the objects that show it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "doctor/metrics.h"
#include "object/key.h"
#include "object/resource.h"

namespace fairlead::doctor {

// Something that could not be read, and why.
struct Unseen {
  // "pods"
  std::string what;
  // "this user may not list them"
  std::string why;
  // Some of it was read.
  bool is_partial = false;

  std::string text() const { return what + ": " + why; }
  bool operator==(const Unseen&) const = default;
};

// What a container that fails wrote last. No check may quote it: it can hold anything.
struct ContainerLog {
  object::Key pod;
  std::string container;
  std::string text;
};

class Snapshot {
 public:
  // The API server's clock.
  WallTime now{};
  // What the API server serves, as discovery lists it.
  std::vector<object::Resource> resources;
  std::vector<Unseen> unseen;
  // Empty if they could not be read.
  Metrics metrics;

  // The members of bundles of kinds that are not read as a whole: their metadata.
  std::vector<Json> members;
  // CRDs whose objects could not be converted, by name, with the words of the API server.
  std::map<std::string, std::string, std::less<>> failed_conversions;
  std::vector<ContainerLog> logs;
  // Objects that were asked for by name and do not exist.
  std::set<object::Key> absent;

  // Adds objects; each has apiVersion and kind.
  void add(Json object);
  // Declares that every object of this kind was read, so that one that is not here does not exist.
  void saw_all(std::string_view kind) { complete_.emplace(kind); }
  // Declares that some objects of this kind were read, if there are any.
  void saw_some(std::string_view kind) { begun_.emplace(kind); }
  bool sees_some(std::string_view kind) const { return begun_.contains(kind); }

  // Returns the objects of a kind. Kinds are told apart by their name alone: doctor reads no two of the same name.
  const std::vector<Json>& all(std::string_view kind) const;
  // Declares that every member of a bundle of this kind is in `members`.
  void saw_members(std::string_view group, std::string_view kind) {
    members_of_.emplace(std::string(group), std::string(kind));
  }
  bool sees_members(const std::string& group, const std::string& kind) const {
    return members_of_.contains({group, kind});
  }
  // The kinds of which there are objects.
  std::vector<std::string_view> kinds() const;

  bool sees_all(std::string_view kind) const { return complete_.contains(kind); }
  // Returns null if there is no such object here. Cluster-wide objects have no namespace.
  const Json* find(std::string_view kind, std::string_view ns, std::string_view name) const;
  // Returns the objects of a kind in one namespace.
  std::vector<const Json*> in_namespace(std::string_view kind, std::string_view ns) const;

 private:
  std::map<std::string, std::vector<Json>, std::less<>> objects_;
  // The positions of the objects of a kind, by namespace.
  std::map<std::string, std::map<std::string, std::vector<size_t>, std::less<>>, std::less<>> places_;
  std::set<std::string, std::less<>> complete_;
  std::set<std::string, std::less<>> begun_;
  std::set<std::pair<std::string, std::string>> members_of_;
};

object::Key key_of(const Json& object);
std::string_view name_of(const Json& object);
std::string_view namespace_of(const Json& object);

}  // namespace fairlead::doctor
