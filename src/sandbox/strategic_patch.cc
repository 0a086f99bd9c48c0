#include "sandbox/strategic_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "schema/go_text.h"

namespace fairlead::sandbox {
namespace {

using schema::kNoType;
using schema::ListKind;
using schema::Schema;
using schema::Type;
using schema::TypeId;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";
constexpr std::string_view kRetain = "$retainKeys";

class Patcher {
 public:
  explicit Patcher(const Schema& schema) : schema_(schema) {}

  Outcome<Json> object(TypeId type, const Json& before, const Json& patch) {
    std::string_view directive = patch[kDirective].string_or("");
    Json::Object after = before.members();
    if (directive == "delete") return Json(Json::Object{});
    if (directive == "replace") after = Json::Object{};
    else if (!directive.empty() && directive != "merge")
      return refuse(bad_request(fmt::format("Unknown patch type: {}", directive)));
    if (patch.contains(kRetain)) {
      const Json::Array& kept = patch[kRetain].items();
      std::vector<std::string> dropped;
      for (const Json::Member& member : after)
        if (std::find(kept.begin(), kept.end(), Json(member.key)) == kept.end()) dropped.push_back(member.key);
      for (const std::string& key : dropped) after.erase(key);
    }
    for (const Json::Member& member : patch.members()) {
      if (member.key == kDirective || member.key == kRetain || member.key.starts_with(kOrder)) continue;
      if (member.key.starts_with(kDelete)) {
        Json* list = after.find(member.key.substr(kDelete.size()));
        if (list && list->is_array())
          std::erase_if(*list->if_array(), [&](const Json& item) {
            const Json::Array& gone = member.value.items();
            return std::find(gone.begin(), gone.end(), item) != gone.end();
          });
        continue;
      }
      if (member.value.is_null()) {
        after.erase(member.key);
        continue;
      }
      TypeId below = type == kNoType ? kNoType : schema_[type].member(member.key);
      const Json* there = after.find(member.key);
      Outcome<Json> merged = value(below, there ? *there : Json(), member.value);
      if (!merged) return merged;
      after[member.key] = *std::move(merged);
    }
    return Json(std::move(after));
  }

 private:
  Outcome<Json> value(TypeId type, const Json& before, const Json& patch) {
    if (patch.is_object()) {
      bool whole = type != kNoType && schema_[type].map == schema::MapKind::atomic && schema_[type].fields.empty();
      return object(type, before.is_object() && !whole ? before : Json(Json::Object{}), patch);
    }
    if (patch.is_array() && type != kNoType && schema_[type].associative()) return list(schema_[type], before, patch);
    return patch;
  }

  // The one key that strategic patches go by: of several, the one that is not a refinement of the other.
  static std::string merge_key(const Type& list) {
    for (const std::string& key : list.keys)
      if (key != "protocol" && key != "whenUnsatisfiable" && key != "hostIP") return key;
    return list.keys.empty() ? "" : list.keys.front();
  }

  Outcome<Json> list(const Type& type, const Json& before, const Json& patch) {
    Json::Array after = before.items();
    if (type.list == ListKind::set) {
      for (const Json& item : patch.items())
        if (std::find(after.begin(), after.end(), item) == after.end()) after.push_back(item);
      return Json(std::move(after));
    }
    std::string key = merge_key(type);
    for (const Json& item : patch.items()) {
      std::string_view directive = item[kDirective].string_or("");
      if (directive == "replace" && !item.contains(key)) {
        // The items beside it are the list.
        after.clear();
        for (const Json& other : patch.items())
          if (!other.contains(kDirective)) after.push_back(other);
        return Json(std::move(after));
      }
      if (!item.contains(key))
        return refuse(
            bare_error(fmt::format("map: {} does not contain declared merge key: {}", schema::go_text(item), key)));
      auto there = std::find_if(after.begin(), after.end(), [&](const Json& one) { return one[key] == item[key]; });
      if (directive == "delete") {
        if (there != after.end()) after.erase(there);
        continue;
      }
      Outcome<Json> merged = object(type.item, there == after.end() ? Json(Json::Object{}) : *there, item);
      if (!merged) return merged;
      if (there == after.end()) after.push_back(*std::move(merged));
      else *there = *std::move(merged);
    }
    return Json(in_order(std::move(after), before.items(), patch.items(), key));
  }

  // What the patch names comes in its order, and before the rest, but for what was before it already.
  static Json::Array in_order(Json::Array after, const Json::Array& before, const Json::Array& patch,
                              const std::string& key) {
    auto places = [&](const Json::Array& list) {
      std::map<std::string, size_t> by_key;
      for (const Json& item : list) by_key.emplace(item[key].dump(), by_key.size());
      return by_key;
    };
    std::map<std::string, size_t> in_patch = places(patch), in_before = places(before);
    std::map<size_t, Json> named;
    Json::Array others, out;
    for (Json& item : after) {
      auto place = in_patch.find(item[key].dump());
      if (place == in_patch.end()) others.push_back(std::move(item));
      else named.emplace(place->second, std::move(item));
    }
    auto left = others.begin();
    for (auto& [number, item] : named) {
      auto was = in_before.find(item[key].dump());
      while (was != in_before.end() && left != others.end() && in_before[(*left)[key].dump()] < was->second)
        out.push_back(std::move(*left++));
      out.push_back(std::move(item));
    }
    out.insert(out.end(), std::make_move_iterator(left), std::make_move_iterator(others.end()));
    return out;
  }

  const Schema& schema_;
};

}  // namespace

Outcome<Json> apply_strategic_patch(const Schema& schema, const Json& document, const Json& patch) {
  return Patcher(schema).object(schema.root, document, patch);
}

}  // namespace fairlead::sandbox
