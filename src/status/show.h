// The results of this room as text and as JSON (docs/status.md has the schemas). Pure.
#pragma once

#include <string>

#include "base/json.h"
#include "status/bundles.h"
#include "status/status.h"
#include "status/trace.h"

namespace fairlead::status {

struct Show {
  WallTime now{};
  // More columns, and file:line.
  bool wide = false;
  bool colours = false;
};

std::string text_of(const Bundles& bundles, const Show& show);
Json json_of(const Bundles& bundles);

std::string text_of(const BundleStatus& status, const Show& show);
Json json_of(const BundleStatus& status);

std::string text_of(const Trace& trace, const Show& show);
Json json_of(const Trace& trace);

std::string text_of(const std::vector<history::Revision>& revisions, const Show& show);
Json json_of(const std::string& bundle, const std::string& home, const std::vector<history::Revision>& revisions);

}  // namespace fairlead::status
