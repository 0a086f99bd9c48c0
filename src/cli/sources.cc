#include "cli/sources.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "async/readable.h"
#include "cli/fetch.h"

namespace fairlead::cli {
namespace {

constexpr Duration kFetchTime = std::chrono::minutes(1);

manifest::Options options_of(RealLoop& loop, const SourceFlags& flags, Duration timeout) {
  manifest::Options options{.recursive = flags.recursive};
  Duration limit = timeout > Duration::zero() ? std::min(timeout, kFetchTime) : kFetchTime;
  options.fetch = [&loop, limit](std::string address, size_t max_bytes) {
    return fetch(loop, std::move(address), max_bytes, limit);
  };
  options.await_input = [&loop](int descriptor) { return await_readable(loop, descriptor); };
  return options;
}

int report_all(const manifest::Errors& errors) {
  for (const Error& error : errors) report(error);
  auto is_late = [](const Error& error) { return error.kind() == ErrorKind::timeout; };
  return std::ranges::all_of(errors, is_late) ? kTimedOut : kFailed;
}

}  // namespace

void add_source_flags(CLI::App& command, SourceFlags& flags) {
  flags.command = command.get_name();
  command
      .add_option("-f,--filename", flags.files,
                  "File, folder, http(s) address, or - for standard input; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("-R,--recursive", flags.recursive, "Read folders with everything below them");
}

Task<std::expected<manifest::Bundle, int>> read_sources(RealLoop& loop, const Invocation&, const SourceFlags& flags,
                                                        Reading reading) {
  if (flags.empty()) {
    report(Error(ErrorKind::invalid, "there are no manifests to read: give -f FILE")
               .next(fmt::format("fairlead {} --help", flags.command)));
    co_return std::unexpected(kUsage);
  }
  manifest::Options options = options_of(loop, flags, reading.timeout);
  auto bundle = co_await manifest::read(flags.files, std::move(options)).governed_by(reading.stop);
  if (reading.stop && reading.stop->cancelled()) {
    report(cancelled_error());
    co_return std::unexpected(kInterrupted);
  }
  if (bundle) co_return *std::move(bundle);
  co_return std::unexpected(report_all(bundle.error()));
}

}  // namespace fairlead::cli
