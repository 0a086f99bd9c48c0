// The few counters of an API server that doctor looks at.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace fairlead::doctor {

struct Metrics {
  // What became of the calls of a webhook.
  struct Calls {
    // The webhook allowed or denied the request.
    uint64_t answered = 0;
    // There was no valid answer, so that the request was refused.
    uint64_t refused = 0;
    // There was no valid answer, and the request was accepted without it.
    uint64_t skipped = 0;
    // The HTTP statuses of those without a valid answer. 503 also stands for no answer at all.
    std::set<std::string> statuses = {};
    // How often matchConditions were evaluated, and how often that failed.
    uint64_t conditions = 0;
    uint64_t condition_errors = 0;
    bool operator==(const Calls&) const = default;
  };
  // By the name of the webhook.
  std::map<std::string, Calls, std::less<>> calls;
  struct DeprecatedApi {
    std::string group;
    std::string version;
    std::string resource;
    // The release that no longer has it, such as "1.25"; empty if that is not decided.
    std::string removed_in;
    auto operator<=>(const DeprecatedApi&) const = default;
  };
  // The deprecated versions that somebody has asked for, in order.
  std::map<DeprecatedApi, uint64_t> deprecated;

  // Reads the text format of Prometheus. Lines that are not understood are passed over. The text is hostile.
  static Metrics parse(std::string_view text);
};

}  // namespace fairlead::doctor
