#include "cli/input/sources.h"

#include <algorithm>
#include <cstdio>

#include "async/readable.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/invocation.h"
#include "cli/input/internal/chart_target.h"
#include "cli/input/internal/fetch.h"
#include "manifest/rendered.h"
#include "render/render.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

constexpr Duration kFetchTime = std::chrono::minutes(1);

Sources sources_of(const Invocation& invocation, const SourceFlags& flags) {
  Sources sources{.files = flags.files, .recursive = flags.recursive, .kustomizations = flags.kustomizations};
  if (!flags.chart.empty())
    sources.charts.push_back({.chart = flags.chart, .release = flags.release, .flags = invocation.behind});
  if (!flags.empty() || !invocation.config) return sources;
  sources.files = invocation.config->files;
  sources.kustomizations = invocation.config->kustomizations;
  for (const config::Chart& chart : invocation.config->charts) {
    sources.charts.push_back({.chart = chart.chart, .release = chart.release, .flags = chart.flags});
    std::ranges::copy(invocation.behind, std::back_inserter(sources.charts.back().flags));
  }
  return sources;
}

manifest::Options options_of(RealLoop& loop, bool recursive, Duration timeout) {
  manifest::Options options{.recursive = recursive};
  Duration limit = timeout > Duration::zero() ? std::min(timeout, kFetchTime) : kFetchTime;
  options.fetch = [&loop, limit](std::string address, size_t max_bytes) {
    return fetch(loop, std::move(address), max_bytes, limit);
  };
  options.await_input = [&loop](int descriptor) { return await_readable(loop, descriptor); };
  return options;
}

// The mistakes of the command line that concern sources.
Result<void> check(const Sources& sources, const Invocation& invocation, const Reading& reading) {
  if (sources.files.empty() && sources.kustomizations.empty() && sources.charts.empty())
    return fail(ErrorKind::invalid, "there are no manifests to read: give -f FILE, -k FOLDER or --chart CHART");
  if (sources.charts.empty() && !invocation.behind.empty())
    return fail(ErrorKind::invalid, "{} is a flag for helm, and there is no chart: give --chart CHART",
                invocation.behind.front());
  for (const render::Chart& chart : sources.charts)
    if (chart.release.empty() && reading.name.empty())
      return fail(ErrorKind::invalid, "the chart {} needs the name of its release: give --name or --release",
                  chart.chart);
  return {};
}

void take(render::Rendered rendered, std::vector<manifest::Text>& texts) {
  for (const std::string& warning : rendered.warnings) report::print(stderr, fmt::format("warning: {}\n", warning));
  std::ranges::move(rendered.texts, std::back_inserter(texts));
}

Task<Result<std::vector<manifest::Text>>> render_all(RealLoop& loop, const Globals& globals, Sources sources,
                                                     Reading reading) {
  std::vector<manifest::Text> texts;
  for (const std::string& folder : sources.kustomizations) {
    CO_TRY_ASSIGN(render::Rendered rendered, co_await render::render_kustomization(loop, folder));
    take(std::move(rendered), texts);
  }
  if (sources.charts.empty()) co_return texts;
  CO_TRY_ASSIGN(render::Target target, co_await find_target(loop, globals, reading.name, reading.offline));
  for (render::Chart& chart : sources.charts) {
    if (chart.release.empty()) chart.release = reading.name;
    CO_TRY_ASSIGN(render::Rendered rendered, co_await render::render_chart(loop, std::move(chart), target));
    take(std::move(rendered), texts);
  }
  co_return texts;
}

int report_all(const manifest::Errors& errors) {
  for (const Error& error : errors) report(error);
  auto is_late = [](const Error& error) { return error.kind() == ErrorKind::timeout; };
  return std::ranges::all_of(errors, is_late) ? kTimedOut : kFailed;
}

}  // namespace

void add_source_flags(Command command, SourceFlags& flags) {
  flags.command = command.name();
  command
      .option("-f,--filename", flags.files,
              "File, directory, or http(s) URL with manifests, or - for standard input; may be repeated")
      .value("FILE")
      .repeatable();
  command.flag("-R,--recursive", flags.recursive, "Read directories recursively");
  command.option("-k,--kustomize", flags.kustomizations, "Folder with a kustomization; may be repeated")
      .value("FOLDER")
      .repeatable();
  Flag chart =
      command
          .option("--chart", flags.chart, "Helm chart: a folder, an archive, or a name; flags for helm come behind --")
          .value("CHART");
  command.option("--release", flags.release, "The chart's release; the same as --name unless it is given")
      .value("NAME")
      .needs(chart);
}

bool has_sources(const Invocation& invocation, const SourceFlags& flags) {
  return !flags.empty() || (invocation.config && invocation.config->has_sources());
}

bool has_chart(const Invocation& invocation, const SourceFlags& flags) {
  return !sources_of(invocation, flags).charts.empty();
}

std::string bundle_name(const std::string& name, const SourceFlags& flags) {
  return name.empty() ? flags.release : name;
}

Task<std::expected<manifest::Bundle, manifest::Errors>> read_bundle(RealLoop& loop, const Globals& globals,
                                                                    Sources sources, Reading reading) {
  manifest::Options options = options_of(loop, sources.recursive, reading.timeout);
  std::vector<std::string> files = sources.files;
  auto rendered = co_await render_all(loop, globals, std::move(sources), reading).governed_by(reading.stop);
  if (!rendered) co_return std::unexpected(manifest::Errors{rendered.error()});
  co_return co_await manifest::read_with(std::move(files), std::move(options), *std::move(rendered))
      .governed_by(reading.stop);
}

Task<std::expected<manifest::Bundle, int>> read_sources(RealLoop& loop, const Invocation& invocation,
                                                        const SourceFlags& flags, Reading reading) {
  Sources sources = sources_of(invocation, flags);
  // A command that has no --name renders the charts of fairlead.yaml under their name all the same.
  if (reading.name.empty() && flags.empty() && invocation.config) reading.name = invocation.config->name;
  if (Result<void> checked = check(sources, invocation, reading); !checked) {
    report(std::move(checked).error().next(fmt::format("fairlead {} --help", flags.command)));
    co_return std::unexpected(kUsage);
  }
  auto bundle = co_await read_bundle(loop, invocation.globals, std::move(sources), reading);
  if (reading.stop && reading.stop->cancelled()) {
    report(cancelled_error());
    co_return std::unexpected(kInterrupted);
  }
  if (bundle) co_return *std::move(bundle);
  co_return std::unexpected(report_all(bundle.error()));
}

}  // namespace fairlead::cli
