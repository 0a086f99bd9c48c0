#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fields/member_index.h"
#include "schema/types/list_item.h"
#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

using fields::equal_values;
using fields::Path;
using fields::PathElement;

const Json kNull;

bool is_empty(const Json* value) { return !value || (value->items().empty() && value->members().empty()); }

const Json* object_or_none(const Json* value) { return value && value->is_object() ? value : nullptr; }
const Json* list_or_none(const Json* value) { return value && value->is_array() ? value : nullptr; }

// Every member of two objects once: first those of the left.
template <class Visit>
void zip_members(const Json* left, const Json* right, Visit visit) {
  static const Json::Object kNone;
  const Json::Object &ls = left ? left->members() : kNone, &rs = right ? right->members() : kNone;
  fields::MemberIndex in_left(ls), in_right(rs);
  for (const Json::Member& member : ls) visit(member.key, &member.value, in_right.find(member.key));
  for (const Json::Member& member : rs)
    if (!in_left.find(member.key)) visit(member.key, nullptr, &member.value);
}

// The same in the order of their keys, which is the order in which sets grow quickly.
template <class Visit>
void zip_sorted_members(const Json* left, const Json* right, Visit visit) {
  std::vector<const Json::Member*> ls, rs;
  if (left) ls = fields::sorted_members(left->members());
  if (right) rs = fields::sorted_members(right->members());
  auto l = ls.begin(), r = rs.begin();
  while (l != ls.end() || r != rs.end()) {
    bool take_left = l != ls.end() && (r == rs.end() || (*l)->key <= (*r)->key);
    bool take_right = r != rs.end() && (l == ls.end() || (*r)->key <= (*l)->key);
    visit(take_left ? (*l)->key : (*r)->key, take_left ? &(*l)->value : nullptr, take_right ? &(*r)->value : nullptr);
    if (take_left) ++l;
    if (take_right) ++r;
  }
}

// The right hand wins where both set a field. One of the two may be missing.
class Merger {
 public:
  explicit Merger(const Schema& schema) : schema_(schema) {}

  std::optional<Json> visit(TypeId id, const Json* left, const Json* right) const {
    const Type& type = schema_[id];
    unsigned form = first_form(forms_of(type, right ? right : left));
    bool leaf = form == kScalar || form == 0;
    if (form == kMap)
      leaf = type.map == MapKind::atomic || (is_empty(object_or_none(left)) && is_empty(object_or_none(right)));
    if (form == kList)
      leaf = type.list == ListKind::atomic || (is_empty(list_or_none(left)) && is_empty(list_or_none(right)));
    if (leaf) return right ? *right : *left;
    return form == kMap ? members(type, object_or_none(left), object_or_none(right))
                        : items(type, list_or_none(left), list_or_none(right));
  }

 private:
  std::optional<Json> members(const Type& type, const Json* left, const Json* right) const {
    Json::Object out;
    zip_members(left, right, [&](const std::string& key, const Json* l, const Json* r) {
      TypeId id = type.member(key);
      if (id == kNoType) return;
      if (std::optional<Json> merged = visit(id, l, r)) out.append(key, *std::move(merged));
    });
    if (out.empty()) return std::nullopt;
    return Json(std::move(out));
  }

  struct Index {
    std::vector<PathElement> order;
    std::map<PathElement, const Json*> by_element;  // null, the value, for one that comes twice
  };

  Index index(const Type& type, const Json* list) const {
    Index out;
    if (!list) return out;
    for (const Json& item : list->items()) {
      auto element = item_element(schema_, type, item);
      if (!element) continue;  // does not fit; has been refused before
      auto [place, is_new] = out.by_element.try_emplace(*element, &item);
      if (!is_new) place->second = &kNull;
      out.order.push_back(*std::move(element));
    }
    return out;
  }

  // Items of both keep the order of the right hand; what only the left has stays where it is between them.
  std::optional<Json> items(const Type& type, const Json* left, const Json* right) const {
    Index l = index(type, left), r = index(type, right);
    auto find = [](const Index& in, const PathElement& element) -> const Json* {
      auto place = in.by_element.find(element);
      return place == in.by_element.end() ? nullptr : place->second;
    };
    std::vector<const PathElement*> shared;
    for (const PathElement& element : r.order)
      if (find(l, element)) shared.push_back(&element);
    size_t next_shared = 0;

    Json::Array out;
    std::set<PathElement> merged;
    auto take = [&](const Json* a, const Json* b) {
      if (std::optional<Json> item = visit(type.item, a, b)) out.push_back(*std::move(item));
    };
    size_t li = 0, ri = 0;
    while (li < l.order.size() || ri < r.order.size()) {
      if (li < l.order.size() && ri < r.order.size()) {
        const PathElement& element = l.order[li];
        if (element == r.order[ri]) {
          merged.insert(element);
          take(find(l, element), find(r, element));
          ++li, ++ri, ++next_shared;
          continue;
        }
        if (find(r, element) && next_shared < shared.size() && *shared[next_shared] != element) {
          ++li;  // shared, but its turn is another
          continue;
        }
      }
      if (li < l.order.size()) {
        const PathElement& element = l.order[li];
        if (!find(r, element)) {
          take(&left->items()[li], nullptr);
          ++li;
          continue;
        }
        if (merged.contains(element)) ++li;
      }
      if (ri < r.order.size()) {
        const PathElement& element = r.order[ri];
        merged.insert(element);
        take(find(l, element), find(r, element));
        ++ri;
        if (next_shared < shared.size() && *shared[next_shared] == element) ++next_shared;
      }
    }
    if (out.empty()) return std::nullopt;
    return Json(std::move(out));
  }

  const Schema& schema_;
};

class Comparer {
 public:
  explicit Comparer(const Schema& schema) : schema_(schema) {}

  Comparison found;

  void visit(TypeId id, const Json* left, const Json* right) {
    const Type& type = schema_[id];
    unsigned l = forms_of(type, left), r = forms_of(type, right);
    bool leaf = false;
    if (!right) {
      leaf = visit_as(first_form(l), type, left, right);
    } else if (!left || l == r) {
      leaf = visit_as(first_form(r), type, left, right);
    } else {
      // One kind of thing has become another: what it was goes, what it is comes.
      visit_as(first_form(l), type, left, right);
      leaf = visit_as(first_form(r), type, left, right);
    }
    if (leaf) return;
    if (!left) found.added.insert(path_);
    else if (!right) found.removed.insert(path_);
  }

 private:
  bool visit_leaf(const Json* left, const Json* right) {
    if (!left) found.added.insert(path_);
    else if (!right) found.removed.insert(path_);
    else if (!equal_values(*left, *right)) found.modified.insert(path_);
    return true;
  }

  // True for a leaf.
  bool visit_as(unsigned form, const Type& type, const Json* left, const Json* right) {
    if (form == kMap) {
      const Json *l = object_or_none(left), *r = object_or_none(right);
      if (type.map == MapKind::atomic || (is_empty(l) && is_empty(r))) return visit_leaf(left, right);
      zip_sorted_members(l, r, [&](const std::string& key, const Json* a, const Json* b) {
        TypeId id = type.member(key);
        if (id == kNoType) return;
        path_.push_back(PathElement::field(key));
        visit(id, a, b);
        path_.pop_back();
      });
      return false;
    }
    if (form == kList) {
      const Json *l = list_or_none(left), *r = list_or_none(right);
      if (type.list == ListKind::atomic || (is_empty(l) && is_empty(r))) return visit_leaf(left, right);
      visit_items(type, l, r);
      return false;
    }
    return visit_leaf(left, right);
  }

  using Groups = std::map<PathElement, std::pair<std::vector<const Json*>, std::vector<const Json*>>>;

  void visit_items(const Type& type, const Json* left, const Json* right) {
    Groups groups;
    for (const Json* list : {left, right}) {
      if (!list) continue;
      for (const Json& item : list->items()) {
        auto element = item_element(schema_, type, item);
        if (!element) continue;
        auto& group = groups[*element];
        (list == left ? group.first : group.second).push_back(&item);
      }
    }
    for (const auto& [element, group] : groups) {
      path_.push_back(element);
      visit_group(type, group.first, group.second);
      path_.pop_back();
    }
  }

  // Items that are there more than once are compared as if they were one thing.
  void visit_group(const Type& type, const std::vector<const Json*>& left, const std::vector<const Json*>& right) {
    auto first = [](const std::vector<const Json*>& items) { return items.empty() ? nullptr : items[0]; };
    if (left.size() <= 1 && right.size() <= 1) return visit(type.item, first(left), first(right));
    if (left.size() >= 2 && right.size() >= 2) {
      bool same = std::equal(left.begin(), left.end(), right.begin(), right.end(),
                             [](const Json* a, const Json* b) { return equal_values(*a, *b); });
      if (!same) found.modified.insert(path_);
    } else if (left.size() >= 2) {
      if (!right.empty()) visit(type.item, nullptr, right[0]);
      found.removed.insert(path_);
    } else {
      if (!left.empty()) visit(type.item, left[0], nullptr);
      found.added.insert(path_);
    }
  }

  const Schema& schema_;
  Path path_;
};

}  // namespace

Json merge(const Schema& schema, const Json& live, const Json& configuration) {
  return Merger(schema).visit(schema.root, &live, &configuration).value_or(Json());
}

Comparison compare(const Schema& schema, const Json& before, const Json& after) {
  Comparer comparer(schema);
  comparer.visit(schema.root, &before, &after);
  return std::move(comparer.found);
}

}  // namespace fairlead::schema
