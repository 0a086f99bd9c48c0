// Pipelines for tests.
#pragma once

#include <gtest/gtest.h>

#include "pipeline/read.h"

namespace fairlead::pipeline {

inline Result<std::string> no_files(const std::string& path) {
  return fail(ErrorKind::not_found, "{} cannot be read", path);
}

inline Pipeline parsed(std::string_view text, const Overrides& overrides = {}, const std::string& file = "kof.yaml") {
  auto pipeline = parse(text, file, overrides, no_files);
  std::string errors;
  if (!pipeline)
    for (const Error& error : pipeline.error()) errors += error.report();
  EXPECT_EQ(errors, "");
  return pipeline ? *std::move(pipeline) : Pipeline();
}

inline std::string errors_of(std::string_view text, const Overrides& overrides = {}) {
  auto pipeline = parse(text, "kof.yaml", overrides, no_files);
  if (pipeline) return "no error";
  std::string reports;
  for (const Error& error : pipeline.error()) reports += error.report();
  return reports;
}

}  // namespace fairlead::pipeline
