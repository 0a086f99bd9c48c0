// One entry of a kubeconfig, read field by field. For kubeconfig_resolve.cc and exec_spec.cc only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "kube/config/surroundings.h"

namespace fairlead::kube {

// A field that is not there is empty; one of another type is an error that names the entry and the file.
class Section {
 public:
  // `who`: `cluster "prod"`. The value must outlive the section.
  Section(std::string who, std::string file, const Json& value)
      : who_(std::move(who)), file_(std::move(file)), value_(value) {}

  const std::string& who() const { return who_; }
  const std::string& file() const { return file_; }
  const Json& operator[](std::string_view key) const { return value_[key]; }

  Result<std::string> text(std::string_view key) const;
  Result<bool> flag(std::string_view key) const;
  Result<std::vector<std::string>> texts(std::string_view key) const;
  // A path, relative to the file.
  Result<std::string> path(std::string_view key) const;
  std::string resolved(const std::string& path) const;
  // What KEY names as a file or KEY-data holds as base64; an error if both are there. Nothing if neither is.
  Result<std::optional<std::string>> data_or_file(std::string_view key, const Surroundings& surroundings) const;

  Error error(std::string what) const;

 private:
  std::string who_;
  std::string file_;
  const Json& value_;
};

}  // namespace fairlead::kube
