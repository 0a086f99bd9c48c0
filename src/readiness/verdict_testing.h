// For tests: objects as short JSON, and verdicts as one line of text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "readiness/verdict.h"

namespace fairlead::readiness {

inline Json json(std::string_view text) {
  Result<Json> parsed = Json::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
  return parsed ? *std::move(parsed) : Json();
}

// An object of that kind: R"("spec": {…}, "status": {…})"
inline Json object(std::string_view api_version, std::string_view kind, std::string_view rest) {
  std::string_view comma = rest.empty() ? "" : ", ";
  return json(fmt::format(R"({{"apiVersion": "{}", "kind": "{}"{}{}}})", api_version, kind, comma, rest));
}

// "in progress: 2 of 3 replicas are ready", "failed for good: …"
inline std::string text(const Verdict& verdict) {
  return fmt::format("{}{}: {}", name_of(verdict.state), verdict.permanent ? " for good" : "", verdict.reason);
}

struct JudgeCase {
  std::string_view rest;
  std::string_view verdict;
};

inline void expect_verdicts(std::string_view api_version, std::string_view kind, std::initializer_list<JudgeCase> cases,
                            const Options& options = {}) {
  for (const JudgeCase& c : cases)
    EXPECT_EQ(text(judge(object(api_version, kind, c.rest), options)), c.verdict) << kind << " " << c.rest;
}

}  // namespace fairlead::readiness
