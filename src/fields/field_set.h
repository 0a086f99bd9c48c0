// A set of fields of an object, as managedFields stores it for each owner.
//
// This is the room's first header. The room reads, writes and compares such sets. It knows no schema, does no I/O, and
// never decides who may own a field (the room `schema` does).
//
// A set is a tree. Each node is one step down into the object. A node can be a member itself (the field as such is
// owned), have nodes below it (parts of the field are owned), or both. Nodes that are neither are left out.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fields/path_element.h"

namespace fairlead::fields {

class FieldSet {
 public:
  struct Node;

  FieldSet();
  // The nodes may be in any order. Nodes with the same element are united.
  explicit FieldSet(std::vector<Node> nodes);
  FieldSet(const FieldSet&);
  FieldSet(FieldSet&&) noexcept;
  FieldSet& operator=(const FieldSet&);
  FieldSet& operator=(FieldSet&&) noexcept;
  ~FieldSet();

  // Parses FieldsV1, the value of managedFields[].fieldsV1. Elements that only later versions know are left out.
  static Result<FieldSet> parse(const Json& fields_v1);
  // Uses the order in which the API server writes it.
  Json dump() const;

  // Adds a field without its parents. The empty path names the whole object, which nobody can own.
  void insert(std::span<const PathElement> path);
  bool has(std::span<const PathElement> path) const;
  bool has(const PathElement& element) const;

  bool empty() const;
  // The number of members.
  size_t size() const;
  std::span<const Node> nodes() const;
  const Node* find(const PathElement& element) const;
  // Returns the fields below an element, or an empty set.
  const FieldSet& below(const PathElement& element) const;
  // Returns the node of an element, and adds it if needed. The caller must make it a member or put nodes below it.
  Node& at(const PathElement& element);
  // Requires that the node comes after all others.
  void append(Node node);

  FieldSet united(const FieldSet& other) const;
  FieldSet intersected(const FieldSet& other) const;
  // Returns the members of this set that are not members of the other.
  FieldSet without(const FieldSet& other) const;
  // Does the same, and also leaves out everything below a member of the other.
  FieldSet without_trees(const FieldSet& other) const;

  // Visits every member: first the members of a level, then each of its subtrees in turn. This is the order in which
  // the API server lists conflicts.
  void for_each(const std::function<void(const Path&)>& visit) const;

  bool operator==(const FieldSet& other) const;

 private:
  void for_each(Path& path, const std::function<void(const Path&)>& visit) const;

  std::vector<Node> nodes_;  // sorted by element
};

struct FieldSet::Node {
  PathElement element;
  bool member = false;
  FieldSet below;
  bool operator==(const Node&) const = default;
};

inline FieldSet::FieldSet() = default;
inline FieldSet::FieldSet(const FieldSet&) = default;
inline FieldSet::FieldSet(FieldSet&&) noexcept = default;
inline FieldSet& FieldSet::operator=(const FieldSet&) = default;
inline FieldSet& FieldSet::operator=(FieldSet&&) noexcept = default;
inline FieldSet::~FieldSet() = default;
inline bool FieldSet::empty() const { return nodes_.empty(); }
inline std::span<const FieldSet::Node> FieldSet::nodes() const { return nodes_; }

}  // namespace fairlead::fields
