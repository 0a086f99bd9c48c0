// What is told to the user: errors and warnings, each with the attribute that it is about.
//
// Terraform folds warnings whose summaries are equal into one, so a summary names the object: `(Kind namespace/name)`.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "terraform/value/path.h"

namespace fairlead::terraform {

struct Diagnostic {
  enum class Severity { error, warning };
  Severity severity = Severity::error;
  std::string summary;
  std::string detail;
  Path path;

  bool operator==(const Diagnostic&) const = default;
};

class Diagnostics {
 public:
  Diagnostics() = default;

  void error(std::string summary, std::string detail, Path path = {});
  void warning(std::string summary, std::string detail, Path path = {});
  // The error's first line is the summary; causes, place and advice are the detail.
  void error(const Error& error, Path path = {});
  void warning(const Error& error, Path path = {});
  void add(Diagnostics others);

  bool has_errors() const;
  bool empty() const { return all_.empty(); }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace fairlead::terraform
