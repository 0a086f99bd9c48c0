// From what a user names to targets: manifests, names, the inventory of a bundle.
#include <algorithm>

#include "base/scope.h"
#include "inventory/inventory.h"
#include "removal/removal.h"

namespace fairlead::removal {
namespace {

using journal::What;

uint64_t requests_of(const kube::Client& client) {
  uint64_t all = 0;
  for (const auto& [verb, count] : client.counts()) all += count;
  return all;
}

Ending failed_with(std::vector<Error> errors) {
  Ending ending;
  ending.how = Ending::How::failed;
  for (Error& error : errors) ending.causes.push_back({.error = std::move(error), .holds = {}});
  return ending;
}

// Begins and ends a run: the journal's frame, what it took, and the question whether anybody is there.
class Frame {
 public:
  Frame(kube::Client& client, kube::Discovery& discovery, const Options& options, journal::Journal& journal,
        CancelSource* stop)
      : client_(client),
        discovery_(discovery),
        options_(options),
        journal_(journal),
        stop_(stop),
        begun_(client.loop().now()),
        requests_(requests_of(client)) {}

  // Nothing if the cluster answers.
  Task<std::optional<Ending>> reach() {
    journal_.add({.what = What::started});
    auto known = co_await discovery_.all().governed_by(stop_);
    if (known) co_return std::nullopt;
    if (stop_ && stop_->cancelled()) co_return Ending{.how = Ending::How::interrupted};
    Error why = known.error().error();
    if (known.error().fault() || why.kind() != ErrorKind::unavailable) co_return failed_with({why});
    if (options_.cluster_gone) {
      journal_.add(
          {.what = What::warning,
           .text = "the cluster cannot be reached, and counts as gone with everything in it: " + why.message()});
      co_return Ending();
    }
    co_return failed_with(
        {Error(ErrorKind::unavailable,
               "the cluster is unreachable: nothing is known about its objects, and nothing was removed")
             .because(std::move(why))
             .next("fairlead delete … --cluster-gone, if the cluster is gone for good")});
  }

  Ending close(Ending ending) const {
    ending.took = client_.loop().now() - begun_;
    ending.requests = requests_of(client_) - requests_;
    journal_.add({.what = What::ended, .state = std::string(name_of(ending.how))});
    return ending;
  }

 private:
  kube::Client& client_;
  kube::Discovery& discovery_;
  const Options& options_;
  journal::Journal& journal_;
  CancelSource* stop_;
  TimePoint begun_;
  uint64_t requests_;
};

void add_once(std::vector<Target>& targets, Target target) {
  auto is_it = [&](const Target& other) { return other.key == target.key; };
  if (std::ranges::none_of(targets, is_it)) targets.push_back(std::move(target));
}

// Removes what the bundle's label is on, under the bundle's claim.
Task<Ending> take_out_members(kube::Client& client, kube::Discovery& discovery, inventory::Inventory& inventory,
                              Options options, journal::Journal& journal, CancelSource* stop) {
  bool is_real = options.dry_run == DryRun::none;
  if (is_real)
    if (auto claimed = co_await inventory.claim({}).governed_by(stop); !claimed)
      co_return failed_with({claimed.error().error()});
  auto members = co_await inventory.members(false);
  if (!members) {
    if (inventory.claimed()) (void)co_await inventory.release();
    co_return failed_with({members.error().error()});
  }
  std::vector<Target> targets;
  for (const inventory::Member& member : members->found)
    targets.push_back({.key = member.key, .version = member.version, .source = {}, .uid = member.uid});
  options.part_of = inventory.label_value();
  // The bundle's home may be part of it, and then the inventory and the claim go with it.
  auto is_home = [&](const object::Key& key) {
    return key.kind == "Namespace" && key.group.empty() && key.name == inventory.home();
  };
  bool home_goes = std::ranges::any_of(targets, is_home, &Target::key);
  CancelSource halt(stop);
  CancelSource keeping;
  Scope claim_scope(client.loop(), &keeping);
  std::optional<Error> lost;
  auto keep = [](inventory::Inventory& held, CancelSource* halted, std::optional<Error>& why) -> Task<void> {
    Result<void> end = co_await held.keep();
    if (end || end.error().kind() == ErrorKind::cancelled) co_return;
    why = end.error();
    if (halted) halted->cancel();
  };
  if (is_real) claim_scope.spawn(keep(inventory, home_goes ? nullptr : &halt, lost));
  Ending ending = co_await take_out(client, discovery, std::move(targets), std::move(options), journal, &halt);
  keeping.cancel();
  co_await claim_scope.join();
  for (const inventory::Unlisted& one : members->unlisted) {
    ending.how = Ending::How::failed;
    ending.causes.push_back(
        {.error = Error(ErrorKind::unavailable,
                        fmt::format("{} of the bundle could not be listed, and may remain", one.kind.text()))
                      .because(one.why),
         .holds = {}});
  }
  bool home_is_gone = std::ranges::any_of(ending.objects, [&](const ObjectEnding& object) {
    return is_home(object.key) && object.state == ObjectEnding::State::gone;
  });
  if (home_is_gone) co_return ending;
  if (lost) {
    ending.how = Ending::How::failed;
    ending.causes.push_back({.error = *lost, .holds = {}});
  }
  if (!is_real || !inventory.claimed()) co_return ending;
  std::vector<object::Key> remaining;
  for (const ObjectEnding& object : ending.objects)
    if (object.state != ObjectEnding::State::gone && object.state != ObjectEnding::State::absent)
      remaining.push_back(object.key);
  auto settled = co_await inventory.settle(remaining);
  if (!settled && !settled.error().is(kube::FaultKind::not_found))
    journal.add({.what = What::warning,
                 .text = "the bundle's inventory could not be settled: " + settled.error().error().message()});
  co_return ending;
}

}  // namespace

Task<Ending> take_out_manifests(kube::Client& client, kube::Discovery& discovery, const manifest::Bundle& bundle,
                                Options options, journal::Journal& journal, CancelSource* stop) {
  Frame frame(client, discovery, options, journal, stop);
  if (auto end = co_await frame.reach()) co_return frame.close(*std::move(end));
  std::vector<Target> targets;
  std::vector<Error> errors;
  for (const object::Object& object : bundle.objects) {
    Target target{.key = object.key(), .version = object.version(), .source = object.source().text(), .uid = {}};
    const object::Resource* resource = discovery.known().find(object.group(), object.kind());
    bool namespaced = resource ? resource->namespaced : !target.key.ns.empty();
    if (!namespaced) target.key.ns.clear();
    else if (target.key.ns.empty()) target.key.ns = options.default_namespace;
    else if (options.namespace_is_chosen && target.key.ns != options.default_namespace)
      errors.push_back(
          Error(ErrorKind::invalid, fmt::format("{} is not in the namespace that was asked for, {}", target.key.text(),
                                                options.default_namespace))
              .at(target.source)
              .next(fmt::format("fairlead delete --namespace={} …, or no --namespace at all", target.key.ns)));
    add_once(targets, std::move(target));
  }
  if (!errors.empty()) co_return frame.close(failed_with(std::move(errors)));
  co_return frame.close(co_await take_out(client, discovery, std::move(targets), options, journal, stop));
}

Task<Ending> take_out_named(kube::Client& client, kube::Discovery& discovery, std::vector<std::string> names,
                            Options options, journal::Journal& journal, CancelSource* stop) {
  Frame frame(client, discovery, options, journal, stop);
  if (auto end = co_await frame.reach()) co_return frame.close(*std::move(end));
  std::vector<Target> targets;
  std::vector<Error> errors;
  // As some commands of kubectl take them.
  if (names.size() > 1 && names[0].find('/') == std::string::npos)
    co_return frame.close(failed_with({Error(ErrorKind::invalid, fmt::format("{} is not KIND/NAME", names[0]))
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
    add_once(targets, {.key = {.group = resource->group,
                               .kind = resource->kind,
                               .ns = resource->namespaced ? options.default_namespace : "",
                               .name = name},
                       .version = resource->version,
                       .source = {},
                       .uid = {}});
  }
  if (!errors.empty()) co_return frame.close(failed_with(std::move(errors)));
  Ending ending = co_await take_out(client, discovery, std::move(targets), options, journal, stop);
  // Of what was named one by one, a name that does not exist is a mistake.
  for (ObjectEnding& object : ending.objects)
    if (object.state == ObjectEnding::State::absent) {
      object.error = Error(ErrorKind::not_found, fmt::format("{} is not there", object.key.text()));
      ending.causes.push_back({.error = *object.error, .holds = {}});
      if (ending.how == Ending::How::done) ending.how = Ending::How::failed;
    }
  co_return frame.close(std::move(ending));
}

Task<Ending> take_out_bundle(kube::Client& client, kube::Discovery& discovery, std::string name, Options options,
                             journal::Journal& journal, CancelSource* stop) {
  Frame frame(client, discovery, options, journal, stop);
  if (auto end = co_await frame.reach()) co_return frame.close(*std::move(end));
  inventory::Options wanted{
      .name = name, .ns = options.default_namespace, .holder = options.holder, .known_dead = options.known_dead};
  auto opened = co_await inventory::Inventory::open(client, discovery, std::move(wanted)).governed_by(stop);
  if (!opened) co_return frame.close(failed_with({opened.error().error()}));
  if (!(*opened)->exists())
    co_return frame.close(
        failed_with({Error(ErrorKind::not_found,
                           fmt::format("there is no bundle {} in namespace {}", name, options.default_namespace))
                         .next("kubectl get configmaps -A -l applyset.kubernetes.io/id, which lists the bundles")}));
  co_return frame.close(co_await take_out_members(client, discovery, **opened, options, journal, stop));
}

}  // namespace fairlead::removal
