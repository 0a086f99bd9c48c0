#include "render/internal/helm.h"

#include <algorithm>
#include <charconv>

namespace fairlead::render {
namespace {

// From here on, `helm template` has --dry-run=server.
constexpr HelmVersion kLooksUp{.major = 3, .minor = 13};
constexpr std::string_view kSource = "# Source: ";

std::optional<int> read_number(std::string_view& text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return number;
}

std::string_view line_at(std::string_view text, size_t at) {
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

size_t next_line(std::string_view text, size_t at) {
  size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// "mothership/templates/ship.yaml" -> "chart mothership, templates/ship.yaml"
std::string origin_of(std::string_view source) {
  size_t slash = source.find('/');
  if (slash == std::string_view::npos) return fmt::format("chart {}", source);
  return fmt::format("chart {}, {}", source.substr(0, slash), source.substr(slash + 1));
}

}  // namespace

std::optional<HelmVersion> read_version(std::string_view output) {
  for (size_t at = output.find('v'); at != std::string_view::npos; at = output.find('v', at + 1)) {
    std::string_view rest = output.substr(at + 1);
    std::optional<int> major = read_number(rest);
    if (!major || !rest.starts_with('.')) continue;
    rest.remove_prefix(1);
    if (std::optional<int> minor = read_number(rest)) return HelmVersion{.major = *major, .minor = *minor};
  }
  return std::nullopt;
}

bool can_look_up(HelmVersion version) { return version >= kLooksUp; }

bool says_dry_run(const std::vector<std::string>& flags) {
  return std::ranges::any_of(flags, [](std::string_view flag) {
    return flag == "--dry-run" || flag.starts_with("--dry-run=") || flag.starts_with("--validate");
  });
}

std::vector<std::string> template_command(const Chart& chart, const Target& target, HelmVersion version,
                                          Asking asking) {
  std::vector<std::string> words = {"helm", "template", "--include-crds", "--namespace", target.ns};
  if (target.is_upgrade) words.emplace_back("--is-upgrade");
  if (target.has_cluster()) words.insert(words.end(), target.connection.begin(), target.connection.end());
  // When Helm 4 contacts the cluster, it learns from it what is served. Helm 3 never does in a template.
  bool is_told = target.has_cluster() && (asking == Asking::no || version.major < 4);
  if (asking == Asking::yes) words.emplace_back("--dry-run=server");
  // Helm 4 would refuse to render an installation of which objects exist: a run that was killed has left some. Nothing
  // is taken over in a dry run.
  if (asking == Asking::yes && version.major >= 4) words.emplace_back("--take-ownership");
  if (is_told) {
    words.insert(words.end(), {"--kube-version", target.kube_version});
    for (const std::string& served : target.api_versions) words.insert(words.end(), {"--api-versions", served});
  }
  words.insert(words.end(), chart.flags.begin(), chart.flags.end());
  // Neither name can be taken for a flag.
  words.insert(words.end(), {"--", chart.release, chart.chart});
  return words;
}

bool cluster_is_in_the_way(std::string_view errors) {
  return errors.contains("unable to build kubernetes objects") || errors.contains("nable to continue with install");
}

std::vector<manifest::Text> split_output(std::string_view output, std::string_view chart) {
  std::vector<manifest::Text> texts;
  auto add = [&](std::string_view text, std::string_view source) {
    if (text.find_first_not_of(" \r\n-") == std::string_view::npos) return;
    std::string origin = source.empty() ? fmt::format("chart {}", chart) : origin_of(source);
    texts.push_back({.origin = std::move(origin), .content = std::string(text)});
  };
  size_t begin = 0;
  std::string_view source;
  for (size_t at = 0; at < output.size(); at = next_line(output, at)) {
    if (line_at(output, at) != "---") continue;
    size_t comment = next_line(output, at);
    std::string_view line = line_at(output, comment);
    if (!line.starts_with(kSource)) continue;
    add(output.substr(begin, at - begin), source);
    source = line.substr(kSource.size());
    // The comment itself says nothing more, and the lines of the text count from what is below it.
    begin = next_line(output, comment);
  }
  add(output.substr(begin), source);
  return texts;
}

}  // namespace fairlead::render
