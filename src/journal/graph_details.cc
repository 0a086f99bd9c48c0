#include "journal/graph_details.h"

namespace fairlead::journal {

void GraphDetails::add_object(const object::Key& key, std::string source) {
  objects_.emplace_back(Json::Array{key.group, key.kind, key.ns, key.name, std::move(source)});
}

void GraphDetails::add_other(std::string_view type, std::string text) {
  others_.emplace_back(Json::Array{type, std::move(text)});
}

void GraphDetails::add_need(plan::NodeId node, plan::NodeId target, NeedLevel level, std::string_view reason) {
  needs_.emplace_back(
      Json::Array{uint64_t{node.index()}, uint64_t{target.index()}, number_of(reason), uint64_t(level)});
}

uint64_t GraphDetails::number_of(std::string_view reason) {
  auto [found, is_new] = numbers_.emplace(reason, reasons_.size());
  if (is_new) reasons_.emplace_back(secrets_.without(reason));
  return found->second;
}

Json GraphDetails::json() && {
  return Json::Object{{"objects", std::move(objects_)},
                      {"others", std::move(others_)},
                      {"reasons", std::move(reasons_)},
                      {"needs", std::move(needs_)}};
}

}  // namespace fairlead::journal
