#include <map>

#include "fields/member_index.h"
#include "schema/types/list_item.h"
#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

using fields::FieldSet;
using fields::Path;
using fields::PathElement;

// Every field that an object sets.
class Collector {
 public:
  explicit Collector(const Schema& schema) : schema_(schema) {}

  FieldSet set;

  void visit(TypeId id, const Json& value) {
    const Type& type = schema_[id];
    switch (first_form(forms_of(type, &value))) {
      case kMap:
        if (type.map == MapKind::atomic) return set.insert(path_);
        return visit_members(type, value);
      case kList:
        if (type.list == ListKind::atomic) return set.insert(path_);
        return visit_items(type, value);
      case kScalar: return set.insert(path_);
      default: return;
    }
  }

 private:
  void visit_members(const Type& type, const Json& value) {
    for (const Json::Member* member : fields::sorted_members(value.members())) {
      TypeId id = type.member(member->key);
      if (id == kNoType) continue;
      path_.push_back(PathElement::field(member->key));
      visit(id, member->value);
      bool empty = member->value.is_null() || (member->value.is_object() && member->value.members().empty());
      // The fields of a structure are not owned as such; what somebody has put into a map is.
      if (empty || !type.field(member->key)) set.insert(path_);
      path_.pop_back();
    }
  }

  void visit_items(const Type& type, const Json& value) {
    std::map<PathElement, const Json*> items;  // none for what comes twice: it is owned as a whole
    for (const Json& item : value.items()) {
      auto element = item_element(schema_, type, item);
      if (!element) return;  // does not fit
      auto [place, is_new] = items.try_emplace(*std::move(element), &item);
      if (!is_new) place->second = nullptr;
    }
    for (const auto& [element, item] : items) {
      path_.push_back(element);
      if (item) visit(type.item, *item);
      set.insert(path_);
      path_.pop_back();
    }
  }

  const Schema& schema_;
  Path path_;
};

class Remover {
 public:
  explicit Remover(const Schema& schema) : schema_(schema) {}

  Json visit(TypeId id, const Json& value, const FieldSet& set) const {
    const Type& type = schema_[id];
    switch (first_form(forms_of(type, &value))) {
      case kMap: return visit_members(type, value, set);
      case kList: return visit_items(type, value, set);
      case kScalar: return value;
      default: return Json();
    }
  }

 private:
  // What is empty or atomic has nothing that could be left of it.
  Json visit_members(const Type& type, const Json& value, const FieldSet& set) const {
    if (type.map == MapKind::atomic) return Json();
    Json::Object out;
    for (const Json::Member& member : value.members()) {
      const FieldSet::Node* node = set.find(PathElement::field(member.key));
      if (node && node->member) continue;
      TypeId id = type.member(member.key);
      bool inside = node && !node->below.empty() && id != kNoType;
      out.append(member.key, inside ? visit(id, member.value, node->below) : member.value);
    }
    return out.empty() ? Json() : Json(std::move(out));
  }

  Json visit_items(const Type& type, const Json& value, const FieldSet& set) const {
    if (type.list == ListKind::atomic) return Json();
    Json::Array out;
    for (const Json& item : value.items()) {
      auto element = item_element(schema_, type, item);
      const FieldSet::Node* node = element ? set.find(*element) : nullptr;
      if (node && node->member) continue;
      out.push_back(node && !node->below.empty() ? visit(type.item, item, node->below) : item);
    }
    return out.empty() ? Json() : Json(std::move(out));
  }

  const Schema& schema_;
};

FieldSet add_parents(const Schema& schema, TypeId id, const FieldSet& set) {
  FieldSet out;
  for (const FieldSet::Node& node : set.nodes()) {
    TypeId below = kNoType;
    bool named = false;
    if (id != kNoType) {
      const Type& type = schema[id];
      if (const std::string* name = node.element.if_field(); name && type.map != MapKind::none) {
        below = type.member(*name);
        named = !node.below.empty() && type.field(*name);
      } else if (node.element.if_key() && type.list != ListKind::none) {
        below = type.item;
      }
    }
    out.append({node.element, node.member || named, add_parents(schema, below, node.below)});
  }
  return out;
}

class Reconciler {
 public:
  explicit Reconciler(const Schema& schema) : schema_(schema) {}

  // What was granular and is now atomic: all of it goes, and its root is owned instead.
  FieldSet roots;

  // `whole`: the set owns the field as such and nothing below it.
  void visit(TypeId id, const FieldSet& set, bool whole) {
    const Type& type = schema_[id];
    switch (first_form(forms_of(type, nullptr))) {
      case kMap:
        if (type.deduced) return;
        if (!whole && type.map == MapKind::atomic) {
          if (!set.empty()) roots.insert(path_);
          return;
        }
        break;
      case kList:
        if (!whole && type.list == ListKind::atomic) return roots.insert(path_);
        break;
      default: return;
    }
    for (const FieldSet::Node& node : set.nodes()) {
      TypeId below = type.map == MapKind::none ? type.item
                     : node.element.if_field() ? type.member(*node.element.if_field())
                                               : type.element;
      if (below == kNoType) continue;
      path_.push_back(node.element);
      visit(below, node.below, node.member && node.below.empty());
      path_.pop_back();
    }
  }

 private:
  const Schema& schema_;
  Path path_;
};

}  // namespace

FieldSet field_set(const Schema& schema, const Json& object) {
  Collector collector(schema);
  collector.visit(schema.root, object);
  return std::move(collector.set);
}

Json without(const Schema& schema, const Json& object, const FieldSet& fields) {
  return Remover(schema).visit(schema.root, object, fields);
}

FieldSet with_parents(const Schema& schema, const FieldSet& set) { return add_parents(schema, schema.root, set); }

FieldSet reconciled(const Schema& schema, const FieldSet& set) {
  Reconciler reconciler(schema);
  reconciler.visit(schema.root, set, false);
  if (reconciler.roots.empty()) return set;
  return set.without_trees(reconciler.roots).united(reconciler.roots);
}

}  // namespace fairlead::schema
