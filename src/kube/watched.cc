#include "kube/watched.h"

#include <algorithm>
#include <set>

#include "async/scope.h"

namespace fairlead::kube {
namespace {

constexpr Duration kQuickPoll = std::chrono::seconds(1);
constexpr Duration kSlowPoll = std::chrono::seconds(10);
// Pauses of 1, 2, 4 and 8 s: after that, forbidden stays forbidden.
constexpr Duration kLastForbiddenPause = std::chrono::seconds(8);

Watched::Place place_of(const Json& object) {
  const Json& metadata = object["metadata"];
  return {std::string(metadata["namespace"].string_or("")), std::string(metadata["name"].string_or(""))};
}

std::string_view version_of(const Json& object) { return object["metadata"]["resourceVersion"].string_or(""); }

}  // namespace

const Json* Watched::find(const std::string& ns, const std::string& name) const {
  auto found = objects_.find({ns, name});
  return found == objects_.end() ? nullptr : &found->second;
}

void Watched::take(Json object) {
  if (Json::Object* metadata = object.make("metadata").if_object(); metadata && !managed_fields_)
    metadata->erase("managedFields");
  Json& kept = objects_[place_of(object)];
  kept = std::move(object);
  changed_(kept, false);
}

void Watched::drop(const Place& place) {
  auto found = objects_.find(place);
  if (found == objects_.end()) return;
  Json last = std::move(found->second);
  objects_.erase(found);
  changed_(last, true);
}

void Watched::sync() {
  if (std::exchange(synced_, true)) return;
  changed_(Json(), false);
}

Task<Outcome<void>> Watched::follow() {
  Watch watch(client_, resource_, options_);
  watch_ = &watch;
  while (true) {
    Outcome<WatchEvent> event = co_await watch.next();
    if (!event) {
      watch_ = nullptr;
      co_return std::unexpected(event.error());
    }
    switch (event->type) {
      case WatchEvent::Type::added:
      case WatchEvent::Type::modified: take(std::move(event->object)); break;
      case WatchEvent::Type::deleted: drop(place_of(event->object)); break;
      case WatchEvent::Type::synced: sync(); break;
    }
  }
}

std::string_view Watched::only_name() const {
  constexpr std::string_view kByName = "metadata.name=";
  std::string_view selector = options_.field_selector;
  if (!selector.starts_with(kByName) || selector.contains(',')) return {};
  return selector.substr(kByName.size());
}

Task<Outcome<List>> Watched::ask() {
  if (!by_get_) {
    Outcome<List> list = co_await client_.list(resource_, {.ns = options_.ns,
                                                           .label_selector = options_.label_selector,
                                                           .field_selector = options_.field_selector,
                                                           .metadata_only = options_.metadata_only});
    by_get_ = !list && list.error().is(FaultKind::forbidden) && !only_name().empty();
    if (!by_get_) co_return list;
  }
  Outcome<Reply> reply = co_await client_.get(resource_, options_.ns, only_name());
  if (!reply && !reply.error().is(FaultKind::not_found)) co_return std::unexpected(reply.error());
  List found;
  if (reply) found.items.push_back(std::move(reply->value));
  co_return found;
}

void Watched::take_all(std::vector<Json> objects, bool& moved) {
  std::set<Place> there;
  for (Json& object : objects) {
    Place place = place_of(object);
    there.insert(place);
    const Json* known = find(place.first, place.second);
    if (known && version_of(*known) == version_of(object)) continue;
    moved = true;
    take(std::move(object));
  }
  std::vector<Place> gone;
  for (const auto& [place, object] : objects_)
    if (!there.contains(place)) gone.push_back(place);
  for (const Place& place : gone) drop(place);
  moved = moved || !gone.empty();
}

Task<Outcome<void>> Watched::poll() {
  Duration pause = kQuickPoll;
  while (true) {
    Outcome<List> list = co_await ask();
    bool moved = false;
    interruption_ = list ? std::nullopt : std::optional(list.error().error());
    if (list) {
      take_all(std::move(list->items), moved);
      sync();
    } else if (const Fault* fault = list.error().fault(); !fault || fault->disposition == Disposition::permanent) {
      if (fault || list.error().error().kind() == ErrorKind::cancelled) co_return std::unexpected(list.error());
    }
    pause = moved ? kQuickPoll : std::min(pause * 2, kSlowPoll);
    if (Result<void> slept = co_await sleep_for(client_.loop(), pause); !slept)
      co_return std::unexpected(Failure(slept.error()));
  }
}

Task<void> Watched::run() {
  for (Duration pause = kQuickPoll;; pause *= 2) {
    Outcome<void> end = co_await follow();
    bool is_forbidden = !end && end.error().is(FaultKind::forbidden);
    if (is_forbidden) end = co_await poll();
    if (end || end.error().error().kind() == ErrorKind::cancelled) co_return;
    // An API server that has just started forbids for a moment what it allows afterwards. There is nothing left to
    // fall back to for a single object, so it is asked for again.
    bool may_pass = end.error().is(FaultKind::forbidden) && !only_name().empty() && pause <= kLastForbiddenPause;
    if (!may_pass) {
      trouble_ = end.error().error();
      break;
    }
    interruption_ = end.error().error();
    by_get_ = false;
    if (!co_await sleep_for(client_.loop(), pause)) co_return;
  }
  changed_(Json(), false);
}

}  // namespace fairlead::kube
