// A set of fields of an object: who owns what, as managedFields keeps it. This is the header to read first in this
// room.
//
// The room reads, writes and compares sets; it knows no schema, does no I/O, and never decides who may own something
// (room schema does).
//
// A set is a tree. A node is a step down; it can be a member itself (the field as such is owned), have nodes below it
// (parts of it are owned), or both. No node is there for nothing: what is neither has been left out.
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
  // In any order; what comes twice is united.
  explicit FieldSet(std::vector<Node> nodes);
  FieldSet(const FieldSet&);
  FieldSet(FieldSet&&) noexcept;
  FieldSet& operator=(const FieldSet&);
  FieldSet& operator=(FieldSet&&) noexcept;
  ~FieldSet();

  // From FieldsV1, the value of managedFields[].fieldsV1. What a later version may have put there is left out.
  static Result<FieldSet> parse(const Json& fields_v1);
  // In the order in which the API server writes it.
  Json dump() const;

  // The parents of a path do not become members. The empty path names the whole object, which nobody owns.
  void insert(std::span<const PathElement> path);
  bool has(std::span<const PathElement> path) const;
  bool has(const PathElement& element) const;

  bool empty() const;
  // The number of members.
  size_t size() const;
  std::span<const Node> nodes() const;
  const Node* find(const PathElement& element) const;
  // What lies below that element; an empty set if there is nothing.
  const FieldSet& below(const PathElement& element) const;
  // The node for that element, added if needed. The caller keeps the promise that no node is there for nothing.
  Node& at(const PathElement& element);
  // The caller knows that it comes after all others.
  void append(Node node);

  FieldSet united(const FieldSet& other) const;
  FieldSet intersected(const FieldSet& other) const;
  // Members of this that are no members of the other.
  FieldSet without(const FieldSet& other) const;
  // The same, and what lies below a member of the other goes as well.
  FieldSet without_trees(const FieldSet& other) const;

  // Every member: first those of a level, then level by level down, as the API server lists conflicts.
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
