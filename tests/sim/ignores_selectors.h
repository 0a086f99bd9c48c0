// A server that takes no notice of label selectors, as some aggregated API servers do.
#pragma once

#include "detour.h"

namespace fairlead::sim {

class IgnoresSelectors final : public Detour {
 public:
  // Without `ignores` it changes nothing.
  IgnoresSelectors(http::Transport& network, bool ignores) : Detour(network), ignores_(ignores) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    size_t at = ignores_ ? request.target.find("labelSelector=") : std::string::npos;
    if (at != std::string::npos) {
      size_t end = request.target.find('&', at);
      request.target.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return network_.open(std::move(request));
  }

 private:
  bool ignores_;
};

}  // namespace fairlead::sim
