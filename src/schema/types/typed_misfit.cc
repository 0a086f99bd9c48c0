#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schema/types/go_text.h"
#include "schema/types/list_item.h"
#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

using fields::PathElement;

class Walker {
 public:
  Walker(const Schema& schema, bool allow_duplicates) : schema_(schema), allow_duplicates_(allow_duplicates) {}

  std::vector<Misfit> found;

  void visit(TypeId id, const Json& value) {
    const Type& type = schema_[id];
    switch (first_form(forms_of(type, &value))) {
      case kMap: return visit_map(type, value);
      case kScalar: return visit_scalar(type, value);
      case kList: return visit_list(type, value);
      default: report("schema error: invalid atom: inlined");
    }
  }

 private:
  void report(std::string what, std::string_view below = "") {
    found.push_back({path_ + std::string(below), std::move(what)});
  }

  void descend(std::string step, TypeId id, const Json& value) {
    size_t length = path_.size();
    path_ += step;
    visit(id, value);
    path_.resize(length);
  }

  void visit_map(const Type& type, const Json& value) {
    if (value.is_null()) return;
    if (!value.is_object()) return report(fmt::format("expected map, got &{{{}}}", go_text(value)));
    for (const Json::Member& member : *value.if_object()) {
      TypeId id = type.member(member.key);
      // The server gives up on the rest of the object here, and so do we.
      if (id == kNoType) return report("field not declared in schema", "." + member.key);
      descend("." + member.key, id, member.value);
    }
  }

  void visit_list(const Type& type, const Json& value) {
    if (value.is_null()) return;
    if (!value.is_array()) return report(fmt::format("expected list, got &{{{}}}", go_text(value)));
    std::set<PathElement> seen;
    for (size_t i = 0; i < value.items().size(); ++i) {
      const Json& item = value.items()[i];
      if (!type.associative()) {
        descend(fmt::format("[{}]", i), type.item, item);
        continue;
      }
      auto element = item_element(schema_, type, item);
      if (!element) return report(fmt::format("element {}: {}", i, element.error()));
      if (!seen.insert(*element).second && !allow_duplicates_)
        report(fmt::format("duplicate entries for key {}", element->text()));
      descend(element->text(), type.item, item);
    }
  }

  void visit_scalar(const Type& type, const Json& value) {
    if (value.is_null()) return;
    switch (type.scalar) {
      case Scalar::number:
      case Scalar::int32:
      case Scalar::int64:
        if (!value.is_number()) report(fmt::format("expected numeric (int or float), got {}", go_type(value)));
        return;
      case Scalar::string:
      case Scalar::bytes:
        if (!value.is_string())
          report(fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}", go_syntax(value)));
        return;
      case Scalar::boolean:
        if (!value.is_bool()) report(fmt::format("expected boolean, got &{{{}}}", go_text(value)));
        return;
      default:
        if (value.is_array() || value.is_object())
          report(fmt::format("expected any scalar, got &{{{}}}", go_text(value)));
    }
  }

  const Schema& schema_;
  bool allow_duplicates_;
  std::string path_;
};

}  // namespace

std::string text_of(const std::vector<Misfit>& misfits) {
  auto line = [](const Misfit& misfit) { return misfit.path.empty() ? misfit.what : misfit.path + ": " + misfit.what; };
  if (misfits.size() == 1) return line(misfits[0]);
  std::string out = "errors:";
  for (const Misfit& misfit : misfits) out += "\n  " + line(misfit);
  return out;
}

std::vector<Misfit> misfits(const Schema& schema, const Json& object, Duplicates duplicates) {
  Walker walker(schema, duplicates == Duplicates::allowed);
  walker.visit(schema.root, object);
  return std::move(walker.found);
}

}  // namespace fairlead::schema
