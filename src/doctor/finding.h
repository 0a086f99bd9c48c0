// A finding: one trouble in a cluster, with its evidence and the next command.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "object/key.h"

namespace fairlead::doctor {

enum class Severity {
  info,     // worth knowing; nothing is wrong
  warning,  // something is wrong or at risk, and requests still work
  error,    // requests fail, or something does not work
};
// "info", "warning" or "error".
std::string_view name_of(Severity severity);
std::optional<Severity> severity_named(std::string_view name);

struct Finding {
  // One of codes(): stable, so that scripts can rely on it.
  std::string_view code;
  Severity severity = Severity::warning;
  object::Key object;
  // One sentence.
  std::string what;
  // The evidence, outermost cause first.
  std::vector<std::string> causes = {};
  // Where the object is written, as file:line; empty unless manifests are examined.
  std::string from = {};
  // What does not work because of it; empty if that is nothing or not known.
  std::string blocks = {};
  // A command.
  std::string next = {};
  // Other objects that are part of the trouble: a Service, a workload, a Secret.
  std::vector<object::Key> related = {};

  bool operator==(const Finding&) const = default;
};

// Every code that a finding can have, in alphabetical order. docs/doctor.md has a paragraph about each.
std::span<const std::string_view> codes();

// Fails for a text that is not a code, and suggests the nearest one.
Result<void> check_code(std::string_view code);

}  // namespace fairlead::doctor
