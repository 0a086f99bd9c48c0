#include "cli/sources.h"

#include "base/readable.h"
#include "cli/command.h"
#include "cli/fetch.h"

namespace fairlead::cli {

Task<std::optional<manifest::Bundle>> read_sources(RealLoop& loop, const std::vector<std::string>& sources,
                                                   bool recursive, CancelSource* stop) {
  manifest::Options options{.recursive = recursive};
  options.fetch = [&loop](std::string address, size_t max_bytes) { return fetch(loop, std::move(address), max_bytes); };
  options.await_input = [&loop](int descriptor) { return await_readable(loop, descriptor); };
  auto bundle = co_await manifest::read(sources, std::move(options)).governed_by(stop);
  if (stop && stop->cancelled()) {
    report(cancelled_error());
    co_return std::nullopt;
  }
  if (bundle) co_return *std::move(bundle);
  for (const Error& error : bundle.error()) report(error);
  co_return std::nullopt;
}

}  // namespace fairlead::cli
