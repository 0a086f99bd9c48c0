#include "webhook/controller/controller.h"

#include <map>
#include <memory>
#include <set>

#include "async/scope.h"
#include "async/signal.h"
#include "kube/faults/another_object.h"
#include "kube/watched.h"
#include "webhook/controller/finding.h"

namespace fairlead::webhook {
namespace {

using Place = kube::Watched::Place;

// Writes for one generation of an object, after which somebody else must be removing the condition.
constexpr int kMostWrites = 5;

const object::Resource& events() {
  static const object::Resource kEvents{
      .group = "", .version = "v1", .kind = "Event", .plural = "events", .namespaced = true};
  return kEvents;
}

// The objects of one resource.
class Kind {
 public:
  Kind(kube::Client& client, Registration registration, const ControllerOptions& options)
      : client_(client),
        registration_(std::move(registration)),
        options_(options),
        resource_{.group = registration_.kind.group,
                  .version = registration_.kind.version,
                  .kind = registration_.kind.kind,
                  .plural = registration_.resource,
                  .namespaced = true},
        wake_(client.loop()) {}

  Task<void> run() {
    Scope scope(client_.loop(), co_await current_cancel());
    scope.spawn(follow());
    scope.spawn(work());
    scope.spawn(try_again());
    co_await scope.join();
  }

 private:
  struct Writes {
    Json generation;
    int count = 0;
  };

  // Watches, also a resource that does not exist yet.
  Task<void> follow() {
    while (true) {
      watched_ = std::make_unique<kube::Watched>(client_, resource_, kube::WatchOptions{.ns = options_.ns},
                                                 [this](const Json& object, bool gone) { take(object, gone); });
      co_await watched_->run();
      if (const std::optional<Error>& trouble = watched_->trouble(); trouble && told_ != trouble->message()) {
        told_ = trouble->message();
        tell(fmt::format("{} cannot be watched: {}", resource_.name_with_group(), told_));
      }
      if (!co_await sleep_for(client_.loop(), options_.retry)) co_return;
    }
  }

  void take(const Json& object, bool gone) {
    if (object.is_null()) return;
    const Json& metadata = object["metadata"];
    Place place(metadata["namespace"].string_or(""), metadata["name"].string_or(""));
    if (gone) {
      writes_.erase(place);
      return;
    }
    waiting_.insert(std::move(place));
    wake_.notify_all();
  }

  Task<void> work() {
    while (true) {
      while (!waiting_.empty()) {
        Place place = waiting_.extract(waiting_.begin()).value();
        co_await settle(place);
        if (CancelSource* cancel = co_await current_cancel(); cancel && cancel->cancelled()) co_return;
      }
      if (!co_await wake_.wait()) co_return;
    }
  }

  Task<void> try_again() {
    while (co_await sleep_for(client_.loop(), options_.retry)) {
      if (failed_.empty()) continue;
      waiting_.merge(failed_);
      failed_.clear();
      wake_.notify_all();
    }
  }

  // Writes what there is to say about the object at this place.
  Task<void> settle(Place place) {
    const Json* stored = watched_->find(place.first, place.second);
    if (!stored) co_return;
    const Json object = *stored;
    std::optional<Finding> finding = find(registration_, object, client_.loop().clock().wall_now());
    if (!finding || !may_write(place, object["metadata"]["generation"])) co_return;
    Json status = Json::Object{
        {"apiVersion", resource_.api_version()},
        {"kind", resource_.kind},
        // The object that was looked at, and not one that has taken its place.
        {"metadata",
         Json::Object{{"name", place.second}, {"namespace", place.first}, {"uid", object["metadata"]["uid"]}}},
        {"status", Json::Object{{"conditions", Json::Array{finding->condition}}}}};
    kube::ApplyOptions apply;
    apply.field_manager = kControllerName;
    apply.subresource = "status";
    kube::Outcome<kube::Reply> written = co_await client_.apply(resource_, place.first, place.second, status, apply);
    if (!written) {
      report_failure(place, written.error());
      co_return;
    }
    ++writes_[place].count;
    tell(finding->line);
    if (!finding->event.is_null()) co_await write_event(place, finding->event);
  }

  bool may_write(const Place& place, const Json& generation) {
    Writes& writes = writes_[place];
    if (writes.generation != generation) writes = {.generation = generation};
    if (writes.count < kMostWrites) return true;
    if (writes.count++ == kMostWrites)
      tell(fmt::format(
          "{} {}/{}: somebody removes the condition Valid; it is not written again until the object changes",
          resource_.kind, place.first, place.second));
    return false;
  }

  // An object that was deleted or replaced needs nothing. A condition that is somebody else's is left alone.
  void report_failure(const Place& place, const kube::Failure& failure) {
    if (failure.is(kube::FaultKind::not_found)) return;
    if (failure.fault() && kube::is_about_another_object(*failure.fault())) return;
    if (failure.error().kind() == ErrorKind::cancelled) return;
    tell(fmt::format("{} {}/{}: the condition Valid cannot be written: {}", resource_.kind, place.first, place.second,
                     failure.error().message()));
    bool is_taken = failure.is(kube::FaultKind::field_conflict) || failure.is(kube::FaultKind::conflict);
    if (!is_taken) failed_.insert(place);
  }

  Task<void> write_event(Place place, Json event) {
    kube::Outcome<kube::Reply> written = co_await client_.create(events(), place.first, event);
    if (!written && written.error().error().kind() != ErrorKind::cancelled)
      tell(fmt::format("{} {}/{}: the Event cannot be written: {}", resource_.kind, place.first, place.second,
                       written.error().error().message()));
  }

  void tell(const std::string& line) const {
    if (options_.tell) options_.tell(line);
  }

  kube::Client& client_;
  Registration registration_;
  const ControllerOptions& options_;
  object::Resource resource_;
  std::unique_ptr<kube::Watched> watched_;
  std::set<Place> waiting_;
  std::set<Place> failed_;
  std::map<Place, Writes> writes_;
  std::string told_;
  Signal wake_;
};

}  // namespace

Task<void> control(kube::Client& client, PolicySet set, ControllerOptions options) {
  std::vector<std::unique_ptr<Kind>> kinds;
  for (const Registration& registration : set.registrations)
    if (registration.validates) kinds.push_back(std::make_unique<Kind>(client, registration, options));
  Scope scope(client.loop(), co_await current_cancel());
  for (const std::unique_ptr<Kind>& kind : kinds) scope.spawn(kind->run());
  co_await scope.join();
}

}  // namespace fairlead::webhook
