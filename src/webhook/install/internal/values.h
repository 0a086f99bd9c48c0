// Reads the values: the defaults of the chart, overridden by files and by --set.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "webhook/install/install.h"

namespace fairlead::webhook::install {

class Values {
 public:
  // Every key exists and has a value of the type that its default has. As in the chart, what is given below
  // `dynamo-operator` counts, wherever it is given. A key that is in both places of one file has the same value there.
  static std::expected<Values, std::vector<Error>> read(const Inputs& inputs);

  // At "webhook.certManager.enabled". The key must exist.
  const Json& at(std::string_view path) const;
  std::string text(std::string_view path) const { return std::string(at(path).string_or("")); }
  bool flag(std::string_view path) const { return at(path).bool_or(false); }
  // "values.yaml:4", or "--set webhook.timeoutSeconds=0"; empty for a default.
  std::string origin(std::string_view path) const;
  bool is_given(std::string_view path) const { return !origin(path).empty(); }
  // What is given and does not count.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Json values_;
  std::map<std::string, std::string, std::less<>> origins_;
  std::vector<std::string> warnings_;
};

}  // namespace fairlead::webhook::install
