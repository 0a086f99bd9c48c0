// The details of an `ended` event: what a reader needs to describe a run that it did not see itself.
//   {"requests":12, "criticalPath":[{"what","reason","from","to"}, …], "errors":[{"what","because",…,"blocks"}, …],
//    "outcomes":{"blocked":[[group, kind, namespace, name], …], …}}
// `outcomes` names the objects whose result no other event tells, such as those that were never sent.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "journal/journal.h"

namespace fairlead::journal {

class EndingDetails {
 public:
  // Removes `secrets` from the texts. They must outlive this object.
  explicit EndingDetails(const Secrets& secrets) : secrets_(secrets) {}

  void set_requests(uint64_t requests) { json_.make("requests") = requests; }
  void add_step(std::string_view what, std::string_view reason, Duration from, Duration to);
  void add_error(Cause cause);
  void add_outcome(const object::Key& key, std::string_view outcome);

  Json json() && { return std::move(json_); }

 private:
  Json::Array& list(Json& list);

  const Secrets& secrets_;
  Json json_{Json::Object{}};
};

}  // namespace fairlead::journal
