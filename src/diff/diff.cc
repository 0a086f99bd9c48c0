#include "diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diff/yaml_text.h"
#include "object/field_path.h"

namespace fairlead::diff {
namespace {

constexpr std::string_view kServerMetadata[] = {"managedFields", "resourceVersion", "uid",
                                                "generation",    "selfLink",        "creationTimestamp"};
// kubectl keeps a copy of the whole manifest here, with the values of a Secret in it.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kHidden = "***";

// Removes members of an object inside `parent`, and the object itself if it becomes empty.
void erase_members(Json& parent, std::string_view name, auto... keys) {
  Json::Object* members = parent.if_object();
  Json* inner = members ? members->find(name) : nullptr;
  Json::Object* object = inner ? inner->if_object() : nullptr;
  if (!object) return;
  bool erased = (object->erase(keys) | ...);
  if (erased && object->empty()) members->erase(name);
}

void hide_own_labels(Json& before, Json& after, const Look& look) {
  for (const std::string& label : look.own_labels) {
    bool is_kept = before["metadata"]["labels"][label] == after["metadata"]["labels"][label];
    if (!before.is_null() && !after.is_null() && !is_kept) continue;
    for (Json* form : {&before, &after})
      if (form->is_object()) erase_members(form->make("metadata"), "labels", label);
  }
}

bool is_secret(const Json& object) {
  return object["kind"].string_or("") == "Secret" && object["apiVersion"].string_or("") == "v1";
}

void mask(Json& before, Json& after, std::string_view member) {
  std::set<std::string> names;
  for (const Json* form : {&before, &after})
    for (const auto& [name, value] : (*form)[member].members()) names.insert(name);
  for (const std::string& name : names) {
    bool in_both = before[member].contains(name) && after[member].contains(name);
    bool differs = in_both && before[member][name] != after[member][name];
    auto hide = [&](Json& form, std::string_view which) {
      if (!form[member].contains(name)) return;
      form.make(member).make(name) = differs ? fmt::format("{} ({})", kHidden, which) : std::string(kHidden);
    };
    hide(before, "before");
    hide(after, "after");
  }
}

const std::string* name_of(const Json& item) { return item["name"].if_string(); }

// True if every item has a name that no other item has.
bool has_names(const Json::Array& items) {
  std::set<std::string_view> names;
  return std::ranges::all_of(
      items, [&](const Json& item) { return name_of(item) != nullptr && names.insert(*name_of(item)).second; });
}

class Fields {
 public:
  void compare(const std::string& path, const Json* before, const Json* after) {
    if (before && after && *before == *after) return;
    if (before && after && before->is_object() && after->is_object()) return compare_members(path, *before, *after);
    if (before && after && before->is_array() && after->is_array()) return compare_items(path, *before, *after);
    auto copy = [](const Json* value) { return value ? std::optional(*value) : std::nullopt; };
    found_.push_back({.path = path, .before = copy(before), .after = copy(after)});
  }
  std::vector<FieldChange> take() { return std::move(found_); }

 private:
  void compare_members(const std::string& path, const Json& before, const Json& after) {
    std::set<std::string> names;
    for (const Json* form : {&before, &after})
      for (const auto& [name, value] : form->members()) names.insert(name);
    for (const std::string& name : names) {
      std::string step = object::FieldPath({name}).text();
      bool has_dot = !path.empty() && !step.starts_with("[");
      compare(path + (has_dot ? "." : "") + step, before.members().find(name), after.members().find(name));
    }
  }

  void compare_items(const std::string& path, const Json& before, const Json& after) {
    if (has_names(before.items()) && has_names(after.items())) return compare_named(path, before, after);
    size_t count = std::max(before.items().size(), after.items().size());
    auto at = [](const Json& list, size_t i) { return i < list.items().size() ? &list.items()[i] : nullptr; };
    for (size_t i = 0; i < count; ++i) compare(fmt::format("{}[{}]", path, i), at(before, i), at(after, i));
  }

  void compare_named(const std::string& path, const Json& before, const Json& after) {
    auto find = [](const Json& list, const std::string& name) -> const Json* {
      auto found = std::ranges::find_if(list.items(), [&](const Json& item) { return *name_of(item) == name; });
      return found == list.items().end() ? nullptr : &*found;
    };
    auto place = [&](const std::string& name) { return fmt::format("{}[name={}]", path, name); };
    size_t known = found_.size();
    for (const Json& item : before.items()) compare(place(*name_of(item)), &item, find(after, *name_of(item)));
    for (const Json& item : after.items())
      if (!find(before, *name_of(item))) compare(place(*name_of(item)), nullptr, &item);
    // Only the order differs.
    if (found_.size() == known) found_.push_back({.path = path, .before = before, .after = after});
  }

  std::vector<FieldChange> found_;
};

}  // namespace

Json visible(Json object) {
  Json::Object* members = object.if_object();
  if (!members) return object;
  members->erase("status");
  Json* metadata = members->find("metadata");
  if (!metadata || !metadata->is_object()) return object;
  for (std::string_view name : kServerMetadata) metadata->if_object()->erase(name);
  erase_members(*metadata, "annotations", kLastApplied);
  return object;
}

std::vector<FieldChange> field_changes(const Json& before, const Json& after) {
  Fields fields;
  fields.compare("", &before, &after);
  return fields.take();
}

Change change_of(const Json& before, const Json& after, const Look& look) {
  Json from = visible(before), to = visible(after);
  hide_own_labels(from, to, look);
  bool hides = !look.show_secrets && (is_secret(from) || is_secret(to));
  for (std::string_view member : {"data", "stringData"})
    if (hides) mask(from, to, member);
  Change change;
  if (!from.is_null()) change.before = yaml_text(from);
  if (!to.is_null()) change.after = yaml_text(to);
  if (!from.is_null() && !to.is_null()) change.fields = field_changes(from, to);
  return change;
}

}  // namespace fairlead::diff
