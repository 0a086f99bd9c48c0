#include "cli/output/output_flags.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/core/connect.h"

namespace fairlead::cli {
namespace {

using report::Format;
using report::Progress;

constexpr std::string_view kProgressVariable = "FAIRLEAD_PROGRESS";
constexpr std::string_view kProgressNames[] = {"auto", "tty", "plain", "quiet", "json"};

// Returns the stream that a live view can be drawn on, or null. Standard output has to be kept clean if programs read
// it.
std::FILE* terminal_for(Format format) {
  bool has_out = report::is_terminal(STDOUT_FILENO);
  bool has_err = report::is_terminal(STDERR_FILENO);
  if (format == Format::text) return has_out ? stdout : nullptr;
  // The lines of a stream would be mixed with the view.
  if (format == Format::jsonl && ::isatty(STDOUT_FILENO)) return nullptr;
  return has_err ? stderr : nullptr;
}

Progress standard_progress(Format format, bool has_terminal, bool shows_requests) {
  if (format == Format::quiet) return Progress::quiet;
  // Every request is a line on standard error, which would be drawn over.
  if (has_terminal && !shows_requests) return Progress::live;
  return format == Format::text ? Progress::plain : Progress::quiet;
}

Result<std::string> wanted_progress(const OutputFlags& flags) {
  if (!flags.progress.empty()) return flags.progress;
  const char* variable = std::getenv(kProgressVariable.data());
  if (!variable || *variable == '\0') return "auto";
  if (std::ranges::find(kProgressNames, variable) != std::end(kProgressNames)) return variable;
  return fail(Error(ErrorKind::invalid, fmt::format("{}: \"{}\" is not one of auto, tty, plain, quiet, json",
                                                    kProgressVariable, std::string_view(variable).substr(0, 100)))
                  .next(fmt::format("unset {}, or use --progress", kProgressVariable)));
}

}  // namespace

Result<report::Settings> output_settings(const OutputFlags& flags, const Globals& globals) {
  TRY_ASSIGN(std::string wanted, wanted_progress(flags));
  report::Settings settings{.format = report::format_of(flags.output), .all = flags.all};
  settings.requests = globals.verbosity > 0;
  std::FILE* terminal = terminal_for(settings.format);
  if (flags.progress == "tty" && !terminal)
    return fail(Error(ErrorKind::invalid, "--progress tty needs a terminal that understands escape sequences")
                    .next("--progress plain prints lines, and --progress auto uses a terminal if there is one"));
  if (terminal) settings.terminal = terminal;
  if (wanted == "plain") settings.progress = Progress::plain;
  else if (wanted == "quiet") settings.progress = Progress::quiet;
  else if (wanted == "json") settings.progress = Progress::json;
  else if (wanted == "tty" && terminal) settings.progress = Progress::live;
  else settings.progress = standard_progress(settings.format, terminal != nullptr, globals.verbosity >= kShowRequests);
  return settings;
}

void add_format_flags(Command command, OutputFlags& flags) {
  command.option("-o,--output", flags.output, "What standard output gets: text, json, jsonl or quiet")
      .one_of({"text", "json", "jsonl", "quiet"});
  command
      .option("--progress", flags.progress,
              "How the run is shown: auto (live on a terminal), tty, plain, quiet or json (events on standard "
              "error); $FAIRLEAD_PROGRESS sets the default")
      .one_of({"auto", "tty", "plain", "quiet", "json"});
}

void add_output_flags(Command command, OutputFlags& flags) {
  add_format_flags(command, flags);
  command.flag("--all", flags.all, "A line for every object, however many there are");
}

}  // namespace fairlead::cli
