#include "render/render.h"

#include <filesystem>
#include <fstream>

#include "render/internal/helm.h"
#include "render/program.h"

namespace fairlead::render {
namespace {

namespace fs = std::filesystem;

constexpr HelmVersion kOldest{.major = 3, .minor = 0};

Error no_helm(Error cause) {
  if (cause.kind() != ErrorKind::not_found) return cause;
  return Error(ErrorKind::not_found, "--chart needs helm, and helm is not in PATH")
      .next("install Helm 3.13 or newer: https://helm.sh/docs/intro/install/");
}

Task<Result<HelmVersion>> find_version(RealLoop& loop) {
  auto result = co_await run(loop, {.argv = {"helm", "version", "--short"}});
  if (!result) co_return fail(no_helm(result.error()));
  if (!result->ok()) co_return fail(failed("helm does not tell its version", *result));
  std::optional<HelmVersion> version = read_version(result->output);
  if (!version)
    co_return fail(Error(ErrorKind::protocol, "helm does not tell its version")
                       .because("`helm version --short` printed no version")
                       .next("helm version --short"));
  if (*version < kOldest)
    co_return fail(Error(ErrorKind::invalid, fmt::format("Helm {}.{} is too old", version->major, version->minor))
                       .next("install Helm 3.13 or newer: https://helm.sh/docs/intro/install/"));
  co_return *version;
}

// True if a template of the chart may call `lookup`. A chart that is not a folder, or has archives in it, may.
bool may_look_up(const std::string& chart) {
  std::error_code error;
  if (!fs::is_directory(chart, error)) return true;
  for (fs::recursive_directory_iterator it(chart, error); !error && it != fs::end(it); it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    if (it->path().extension() == ".tgz") return true;
    if (it->path().string().find("/templates/") == std::string::npos) continue;
    std::ifstream file(it->path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.contains("lookup")) return true;
  }
  return bool(error);
}

Rendered rendered_from(const ProcessResult& result, const Chart& chart) {
  return {.texts = split_output(result.output, chart.chart), .warnings = lines_of(result.errors)};
}

std::string lookup_warning(const Chart& chart) {
  return fmt::format(
      "{}: `lookup` finds nothing in this run, since Helm 4 cannot use the cluster before it has the kinds of the "
      "chart",
      chart.chart);
}

Task<Result<ProcessResult>> run_template(RealLoop& loop, const Chart& chart, const Target& target, HelmVersion version,
                                         Asking asking) {
  return run(loop, {.argv = template_command(chart, target, version, asking), .environment = target.environment});
}

}  // namespace

Task<Result<Rendered>> render_chart(RealLoop& loop, Chart chart, Target target) {
  CO_TRY_ASSIGN(HelmVersion version, co_await find_version(loop));
  bool asks = target.has_cluster() && can_look_up(version) && !says_dry_run(chart.flags);
  CO_TRY_ASSIGN(ProcessResult result,
                co_await run_template(loop, chart, target, version, asks ? Asking::yes : Asking::no));
  bool is_blocked = asks && !result.ok() && cluster_is_in_the_way(result.errors);
  if (is_blocked) {
    CO_TRY_ASSIGN(result, co_await run_template(loop, chart, target, version, Asking::no));
  }
  if (!result.ok()) co_return fail(failed(fmt::format("helm cannot render the chart {}", chart.chart), result));
  Rendered rendered = rendered_from(result, chart);
  if (is_blocked && may_look_up(chart.chart)) rendered.warnings.push_back(lookup_warning(chart));
  co_return rendered;
}

Task<Result<Rendered>> render_kustomization(RealLoop& loop, std::string folder) {
  std::string program = "kubectl kustomize";
  auto result = co_await run(loop, {.argv = {"kubectl", "kustomize", "--", folder}});
  if (!result && result.error().kind() == ErrorKind::not_found) {
    program = "kustomize build";
    result = co_await run(loop, {.argv = {"kustomize", "build", "--", folder}});
  }
  if (!result && result.error().kind() == ErrorKind::not_found)
    co_return fail(Error(ErrorKind::not_found, "-k needs kubectl or kustomize, and neither is in PATH")
                       .next("install one of them: https://kubernetes.io/docs/tasks/tools/ or "
                             "https://kubectl.docs.kubernetes.io/installation/kustomize/"));
  if (!result) co_return fail(result.error());
  if (!result->ok()) co_return fail(failed(fmt::format("{} cannot build {}", program, folder), *result));
  co_return Rendered{.texts = {{.origin = fmt::format("kustomization {}", folder), .content = result->output}},
                     .warnings = lines_of(result->errors)};
}

}  // namespace fairlead::render
