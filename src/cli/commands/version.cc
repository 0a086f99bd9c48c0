#include "base/version.h"

#include <cstdio>

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/commands/commit.h"
#include "cli/core/exit_code.h"

namespace fairlead::cli {
namespace {

constexpr size_t kShortHash = 12;

// Returns "fairlead 1.2.3 (commit 0123456789ab of 2026-05-04T10:20:30Z)".
std::string version_text() {
  std::string text = fmt::format("fairlead {}", program_version());
  if (kCommit.empty()) return text;
  std::string_view mark = kCommit.ends_with("-dirty") ? "-dirty" : "";
  return text + fmt::format(" (commit {}{} of {})", kCommit.substr(0, kShortHash), mark, kCommitDate);
}

int print_version(const std::string& output) {
  if (output == "json") {
    Json json(Json::Object{{"version", program_version()},
                           {"commit", kCommit},
                           {"buildDate", kCommitDate},
                           {"compiler", "clang " __clang_version__},
                           {"platform", FAIRLEAD_PLATFORM}});
    std::fputs(json.pretty().c_str(), stdout);
  } else {
    std::puts(version_text().c_str());
  }
  return kDone;
}

}  // namespace

void add_version(Command app, Invocation& invocation) {
  app.version_flag("--version", version_text(), "Print the version of this program");
  auto output = std::make_shared<std::string>("text");
  Command command = app.subcommand("version", "Print the version of this program");
  command.option("-o,--output", *output, "How to print it: text or json").one_of({"text", "json"});
  command.when_chosen([&invocation, output] { invocation.run = [output] { return print_version(*output); }; });
}

}  // namespace fairlead::cli
