// The few counters of an API server that doctor looks at.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace fairlead::doctor {

struct Metrics {
  // Calls that failed so that the request was refused, and calls that failed and were ignored, by the webhook's name.
  std::map<std::string, uint64_t, std::less<>> failed_calls;
  std::map<std::string, uint64_t, std::less<>> failed_open;
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
