#include "kube/discovery.h"

#include "async/scope.h"

namespace fairlead::kube {
namespace {

constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
constexpr size_t kMaxGroupVersions = 5'000;
constexpr size_t kGroupsAtOnce = 16;

}  // namespace

Discovery::Discovery(Client& client, Options options)
    : client_(client), options_(options), read_ended_(client.loop()) {}

Task<Outcome<const Discovered*>> Discovery::all() {
  if (!read_at_) {
    Outcome<void> read = co_await refresh();
    if (!read) co_return std::unexpected(std::move(read).error());
  }
  co_return &known_;
}

template <class Look>
Task<Outcome<std::optional<object::Resource>>> Discovery::look(Look look) {
  if (read_at_)
    if (const object::Resource* resource = look(known_)) co_return *resource;
  bool again = !read_at_ || client_.loop().now() >= *read_at_ + options_.pause;
  if (again || reading_) {
    Outcome<void> read = co_await refresh();
    if (!read) co_return std::unexpected(std::move(read).error());
  }
  const object::Resource* resource = look(known_);
  if (!resource) co_return std::nullopt;
  co_return *resource;
}

Task<Outcome<std::optional<object::Resource>>> Discovery::find(std::string group, std::string version,
                                                               std::string kind) {
  co_return co_await look([&](const Discovered& known) { return known.find(group, version, kind); });
}

Task<Outcome<std::optional<object::Resource>>> Discovery::find_by_name(std::string name) {
  co_return co_await look([&](const Discovered& known) { return known.find_by_name(name); });
}

Task<Outcome<std::optional<object::Resource>>> Discovery::find_at_source(std::string group, std::string version,
                                                                         std::string kind) {
  std::string place = group + "/" + version;
  if (!known_.find(group, version, kind)) {
    if (asking_.insert(place).second) {
      Discovered found;
      co_await read_group(group, version, found);
      asking_.erase(place);
      // What it is not among is asked for again: nothing is learned from that answer.
      bool is_there = found.problems().empty() && found.find(group, version, kind) != nullptr;
      if (is_there && !known_.find(group, version, kind)) known_.merge(std::move(found));
      read_ended_.notify_all();
    } else {
      while (asking_.contains(place)) CO_TRY(co_await read_ended_.wait());
    }
  }
  const object::Resource* resource = known_.find(group, version, kind);
  if (!resource) co_return std::nullopt;
  co_return *resource;
}

Task<Outcome<void>> Discovery::refresh() {
  while (reading_) {
    uint64_t round = rounds_;
    CO_TRY(co_await read_ended_.wait());
    // No further round: whoever was reading was cancelled, and it is our turn.
    if (rounds_ == round) continue;
    if (last_failure_) co_return std::unexpected(*last_failure_);
    co_return Outcome<void>();
  }
  reading_ = true;
  Outcome<void> result = co_await read_all();
  reading_ = false;
  bool cancelled = !result && !result.error().fault() && result.error().error().kind() == ErrorKind::cancelled;
  if (!cancelled) {
    ++rounds_;
    last_failure_ = result ? std::nullopt : std::optional(result.error());
  }
  read_ended_.notify_all();
  co_return result;
}

Task<Outcome<void>> Discovery::read_all() {
  Discovered found;
  for (std::string path : {"/api", "/apis"}) {
    Outcome<void> read = co_await read_branch(path, found);
    if (!read) co_return read;
  }
  known_ = std::move(found);
  read_at_ = client_.loop().now();
  co_return Outcome<void>();
}

Task<Outcome<void>> Discovery::read_branch(std::string path, Discovered& found) {
  Outcome<Reply> reply = co_await client_.request({.target = path, .accept = std::string(kAggregated)});
  if (!reply) co_return std::unexpected(std::move(reply).error());
  const Json& document = reply->value;
  if (document["kind"].string_or("") == "APIGroupDiscoveryList") {
    found.add_aggregated(document);
    co_return Outcome<void>();
  }

  std::vector<std::pair<std::string, std::string>> versions;
  for (const Json& version : document["versions"].items()) versions.emplace_back("", version.string_or(""));
  for (const Json& group : document["groups"].items()) {
    std::string preferred(group["preferredVersion"]["version"].string_or(""));
    std::string name(group["name"].string_or(""));
    if (!preferred.empty()) versions.emplace_back(name, preferred);
    for (const Json& version : group["versions"].items())
      if (version["version"].string_or("") != preferred) versions.emplace_back(name, version["version"].string_or(""));
  }
  if (versions.size() > kMaxGroupVersions)
    co_return std::unexpected(
        Failure(Error(ErrorKind::limit, fmt::format("{} lists more than {} versions", path, kMaxGroupVersions))));

  // Side by side, and put together in order.
  std::vector<Discovered> parts(versions.size());
  Scope scope(client_.loop(), co_await current_cancel());
  size_t next = 0;
  auto work = [&]() -> Task<void> {
    while (next < versions.size() && !scope.cancelled()) {
      size_t i = next++;
      co_await read_group(versions[i].first, versions[i].second, parts[i]);
    }
  };
  for (size_t i = 0; i < std::min(kGroupsAtOnce, versions.size()); ++i) scope.spawn(work());
  co_await scope.join();
  if (scope.cancelled()) co_return std::unexpected(Failure(cancelled_error()));
  for (Discovered& part : parts) found.merge(std::move(part));
  co_return Outcome<void>();
}

Task<void> Discovery::read_group(std::string group, std::string version, Discovered& found) {
  object::Resource there{.group = group, .version = version};
  Outcome<Reply> reply = co_await client_.request({.target = there.api_path()});
  if (reply) {
    found.add_resource_list(group, version, reply->value);
  } else {
    found.add_problem({.group = group, .version = version, .why = reply.error().error().message()});
  }
}

}  // namespace fairlead::kube
