// For tests: a bundle from the text of its manifests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "manifest/collector.h"

namespace fairlead::manifest {

// Reads manifests as if they were in a file of that name. What is wrong with them fails the test, and gives an empty
// bundle.
inline Bundle bundle_of(std::string_view yaml, const std::string& name = "bundle.yaml") {
  Collector collector{Limits{}};
  collector.add(yaml, name);
  auto bundle = std::move(collector).finish();
  if (bundle) return *std::move(bundle);
  for (const Error& error : bundle.error()) ADD_FAILURE() << error.report();
  return {};
}

}  // namespace fairlead::manifest
