// What an API server counts and tells at /metrics: how the calls of webhooks ended, and which deprecated versions of
// APIs clients have asked for. The names and labels are those of the real server.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/dispatch.h"

namespace fairlead::sandbox {

class Counters {
 public:
  // Counts what became of the webhooks that one request met.
  void count_webhooks(const std::vector<admission::Encounter>& encounters, admission::Operation operation);
  // Notes that a client has asked for a deprecated version. `removed_in` is empty if no release is known to remove it.
  void note_deprecated(std::string_view group, std::string_view version, std::string_view resource,
                       std::string_view subresource, std::string_view removed_in);

  // Returns everything in the text format of Prometheus.
  std::string text() const;

 private:
  // In order of their names, as the real server writes them.
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;
  uint64_t& series(std::string_view name, const Labels& labels);
  void count_conditions(const admission::Encounter& encounter, std::string_view operation, std::string_view type);

  // By the name of the metric, and by the text of the labels.
  std::map<std::string, std::map<std::string, uint64_t>, std::less<>> series_;
};

}  // namespace fairlead::sandbox
