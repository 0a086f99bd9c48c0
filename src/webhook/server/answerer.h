// What answers reviews in place of policies, behind the same server: its certificates, probes, metrics and drain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "http/message.h"

namespace fairlead::webhook {

class Answerer {
 public:
  virtual ~Answerer() = default;
  // Answers a POST of JSON to one of its paths.
  virtual Task<http::Answer> answer(http::Request request) = 0;
  virtual std::vector<std::string> paths() const = 0;
  // Why API servers should not call it yet; empty if they may.
  virtual std::string not_ready() const = 0;
  // For /metrics.
  virtual std::string metrics() const = 0;
  // A page in JSON on the port of the probes; nothing for a path that it does not have.
  virtual std::optional<std::string> page(std::string_view path) const = 0;
  // The server was asked to stop. Whatever waits must not wait on.
  virtual void drain() = 0;
};

}  // namespace fairlead::webhook
