#include "journal/ending_details.h"

namespace fairlead::journal {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Json::Array& EndingDetails::list(Json& list) {
  if (list.is_null()) list = Json::Array();
  return *list.if_array();
}

void EndingDetails::add_step(std::string_view what, std::string_view reason, Duration from, Duration to) {
  list(json_.make("criticalPath"))
      .emplace_back(Json::Object{{"what", secrets_.without(what)},
                                 {"reason", secrets_.without(reason)},
                                 {"from", seconds(from)},
                                 {"to", seconds(to)}});
}

void EndingDetails::add_error(Cause cause) {
  conceal(secrets_, cause);
  list(json_.make("errors")).push_back(to_json(cause));
}

void EndingDetails::add_outcome(const object::Key& key, std::string_view outcome) {
  list(json_.make("outcomes").make(outcome)).emplace_back(Json::Array{key.group, key.kind, key.ns, key.name});
}

}  // namespace fairlead::journal
