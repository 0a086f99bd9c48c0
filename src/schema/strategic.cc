#include "schema/strategic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fields/path_element.h"
#include "schema/types/go_text.h"

namespace fairlead::schema {
namespace {

using fields::equal_values;

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

using Problem = std::optional<Refusal>;

struct Order {
  bool operator()(const Json& a, const Json& b) const { return fields::compare_values(a, b) < 0; }
};

// A value that is new in the object: without directives, and without nulls, which have nothing to remove.
std::optional<Json> cleaned(const Json& value) {
  if (const Json::Object* object = value.if_object()) {
    if (object->contains(kPatch)) return std::nullopt;
    Json::Object out;
    for (const Json::Member& member : *object) {
      bool directive = member.key == kRetainKeys || member.key.starts_with(kSetElementOrder) ||
                       member.key.starts_with(kDeleteFromList);
      if (directive || member.value.is_null()) continue;
      if (std::optional<Json> below = cleaned(member.value)) out.append(member.key, *std::move(below));
    }
    return Json(std::move(out));
  }
  if (!value.is_array()) return value;
  Json::Array out;
  for (const Json& item : value.items())
    if (std::optional<Json> below = cleaned(item)) out.push_back(*std::move(below));
  return Json(std::move(out));
}

// What tells an item of a merged list from the others.
const Json& name_of(const Json& item, const std::string& merge_key) {
  return merge_key.empty() ? item : item[merge_key];
}

// The items that the patch names, in its order, and between them those that only the server has, as near as can be to
// where they were.
Json::Array in_order(Json::Array merged, const Json::Array& wanted, const Json::Array& before,
                     const std::string& merge_key) {
  auto places = [&](const Json::Array& list) {
    std::map<Json, size_t, Order> out;
    for (size_t i = 0; i < list.size(); ++i) out.try_emplace(name_of(list[i], merge_key), i);
    return out;
  };
  std::map<Json, size_t, Order> in_patch = places(wanted), in_server = places(before);
  auto place = [&](const std::map<Json, size_t, Order>& in, const Json& item) {
    auto found = in.find(name_of(item, merge_key));
    return found == in.end() ? SIZE_MAX : found->second;
  };
  Json::Array patched, others;
  for (Json& item : merged) (in_patch.contains(name_of(item, merge_key)) ? patched : others).push_back(std::move(item));
  std::sort(patched.begin(), patched.end(),
            [&](const Json& a, const Json& b) { return place(in_patch, a) < place(in_patch, b); });
  std::sort(others.begin(), others.end(),
            [&](const Json& a, const Json& b) { return place(in_server, a) < place(in_server, b); });
  Json::Array out;
  size_t p = 0, o = 0;
  while (p < patched.size() || o < others.size()) {
    bool take_other = p == patched.size();
    if (!take_other && o < others.size()) {
      size_t other_place = place(in_server, others[o]), patch_place = place(in_server, patched[p]);
      take_other = other_place != SIZE_MAX && patch_place != SIZE_MAX && other_place < patch_place;
    }
    out.push_back(std::move(take_other ? others[o++] : patched[p++]));
  }
  return out;
}

class Patcher {
 public:
  explicit Patcher(const Schema& schema) : schema_(schema) {}

  Problem problem;

  // `type` is kNoType where the schema has no more to say.
  Json merge_object(TypeId type, Json object, const Json& patch) {
    if (const Json* directive = patch.members().find(kPatch)) return follow_directive(directive->string_or(""), patch);
    if (!object.is_object()) object = Json::Object();
    retain_keys(object, patch);
    std::set<std::string, std::less<>> done;
    for (const Json::Member& member : patch.members()) {
      if (!member.key.starts_with(kSetElementOrder)) continue;
      std::string name = member.key.substr(kSetElementOrder.size());
      set_order(type, object, patch, name, member.value);
      done.insert(name);
    }
    for (const Json::Member& member : patch.members()) {
      if (member.key == kRetainKeys || member.key.starts_with(kSetElementOrder) || done.contains(member.key)) continue;
      if (member.key.starts_with(kDeleteFromList))
        delete_items(object, member.key.substr(kDeleteFromList.size()), member.value);
      else merge_member(type, object, member.key, member.value);
    }
    return object;
  }

 private:
  TypeId member_type(TypeId type, std::string_view name) const {
    return type == kNoType ? kNoType : schema_[type].member(name);
  }

  void refuse(Refusal refusal) {
    if (!problem) problem = std::move(refusal);
  }

  Json follow_directive(std::string_view directive, const Json& patch) {
    if (directive == "delete") return Json::Object();
    if (directive != "replace")
      refuse(bare_error(fmt::format("unknown patch type: {} in map: {}", directive, go_text(patch))));
    Json out = patch;
    out.if_object()->erase(kPatch);
    return out;
  }

  void retain_keys(Json& object, const Json& patch) {
    const Json* retained = patch.members().find(kRetainKeys);
    if (!retained) return;
    static constexpr std::string_view kBad = "invalid patch format of retainKeys";
    if (!retained->is_array()) return refuse(bad_request(std::string(kBad)));
    auto stays = [&](std::string_view key) {
      return std::any_of(retained->items().begin(), retained->items().end(),
                         [&](const Json& one) { return one.string_or("") == key; });
    };
    for (const Json::Member& member : patch.members()) {
      bool named = member.key == kRetainKeys || member.value.is_null() || member.key.starts_with(kSetElementOrder) ||
                   member.key.starts_with(kDeleteFromList);
      if (!named && !stays(member.key)) return refuse(bad_request(std::string(kBad)));
    }
    Json::Object kept;
    for (Json::Member& member : *object.if_object())
      if (stays(member.key)) kept.append(member.key, std::move(member.value));
    object = std::move(kept);
  }

  void delete_items(Json& object, std::string_view name, const Json& gone) {
    Json* list = object.if_object()->find(name);
    if (!list || !list->is_array()) return;
    std::set<Json, Order> names(gone.items().begin(), gone.items().end());
    std::erase_if(*list->if_array(), [&](const Json& item) { return names.contains(item); });
  }

  void set_order(TypeId type, Json& object, const Json& patch, const std::string& name, const Json& order) {
    TypeId list_type = member_type(type, name);
    std::string merge_key = list_type == kNoType ? "" : schema_[list_type].merge_key.value_or("");
    if (!order.is_array()) return refuse(bad_request("invalid patch format of setElementOrder list"));
    Json* there = object.if_object()->find(name);
    const Json* change = patch.members().find(name);
    if (!there && !change) return;
    Json::Array before = there ? there->items() : Json::Array(), merged = before;
    if (there && change) merged = merge_list(list_type, before, change->items());
    else if (change) merged = cleaned(*change).value_or(Json()).items();
    object.make(name) = in_order(std::move(merged), order.items(), before, merge_key);
  }

  void merge_member(TypeId type, Json& object, const std::string& name, const Json& change) {
    Json::Object& members = *object.if_object();
    if (change.is_null()) {
      members.erase(name);
      return;
    }
    Json* there = members.find(name);
    TypeId below = member_type(type, name);
    if (there && there->is_object() && change.is_object()) {
      *there = merge_object(below, std::move(*there), change);
    } else if (there && there->is_array() && change.is_array()) {
      *there = merge_list(below, there->items(), change.items());
    } else if (std::optional<Json> value = cleaned(change)) {
      members[name] = *std::move(value);
    } else {
      members.erase(name);
    }
  }

  Json::Array merge_list(TypeId type, Json::Array before, const Json::Array& change) {
    if (type == kNoType || !schema_[type].merge_key) return change;
    const std::string& merge_key = *schema_[type].merge_key;
    Json::Array merged = before, additions;
    bool replaced = false;
    for (const Json& item : change) {
      const Json* directive = item.members().find(kPatch);
      if (!directive) {
        additions.push_back(item);
      } else if (directive->string_or("") == "delete") {
        if (!item.contains(merge_key)) refuse(no_merge_key(item, merge_key));
        std::erase_if(merged, [&](const Json& one) { return equal_values(one[merge_key], item[merge_key]); });
      } else {
        replaced = true;
      }
    }
    if (replaced) return additions;
    std::map<Json, size_t, Order> places;
    for (size_t i = 0; i < merged.size(); ++i) places.try_emplace(name_of(merged[i], merge_key), i);
    for (const Json& item : additions) {
      if (!merge_key.empty() && !item.contains(merge_key)) {
        refuse(no_merge_key(item, merge_key));
        return merged;
      }
      auto [place, is_new] = places.try_emplace(name_of(item, merge_key), merged.size());
      if (is_new) merged.push_back(item);
      else if (item.is_object())
        merged[place->second] = merge_object(schema_[type].item, std::move(merged[place->second]), item);
    }
    return in_order(std::move(merged), additions, before, merge_key);
  }

  static Refusal no_merge_key(const Json& item, const std::string& merge_key) {
    return bare_error(fmt::format("map: {} does not contain declared merge key: {}", go_text(item), merge_key));
  }

  const Schema& schema_;
};

}  // namespace

std::expected<Json, Refusal> strategic_merge(const Schema& schema, const Json& object, const Json& patch) {
  Patcher patcher(schema);
  Json merged = patcher.merge_object(schema.root, object, patch);
  if (patcher.problem) return std::unexpected(*std::move(patcher.problem));
  return merged;
}

}  // namespace fairlead::schema
