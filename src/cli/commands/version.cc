#include <cstdio>

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/core/exit_code.h"

namespace fairlead::cli {
namespace {

int print_version(const std::string& output) {
  if (output == "json") {
    Json json(Json::Object{
        {"version", FAIRLEAD_VERSION}, {"compiler", "clang " __clang_version__}, {"platform", FAIRLEAD_PLATFORM}});
    std::fputs(json.pretty().c_str(), stdout);
  } else {
    std::puts("fairlead " FAIRLEAD_VERSION);
  }
  return kDone;
}

}  // namespace

void add_version(Command app, Invocation& invocation) {
  app.version_flag("--version", "fairlead " FAIRLEAD_VERSION, "Print the version of this program");
  auto output = std::make_shared<std::string>("text");
  Command command = app.subcommand("version", "Print the version of this program");
  command.option("-o,--output", *output, "How to print it: text or json").one_of({"text", "json"});
  command.when_chosen([&invocation, output] { invocation.run = [output] { return print_version(*output); }; });
}

}  // namespace fairlead::cli
