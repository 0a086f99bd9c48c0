#include "wait/internal/kinds.h"

#include <algorithm>

#include "base/backoff.h"

namespace fairlead::wait {
namespace {

// Discovery follows a CRD within moments. Kinds of aggregated APIs come without a CRD, and are looked for now and then.
constexpr Duration kFirstPause = std::chrono::milliseconds(200);
constexpr Duration kLongestPause = std::chrono::seconds(10);

}  // namespace

Task<kube::Outcome<std::optional<object::Resource>>> Kinds::look(const Target& target, const std::string& name) {
  if (target.kind.empty()) co_return co_await run_.discovery.find_by_name(name);
  co_return co_await run_.discovery.find(target.group, target.version, target.kind);
}

void Kinds::watch_definitions() {
  if (definitions_) return;
  const object::Resource* resource = run_.discovery.known().find("apiextensions.k8s.io", "CustomResourceDefinition");
  if (!resource) return;
  definitions_ =
      std::make_unique<kube::Watched>(run_.client, *resource, kube::WatchOptions(), [this](const Json&, bool) {
        ++changes_;
        changed_.notify_all();
      });
  scope_.spawn(definitions_->run());
}

Task<Result<std::optional<object::Resource>>> Kinds::find(const Target& target, std::string name, bool wait,
                                                          TimePoint due) {
  Backoff pauses(kFirstPause, kLongestPause);
  uint64_t seen = changes_;
  while (true) {
    kube::Outcome<std::optional<object::Resource>> found = co_await look(target, name);
    if (found && *found) co_return *std::move(found);
    if (!found) {
      Error error = found.error().error();
      bool is_refused = found.error().fault() && found.error().fault()->disposition == kube::Disposition::permanent;
      if (is_refused || error.kind() == ErrorKind::cancelled) co_return fail(std::move(error));
    }
    if (!wait || run_.loop.now() >= due) co_return std::nullopt;
    watch_definitions();
    if (std::exchange(seen, changes_) != changes_) pauses.reset();
    CO_TRY(co_await wait_until(run_.loop, changed_, std::min(due, run_.loop.now() + pauses.next())));
    (void)co_await run_.discovery.refresh();
  }
}

Error Kinds::missing(const Target& target, const std::string& name) const {
  if (!target.kind.empty()) return run_.discovery.known().missing(target.group, target.version, target.kind);
  return Error(ErrorKind::not_found, fmt::format("the cluster serves no kind \"{}\"", name))
      .next("kubectl api-resources");
}

}  // namespace fairlead::wait
