#include "cli/sources.h"

#include <algorithm>

#include "base/readable.h"
#include "cli/command.h"
#include "cli/fetch.h"

namespace fairlead::cli {
namespace {

constexpr Duration kFetchTime = std::chrono::minutes(1);

}  // namespace

Task<std::expected<manifest::Bundle, int>> read_sources(RealLoop& loop, const std::vector<std::string>& sources,
                                                        bool recursive, Duration timeout, CancelSource* stop) {
  manifest::Options options{.recursive = recursive};
  Duration limit = timeout > Duration::zero() ? std::min(timeout, kFetchTime) : kFetchTime;
  options.fetch = [&loop, limit](std::string address, size_t max_bytes) {
    return fetch(loop, std::move(address), max_bytes, limit);
  };
  options.await_input = [&loop](int descriptor) { return await_readable(loop, descriptor); };
  auto bundle = co_await manifest::read(sources, std::move(options)).governed_by(stop);
  if (stop && stop->cancelled()) {
    report(cancelled_error());
    co_return std::unexpected(kInterrupted);
  }
  if (bundle) co_return *std::move(bundle);
  for (const Error& error : bundle.error()) report(error);
  auto is_late = [](const Error& error) { return error.kind() == ErrorKind::timeout; };
  co_return std::unexpected(std::ranges::all_of(bundle.error(), is_late) ? kTimedOut : kFailed);
}

}  // namespace fairlead::cli
