#include "fields/owned.h"

#include <algorithm>
#include <set>

#include "fields/managed_fields.h"
#include "fields/member_index.h"

namespace fairlead::fields {
namespace {

// True if the list item has these keys. If `lenient`, a key that the item leaves out counts as equal, because it may
// have its default.
bool has_key(const Json& item, const PathElement::Key& key, bool lenient) {
  if (!item.is_object()) return false;
  for (const PathElement::KeyField& field : key) {
    const Json* value = item.members().find(field.name);
    if (value ? !equal_values(*value, field.value) : !lenient) return false;
  }
  return true;
}

const Json* find_item(const Json& list, const PathElement& element, bool lenient) {
  const Json* found = nullptr;
  for (const Json& item : list.items()) {
    bool matches = element.if_key()     ? has_key(item, *element.if_key(), lenient)
                   : element.if_value() ? equal_values(item, *element.if_value())
                                        : false;
    if (!matches) continue;
    if (found) return nullptr;  // two items match, so neither can be chosen
    found = &item;
  }
  return found;
}

Json owned_items(const Json& list, const FieldSet& set) {
  // The names of the keys, each combination once. Usually there is only one combination.
  std::set<std::vector<std::string>> key_names;
  for (const FieldSet::Node& node : set.nodes()) {
    std::vector<std::string> names;
    for (const PathElement::KeyField& field : node.element.if_key() ? *node.element.if_key() : PathElement::Key())
      names.push_back(field.name);
    if (!names.empty()) key_names.insert(std::move(names));
  }
  Json::Array out;
  for (const Json& item : list.items()) {
    if (set.find(PathElement::value(item))) {
      out.push_back(item);
      continue;
    }
    for (const std::vector<std::string>& names : key_names) {
      PathElement::Key key;
      for (const std::string& name : names)
        if (const Json* value = item.members().find(name)) key.push_back({name, *value});
      if (key.size() != names.size()) continue;
      const FieldSet::Node* node = set.find(PathElement::key(key));
      if (!node) continue;
      Json part = node->below.empty() ? Json(Json::Object()) : owned_part(item, node->below);
      for (PathElement::KeyField& field : key) part.make(field.name) = std::move(field.value);
      out.push_back(std::move(part));
      break;
    }
  }
  return out;
}

bool is_meta_of_the_server(std::string_view name) {
  static constexpr std::string_view kNames[] = {"name", "namespace",  "creationTimestamp", "selfLink",
                                                "uid",  "generation", "managedFields",     "resourceVersion"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

enum class Level { root, metadata, other };

bool same(const Json& configured, const Json& live, const FieldSet& set, Level level);

bool same_members(const Json& configured, const Json& live, const FieldSet& set, Level level) {
  size_t owned = 0;
  MemberIndex there(live.members());
  for (const Json::Member& member : configured.members()) {
    if (level == Level::root && (member.key == "apiVersion" || member.key == "kind")) continue;
    if (level == Level::metadata && is_meta_of_the_server(member.key)) {
      // Nobody owns these fields. If a name or version differs from the live one, the API server has to decide.
      const Json* value = there.find(member.key);
      if (!value || !equal_values(member.value, *value)) return false;
      continue;
    }
    const Json* value = there.find(member.key);
    if (!value) return false;
    bool metadata = level == Level::root && member.key == "metadata";
    const FieldSet::Node* node = set.find(PathElement::field(member.key));
    if (node) ++owned;
    // The field metadata itself is never owned. The set has no node for it if the configuration has only fields like
    // its name there.
    if (!node && !metadata) return false;
    static const FieldSet kNothing;
    if (!same(member.value, *value, node ? node->below : kNothing, metadata ? Level::metadata : Level::other))
      return false;
  }
  // If a field was applied before and is no longer configured, an apply would remove it.
  return owned == set.nodes().size();
}

// Longer lists are not compared, because that would take too long.
constexpr size_t kMaxItems = 1000;

bool same_items(const Json& configured, const Json& live, const FieldSet& set) {
  if (configured.items().size() != set.nodes().size() || live.items().size() > kMaxItems) return false;
  std::vector<std::pair<const Json*, const Json*>> pairs;
  for (const FieldSet::Node& node : set.nodes()) {
    const Json* wanted = find_item(configured, node.element, true);
    const Json* there = find_item(live, node.element, false);
    if (!wanted || !there) return false;
    if (!node.element.if_value() && !same(*wanted, *there, node.below, Level::other)) return false;
    pairs.emplace_back(wanted, there);
  }
  // Every item must occur once, and in the same order: an apply would move items that are configured in another order.
  std::sort(pairs.begin(), pairs.end());
  return std::adjacent_find(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
           return a.first == b.first || a.second >= b.second;
         }) == pairs.end();
}

bool same(const Json& configured, const Json& live, const FieldSet& set, Level level) {
  // A leaf or an atomic value is compared as a whole. If the server added defaults to it, the result is false.
  if (set.empty() && level == Level::other) return equal_values(configured, live);
  if (configured.is_object() && live.is_object()) return same_members(configured, live, set, level);
  if (configured.is_array() && live.is_array()) return same_items(configured, live, set);
  return false;
}

}  // namespace

Json owned_part(const Json& object, const FieldSet& set) {
  if (object.is_array()) return owned_items(object, set);
  if (!object.is_object()) return object;
  Json::Object out;
  for (const Json::Member& member : *object.if_object()) {
    const FieldSet::Node* node = set.find(PathElement::field(member.key));
    if (!node) continue;
    out.append(member.key, node->below.empty() ? member.value : owned_part(member.value, node->below));
  }
  return out;
}

bool is_unchanged(const Json& configuration, const Json& live, std::string_view manager) {
  if (!configuration.is_object() || !live.is_object()) return false;
  std::optional<ManagedEntry> entry = applied_by(live, manager);
  if (!entry || entry->api_version != configuration["apiVersion"].string_or("")) return false;
  if (!equal_values(configuration["apiVersion"], live["apiVersion"]) ||
      !equal_values(configuration["kind"], live["kind"]))
    return false;
  return same(configuration, live, entry->fields, Level::root);
}

}  // namespace fairlead::fields
