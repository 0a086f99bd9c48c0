#include "cli/runs/timeouts.h"

#include "kube/config/timeout_text.h"

namespace fairlead::cli {

void add_timeout_flag(Command command, std::string& timeout) {
  command.option("--timeout", timeout, "Time limit for the whole run; 0 for no limit").value("DURATION").show_default();
}

void add_timeout_for_flag(Command command, std::vector<std::string>& timeouts) {
  command.option("--timeout-for", timeouts, "Time limit for each object of a kind; may be repeated")
      .value("KIND=DURATION")
      .repeatable();
}

Result<Duration> read_duration(const std::string& flag, const std::string& text) {
  if (Result<Duration> duration = kube::parse_timeout(text)) return duration;
  return fail(Error(ErrorKind::invalid, fmt::format("{}: \"{}\" is not a duration", flag, text))
                  .next("write it like 30s, 5m or 1h30m"));
}

Result<std::map<std::string, Duration, std::less<>>> read_timeouts(const std::vector<std::string>& texts,
                                                                   const std::string& example) {
  std::map<std::string, Duration, std::less<>> timeouts;
  for (const std::string& text : texts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(
          Error(ErrorKind::invalid, fmt::format("--timeout-for: \"{}\" is not KIND=DURATION", text)).next(example));
    TRY_ASSIGN(timeouts[text.substr(0, equals)], read_duration("--timeout-for " + text, text.substr(equals + 1)));
  }
  return timeouts;
}

}  // namespace fairlead::cli
