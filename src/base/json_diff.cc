#include "base/json_diff.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {
namespace {

class Difference {
 public:
  void compare(const Json& before, const Json& after) {
    if (before.is_object() && after.is_object()) return compare_members(before.members(), after.members());
    if (before.is_array() && after.is_array()) return compare_items(before.items(), after.items());
    if (!(before == after)) add("replace", &after);
  }

  Json take() { return Json(std::move(operations_)); }

 private:
  void compare_members(const Json::Object& before, const Json::Object& after) {
    for (const Json::Member& member : before) {
      Below below(*this, member.key);
      if (const Json* now = after.find(member.key)) compare(member.value, *now);
      else add("remove", nullptr);
    }
    for (const Json::Member& member : after) {
      if (before.contains(member.key)) continue;
      Below below(*this, member.key);
      add("add", &member.value);
    }
  }

  void compare_items(const Json::Array& before, const Json::Array& after) {
    size_t common = std::min(before.size(), after.size());
    for (size_t i = 0; i < common; ++i) {
      Below below(*this, std::to_string(i));
      compare(before[i], after[i]);
    }
    // From the end, so that the places of the others stay.
    for (size_t i = before.size(); i > common; --i) {
      Below below(*this, std::to_string(i - 1));
      add("remove", nullptr);
    }
    for (size_t i = common; i < after.size(); ++i) {
      Below below(*this, std::to_string(i));
      add("add", &after[i]);
    }
  }

  void add(std::string_view operation, const Json* value) {
    Json::Object entry;
    entry.append("op", operation);
    entry.append("path", path_);
    if (value) entry.append("value", *value);
    operations_.emplace_back(std::move(entry));
  }

  // One step further down, for as long as it lives.
  class Below {
   public:
    Below(Difference& difference, std::string_view key) : path_(difference.path_), size_(path_.size()) {
      path_ += '/';
      for (char c : key) {
        if (c == '~') path_ += "~0";
        else if (c == '/') path_ += "~1";
        else path_ += c;
      }
    }
    ~Below() { path_.resize(size_); }
    Below(const Below&) = delete;
    Below& operator=(const Below&) = delete;

   private:
    std::string& path_;
    size_t size_;
  };

  std::string path_;
  Json::Array operations_;
};

}  // namespace

Json json_patch_between(const Json& before, const Json& after) {
  Difference difference;
  difference.compare(before, after);
  return difference.take();
}

}  // namespace fairlead
