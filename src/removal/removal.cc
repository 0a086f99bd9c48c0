#include "removal/removal.h"

#include <algorithm>

#include "inventory/inventory.h"
#include "manifest/secrets.h"
#include "object/placement.h"
#include "plan/stopping.h"
#include "readiness/sweeper.h"
#include "removal/internal/ending.h"
#include "removal/internal/engine.h"
#include "removal/internal/journal_details.h"
#include "removal/internal/members.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;

TimePoint expires_after(Options& options, TimePoint begun) {
  if (options.timeout > Duration::zero()) options.expires = begun + options.timeout;
  return options.expires;
}

// Begins and ends a run: writes the first and last event, measures the run, checks whether the cluster answers, and
// removes the shadows that killed runs left behind. close() must be called.
class Frame {
 public:
  // Sets `options.expires` if there is a time limit.
  Frame(kube::Client& client, kube::Discovery& discovery, Options& options, journal::Journal& journal,
        CancelSource* stop)
      : client_(client),
        discovery_(discovery),
        options_(options),
        journal_(journal),
        stop_(stop),
        begun_(client.loop().now()),
        requests_(requests_of(client)),
        limit_(client, expires_after(options, begun_), stop, plan::kClosingTime),
        prover_(client, {.run = options.run, .known_dead = options.run_known_dead}),
        sweeper_(client.loop(), prover_) {}

  // Returns nothing if the cluster answers; otherwise how the run ends.
  Task<std::optional<Ending>> reach(std::string bundle = {}) {
    journal_.add({.kind = EventKind::started,
                  .details = Json(Json::Object{
                      {"command", "delete"}, {"time", journal_.time_text()}, {"bundle", std::move(bundle)}})});
    kube::Outcome<const kube::Discovered*> known = std::unexpected(kube::Failure(cancelled_error()));
    if (std::optional<Ending> late = co_await in_time(discovery_.all(), known)) co_return late;
    if (known) {
      if (!options_.run.empty() && options_.dry_run == DryRun::none) sweeper_.begin();
      co_return std::nullopt;
    }
    Error why = known.error().error();
    if (known.error().fault() || why.kind() != ErrorKind::unavailable) co_return failed_with({why});
    if (options_.cluster_gone) {
      journal_.add(
          {.kind = EventKind::warning,
           .text = "the cluster cannot be reached and counts as deleted with everything in it: " + why.message()});
      co_return Ending();
    }
    co_return failed_with({Error(ErrorKind::unavailable, "the cluster cannot be reached; nothing was deleted")
                               .because(std::move(why))
                               .next("fairlead delete … --cluster-gone, if the cluster no longer exists")});
  }

  // Stores the result of the task in `outcome`. Returns how the run ends if it was stopped or its time was over before.
  template <class T>
  Task<std::optional<Ending>> in_time(Task<kube::Outcome<T>> task, kube::Outcome<T>& outcome) {
    CancelSource cancel(stop_);
    CancelAt timer(client_.loop(), options_.expires, cancel);
    outcome = co_await std::move(task).governed_by(&cancel);
    if (outcome) co_return std::nullopt;
    if (stop_ && stop_->cancelled()) co_return Ending{.how = Ending::How::interrupted};
    if (timer.fired()) co_return late(outcome.error().error(), options_);
    co_return std::nullopt;
  }

  Task<Ending> close(Ending ending) {
    co_await sweeper_.end(stop_ && stop_->cancelled());
    ending.took = client_.loop().now() - begun_;
    ending.requests = requests_of(client_) - requests_;
    const Secrets& secrets = journal_.secrets();
    for (Cause& cause : ending.causes) conceal(secrets, cause);
    for (ObjectEnding& object : ending.objects)
      if (object.error) object.error = secrets.without(*object.error);
    journal_.add({.kind = EventKind::ended,
                  .state = std::string(name_of(ending.how)),
                  .details = journal_.is_detailed() ? ending_details(ending, secrets) : Json()});
    co_return ending;
  }

 private:
  kube::Client& client_;
  kube::Discovery& discovery_;
  const Options& options_;
  journal::Journal& journal_;
  CancelSource* stop_;
  TimePoint begun_;
  uint64_t requests_;
  kube::TimeLimit limit_;
  readiness::Prover prover_;
  readiness::Sweeper sweeper_;
};

void add_once(std::vector<Target>& targets, Target target) {
  auto is_it = [&](const Target& other) { return other.key == target.key; };
  if (std::ranges::none_of(targets, is_it)) targets.push_back(std::move(target));
}

}  // namespace

std::string_view name_of(ObjectEnding::State state) {
  using State = ObjectEnding::State;
  switch (state) {
    case State::gone: return "gone";
    case State::absent: return "absent";
    case State::leaving: return "leaving";
    case State::would_go: return "would go";
    case State::kept: return "kept";
    case State::refused: return "refused";
    case State::remains: return "still there";
    case State::unknown: return "unknown";
    case State::blocked: return "blocked";
    case State::not_begun: return "not begun";
  }
  return "";
}

Task<Ending> take_out(kube::Client& client, kube::Discovery& discovery, std::vector<Target> targets, Options options,
                      journal::Journal& journal, CancelSource* stop) {
  if (options.timeout > Duration::zero() && options.expires == TimePoint::max())
    options.expires = client.loop().now() + options.timeout;
  Run run(client.loop(), journal, std::move(options), std::move(targets));
  co_return co_await execute(client, discovery, run, stop);
}

Task<Ending> take_out_manifests(kube::Client& client, kube::Discovery& discovery, const manifest::Bundle& bundle,
                                Options options, journal::Journal& journal, CancelSource* stop) {
  journal.hide(manifest::secrets_of(bundle));
  Frame frame(client, discovery, options, journal, stop);
  if (auto end = co_await frame.reach()) co_return co_await frame.close(*std::move(end));
  std::vector<Target> targets;
  std::vector<Error> errors;
  object::DefaultNamespace home{.name = options.default_namespace, .is_chosen = options.namespace_is_chosen};
  for (const object::Object& object : bundle.objects) {
    Target target{.key = object.key(), .version = object.version(), .source = object.source().text(), .uid = {}};
    const object::Resource* resource = discovery.known().find(object.group(), object.kind());
    bool namespaced = resource ? resource->namespaced : !target.key.ns.empty();
    if (auto error = place(target.key, namespaced, home)) errors.push_back(std::move(*error).at(target.source));
    add_once(targets, std::move(target));
  }
  if (!errors.empty()) co_return co_await frame.close(failed_with(std::move(errors)));
  co_return co_await frame.close(co_await take_out(client, discovery, std::move(targets), options, journal, stop));
}

Task<Ending> take_out_named(kube::Client& client, kube::Discovery& discovery, std::vector<std::string> names,
                            Options options, journal::Journal& journal, CancelSource* stop) {
  Frame frame(client, discovery, options, journal, stop);
  if (auto end = co_await frame.reach()) co_return co_await frame.close(*std::move(end));
  std::vector<Target> targets;
  std::vector<Error> errors;
  // Some commands of kubectl accept "KIND NAME".
  if (names.size() > 1 && names[0].find('/') == std::string::npos)
    co_return co_await frame.close(failed_with({Error(ErrorKind::invalid, fmt::format("{} is not KIND/NAME", names[0]))
                                                    .next(fmt::format("fairlead delete {}/{}", names[0], names[1]))}));
  for (const std::string& text : names) {
    size_t slash = text.find('/');
    std::string kind = text.substr(0, slash);
    std::string name = slash == std::string::npos ? "" : text.substr(slash + 1);
    if (kind.empty() || name.empty() || name.find('/') != std::string::npos) {
      errors.push_back(Error(ErrorKind::invalid, fmt::format("{} is not KIND/NAME", text))
                           .next("fairlead delete configmap/settings"));
      continue;
    }
    const object::Resource* resource = discovery.known().find_by_name(kind);
    if (!resource) {
      errors.push_back(Error(ErrorKind::not_found, fmt::format("the cluster serves no kind {}", kind))
                           .next("kubectl api-resources"));
      continue;
    }
    object::Key key{.group = resource->group, .kind = resource->kind, .ns = "", .name = name};
    (void)place(key, resource->namespaced, {.name = options.default_namespace});
    add_once(targets, {.key = std::move(key), .version = resource->version, .source = {}, .uid = {}});
  }
  if (!errors.empty()) co_return co_await frame.close(failed_with(std::move(errors)));
  Ending ending = co_await take_out(client, discovery, std::move(targets), options, journal, stop);
  // If objects were named one by one, a name that does not exist is an error.
  for (ObjectEnding& object : ending.objects)
    if (object.state == ObjectEnding::State::absent) {
      object.error = Error(ErrorKind::not_found, fmt::format("{} not found", object.key.text()));
      ending.causes.push_back({.error = *object.error, .blocks = {}});
      if (ending.how == Ending::How::done) ending.how = Ending::How::failed;
    }
  co_return co_await frame.close(std::move(ending));
}

Task<Ending> take_out_bundle(kube::Client& client, kube::Discovery& discovery, std::string name, Options options,
                             journal::Journal& journal, CancelSource* stop) {
  Frame frame(client, discovery, options, journal, stop);
  if (auto end = co_await frame.reach(name)) co_return co_await frame.close(*std::move(end));
  inventory::Options wanted{.name = name,
                            .ns = options.default_namespace,
                            .holder = options.holder,
                            .origin = options.origin,
                            .known_dead = options.known_dead};
  kube::Outcome<std::unique_ptr<inventory::Inventory>> opened = std::unexpected(kube::Failure(cancelled_error()));
  if (auto end = co_await frame.in_time(inventory::Inventory::open(client, discovery, std::move(wanted)), opened))
    co_return co_await frame.close(*std::move(end));
  if (!opened) co_return co_await frame.close(failed_with({opened.error().error()}));
  if (!(*opened)->exists()) {
    // As with manifests, it is no error if the objects do not exist.
    journal.add({.kind = EventKind::note,
                 .state = "absent",
                 .text = fmt::format(
                     "there is no bundle {} in namespace {}: nothing to delete (fairlead list -A shows all bundles)",
                     name, options.default_namespace)});
    co_return co_await frame.close(Ending());
  }
  co_return co_await frame.close(co_await take_out_members(client, discovery, **opened, options, journal, stop));
}

}  // namespace fairlead::removal
