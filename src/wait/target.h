// Which objects are waited for, as the user names them. Pure: what the cluster serves is looked up later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "manifest/manifest.h"

namespace fairlead::wait {

// One object, or all objects of some kinds that a selector chooses.
struct Target {
  // As kubectl takes them: "deployment", "crd", "widgets.example.com". Empty for an object of a manifest.
  std::vector<std::string> kinds = {};
  // The kind of an object of a manifest.
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  // Where a manifest names one; else the default namespace.
  std::string ns = {};
  // Empty: all that the selector lets through.
  std::string name = {};
  std::string selector = {};
  // file:line
  std::string source = {};

  // `webhook/NAME`: a webhook configuration of either kind, or a webhook of that name in any of them.
  // `webhook/CONFIGURATION/NAME`: one webhook of a configuration.
  bool is_webhook = false;
  std::string hook = {};
  // The kind itself is waited for, until the cluster serves it. `kinds` has one name, and there is no other one.
  bool is_kind = false;

  bool is_group() const { return name.empty() && !is_kind; }
  // What an error calls it: "deployment/web", "pods -l app=web".
  std::string text() const;
  bool operator==(const Target&) const = default;
};

struct Selection {
  std::string selector;
  bool all = false;
};

// Reads KIND/NAME…, KIND NAME…, or KIND[,KIND…] with a selection.
Result<std::vector<Target>> read_targets(const std::vector<std::string>& words, const Selection& selection);

std::vector<Target> targets_of(const manifest::Bundle& bundle);

}  // namespace fairlead::wait
