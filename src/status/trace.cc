#include "status/trace.h"

#include <algorithm>

#include "status/status.h"

namespace fairlead::status {
namespace {

constexpr size_t kLongestChain = 10;

Result<std::pair<std::string, std::string>> split(std::string_view what) {
  size_t slash = what.find('/');
  bool is_whole = slash != std::string_view::npos && slash > 0 && slash + 1 < what.size() &&
                  what.find('/', slash + 1) == std::string_view::npos;
  if (is_whole) return std::pair(std::string(what.substr(0, slash)), std::string(what.substr(slash + 1)));
  return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" names no object", what))
                  .next("write it as KIND/NAME, such as deployment/web, with -n for its namespace"));
}

class Tracer {
 public:
  Tracer(kube::Client& client, kube::Discovery& discovery) : client_(client), discovery_(discovery) {}

  Task<Result<Trace>> run(std::string what, std::string ns) {
    CO_TRY_ASSIGN(auto named, split(what));
    auto resource = co_await discovery_.find_by_name(named.first);
    if (!resource) co_return fail(resource.error().error());
    if (!*resource)
      co_return fail(Error(ErrorKind::not_found, fmt::format("the cluster serves no kind {}", named.first))
                         .next("kubectl api-resources"));
    CO_TRY(co_await climb(**resource, std::move(ns), named.second));
    if (trace_.bundle) co_await find_run();
    co_return std::move(trace_);
  }

 private:
  // From the object up through its owners, to the first that belongs to a bundle.
  Task<Result<void>> climb(object::Resource resource, std::string ns, std::string name) {
    while (true) {
      auto reply = co_await client_.get(resource, resource.namespaced ? ns : "", name);
      if (!reply && trace_.chain.empty()) co_return fail(reply.error().error());
      if (!reply) {
        trace_.notes.push_back(
            fmt::format("its owner, {} {}, cannot be read: {}", resource.kind, name, reply.error().error().message()));
        co_return Result<void>();
      }
      const Json& object = reply->value;
      trace_.chain.push_back({resource.group, resource.kind, resource.namespaced ? ns : "", name});
      std::optional<Json> owner = controller_of(object);
      if (!owner || trace_.chain.size() == kLongestChain) {
        co_await find_owner(object);
        co_return Result<void>();
      }
      Result<object::ApiVersion> version = object::ApiVersion::parse((*owner)["apiVersion"].string_or(""));
      if (!version) co_return Result<void>();
      auto found =
          co_await discovery_.find(version->group, version->version, std::string((*owner)["kind"].string_or("")));
      if (!found || !*found) co_return Result<void>();
      resource = **std::move(found);
      name = (*owner)["name"].string_or("");
    }
  }

  static std::optional<Json> controller_of(const Json& object) {
    for (const Json& owner : object["metadata"]["ownerReferences"].items())
      if (owner["controller"].bool_or(false)) return owner;
    return std::nullopt;
  }

  Task<void> find_owner(const Json& object) {
    if (!inventory::part_of(object).empty()) {
      inventory::Owner owner = co_await inventory::find_owner(client_, object);
      trace_.bundle = owner.bundle;
      if (!owner.bundle) trace_.other_owner = owner.text;
    } else if (std::string_view release = object["metadata"]["annotations"]["meta.helm.sh/release-name"].string_or("");
               !release.empty()) {
      trace_.other_owner =
          fmt::format("release {} of Helm, namespace {}", release,
                      object["metadata"]["annotations"]["meta.helm.sh/release-namespace"].string_or(""));
    }
  }

  Task<void> find_run() {
    auto inventory = co_await open_bundle(client_, discovery_, trace_.bundle->name, trace_.bundle->home);
    if (!inventory) {
      trace_.notes.push_back(inventory.error().message());
      co_return;
    }
    std::vector<history::Revision> revisions = history::revisions_of(**inventory);
    if (revisions.empty()) trace_.notes.emplace_back("no runs of the bundle are kept");
    for (const history::Revision& revision : revisions) {
      auto kept = co_await history::read_revision(client_, **inventory, revision);
      if (!kept) {
        trace_.notes.push_back(kept.error().message());
        co_return;
      }
      look_at(revision, *kept);
      if (trace_.changed) co_return;
    }
  }

  void look_at(const history::Revision& revision, const std::vector<history::KeptObject>& kept) {
    auto found =
        std::ranges::find(kept, trace_.chain.back(), [](const history::KeptObject& one) { return one.object.key(); });
    if (found == kept.end()) return;
    if (!trace_.applied) {
      trace_.applied = revision;
      trace_.source = found->object.source().text();
    }
    if (found->outcome == "created" || found->outcome == "changed") trace_.changed = revision;
  }

  kube::Client& client_;
  kube::Discovery& discovery_;
  Trace trace_;
};

}  // namespace

Task<Result<Trace>> trace(kube::Client& client, kube::Discovery& discovery, std::string what, std::string ns) {
  Tracer tracer(client, discovery);
  co_return co_await tracer.run(std::move(what), std::move(ns));
}

}  // namespace fairlead::status
