// The query of a request's target, percent-encoded.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::kube {

class Query {
 public:
  // Left out where the value is empty: that is how an API server sees it too.
  Query& add(std::string_view name, std::string_view value);
  Query& add_if(bool wanted, std::string_view name, std::string_view value) {
    return wanted ? add(name, value) : *this;
  }

  // "/path?a=b&c=d"
  std::string behind(std::string path) const;

 private:
  std::string text_;
};

}  // namespace fairlead::kube
