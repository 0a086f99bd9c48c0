#include "logs/bundle_logs.h"

#include <algorithm>
#include <cctype>

#include "async/scope.h"
#include "inventory/inventory.h"

namespace fairlead::logs {
namespace {

// Each followed container is a stream of its own.
constexpr size_t kMostFollowed = 100;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return result;
}

Error no_bundle(const BundleOptions& options) {
  return Error(ErrorKind::not_found, fmt::format("there is no bundle {} in namespace {}", options.name, options.home))
      .next("fairlead logs NAME -n NAMESPACE; fairlead list -A shows all bundles");
}

Error no_pods(const BundleOptions& options) {
  std::string what = options.only.empty() ? fmt::format("no object of bundle {} has pods", options.name)
                                          : fmt::format("no object of bundle {} that has pods was named", options.name);
  return Error(ErrorKind::not_found, std::move(what));
}

Task<Result<std::vector<Source>>> sources_in(kube::Client& client, kube::Discovery& discovery,
                                             const BundleOptions& options) {
  kube::Outcome<std::unique_ptr<inventory::Inventory>> opened =
      co_await inventory::Inventory::open(client, discovery, {.name = options.name, .ns = options.home});
  if (!opened) co_return fail(opened.error().error());
  if (!(*opened)->exists()) co_return fail(no_bundle(options));
  kube::Outcome<inventory::Members> members = co_await (*opened)->members(true);
  if (!members) co_return fail(members.error().error());
  std::vector<Source> sources;
  bool has_workloads = false;
  for (const inventory::Member& member : members->found) {
    if (!has_pods(member.key) || !is_chosen(member.key, options.only)) continue;
    has_workloads = true;
    kube::Outcome<std::vector<Json>> pods = co_await pods_of(client, member.object);
    if (!pods) co_return fail(pods.error().error());
    for (const Json& pod : *pods)
      for (Source& source : sources_of(pod)) sources.push_back(std::move(source));
  }
  if (!has_workloads) co_return fail(no_pods(options));
  co_return sources;
}

Task<void> read_one(kube::Client& client, Source source, const BundleOptions& options, const Sink& sink,
                    std::optional<Error>& problem) {
  auto filtered = [&](const Source& from, std::string_view line) {
    if (options.filter.matches(line)) sink(from, line);
  };
  kube::Outcome<void> read = co_await read_lines(client, std::move(source), options.follow, options.tail, filtered);
  if (!read && !problem) problem = read.error().error();
}

}  // namespace

bool is_chosen(const object::Key& key, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  return std::ranges::any_of(only, [&](const std::string& text) {
    size_t slash = text.find('/');
    bool has_kind = lower(text.substr(0, slash)) == lower(key.kind);
    return has_kind && (slash == std::string::npos || text.substr(slash + 1) == key.name);
  });
}

Task<Result<void>> read_bundle(kube::Client& client, kube::Discovery& discovery, BundleOptions options, Sink sink) {
  CO_TRY_ASSIGN(std::vector<Source> sources, co_await sources_in(client, discovery, options));
  if (options.follow && sources.size() > kMostFollowed)
    co_return fail(Error(ErrorKind::limit, fmt::format("bundle {} has {} containers; at most {} can be followed",
                                                       options.name, sources.size(), kMostFollowed))
                       .next(fmt::format("fairlead logs {} -f KIND/NAME follows those of one object", options.name)));
  std::vector<std::optional<Error>> problems(sources.size());
  if (options.follow) {
    Scope scope(client.loop(), co_await current_cancel());
    for (size_t i = 0; i < sources.size(); ++i) scope.spawn(read_one(client, sources[i], options, sink, problems[i]));
    co_await scope.join();
  } else {
    for (size_t i = 0; i < sources.size(); ++i) co_await read_one(client, sources[i], options, sink, problems[i]);
  }
  bool have_all_failed =
      !problems.empty() && std::ranges::all_of(problems, [](const auto& one) { return one.has_value(); });
  if (have_all_failed) co_return fail(*problems.front());
  co_return Result<void>();
}

}  // namespace fairlead::logs
