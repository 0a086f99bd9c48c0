#include "mirror.h"

#include <fmt/format.h>

#include <algorithm>

#include "sandbox/core/core.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using Type = kube::WatchEvent::Type;

std::string_view name_of(Type type) {
  switch (type) {
    case Type::added: return "added";
    case Type::modified: return "modified";
    case Type::deleted: return "deleted";
    case Type::synced: return "synced";
  }
  return "unknown";
}

}  // namespace

Mirror::Mirror(World& world, const StoreLog& log, std::string name, http::Transport& transport)
    : world_(world),
      log_(log),
      name_(std::move(name)),
      client_(world.loop, transport, nullptr, client_options(world, name_)) {
  Random random = world.dice(name_, 1);
  options_.seed = 1 + random.below(1000);
  options_.longest_pause = 2s;
  options_.metadata_only = random.chance(0.25);
  switch (random.below(4)) {
    case 0: break;
    case 1: options_.ns = "default"; break;
    case 2: options_.label_selector = "team=a"; break;
    default: options_.field_selector = "metadata.name=map-1";
  }
}

void Mirror::fail(std::string what) { world_.fail(fmt::format("{} {}", name_, what)); }

bool Mirror::selects(const sandbox::Place& place, const Json& object) const {
  if (!options_.label_selector.empty()) return object["metadata"]["labels"]["team"] == Json("a");
  return options_.field_selector.empty() || place.name == "map-1";
}

bool Mirror::concerns(const sandbox::Event& event) const {
  return (event.previous && selects(event.place, *event.previous)) ||
         (event.type != sandbox::Event::Type::deleted && selects(event.place, *event.object));
}

Task<void> Mirror::watch() {
  kube::Watch watch(client_, config_maps(), options_);
  bool synced = false;
  while (true) {
    kube::Outcome<kube::WatchEvent> event = co_await watch.next();
    if (!event) {
      Error error = event.error().error();
      if (error.kind() == ErrorKind::cancelled) co_return;
      if (!event.error().is(kube::FaultKind::forbidden)) co_return fail("gave up: " + error.message());
      if (!co_await sleep_for(world_.loop, 1s)) co_return;
      continue;
    }
    if (event->type != Type::synced) {
      take(*event);
      continue;
    }
    world_.history.note(name_, [] { return "is synced"; });
    if (std::exchange(synced, true)) fail("was synced twice");
  }
}

void Mirror::take(const kube::WatchEvent& event) {
  const Json& metadata = event.object["metadata"];
  sandbox::Place place{std::string(metadata["namespace"].string_or("")), std::string(metadata["name"].string_or(""))};
  std::string uid(metadata["uid"].string_or(""));
  uint64_t version = version_of(event.object);
  std::string what = fmt::format("{} {} at version {}", name_of(event.type), place.name, version);
  world_.history.note(name_, [&] { return "sees " + what; });

  auto seen = seen_.find(place);
  if (event.type == Type::added && seen != seen_.end()) fail(fmt::format("saw {}, which it knew already", what));
  if (event.type != Type::added && seen == seen_.end()) fail(fmt::format("saw {}, which it did not know", what));
  if (event.type != Type::added && seen != seen_.end() && seen->second.uid != uid)
    fail(fmt::format("saw {}, of another object of that name", what));
  // What was deleted in a gap comes without a version.
  if (version == 0 && event.type != Type::deleted) fail(fmt::format("saw {}", what));
  if (version != 0) {
    uint64_t& newest = newest_[place];
    if (version <= newest) fail(fmt::format("saw {} after version {}", what, newest));
    newest = std::max(newest, version);
    const sandbox::Event* truth = log_.at(version);
    if (!truth || truth->place != place || (*truth->object)["metadata"]["uid"].string_or("") != uid)
      fail(fmt::format("saw {}, which never was", what));
    else if (event.type != Type::deleted && !options_.metadata_only && event.object["data"] != (*truth->object)["data"])
      fail(fmt::format("saw {}, with other data", what));
    check_order(version);
  }
  if (event.type == Type::deleted) seen_.erase(place);
  else seen_[place] = {.uid = std::move(uid), .version = version};
}

// Unless a list stands for what lies between, the stream shows every change.
void Mirror::check_order(uint64_t version) {
  auto lists = client_.counts().find("list");
  if (uint64_t sent = lists == client_.counts().end() ? 0 : lists->second; sent != lists_) {
    lists_ = sent;
    listed_to_ = world_.sandbox.core().store.version();
  }
  if (version > listed_to_) {
    uint64_t from = std::max(position_, listed_to_);
    for (const sandbox::Event& event : log_.events())
      if (event.version > from && event.version < version && concerns(event))
        fail(fmt::format("missed the change of {} at version {}", event.place.name, event.version));
  }
  position_ = std::max(position_, version);
}

void Mirror::check() {
  size_t expected = 0;
  for (const auto& [place, object] : log_.now()) {
    if (!selects(place, *object)) continue;
    ++expected;
    auto seen = seen_.find(place);
    if (seen == seen_.end()) fail(fmt::format("missed {}", place.name));
    else if (seen->second.version != version_of(*object))
      fail(fmt::format("has {} at version {} instead of {}", place.name, seen->second.version, version_of(*object)));
  }
  if (seen_.size() > expected) fail(fmt::format("has {} objects instead of {}", seen_.size(), expected));
}

}  // namespace fairlead::sim
