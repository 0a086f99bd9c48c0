#include "removal/internal/tracking.h"

#include <algorithm>
#include <set>

#include "object/containers.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;

// Objects in at most this many namespaces are watched per namespace; objects in more of them with one watch.
constexpr size_t kNamespacesWatchedApart = 3;

// True for kinds of which more than the metadata is needed.
bool is_read_whole(const object::Resource& resource) {
  return resource.kind == "Namespace" || resource.group == "apiextensions.k8s.io" ||
         resource.group == "apiregistration.k8s.io" || resource.group == "admissionregistration.k8s.io";
}

bool is_same(const object::Resource& one, const object::Resource& other) {
  return one.group == other.group && one.kind == other.kind;
}

}  // namespace

void Tracker::add(const object::Resource& resource, const std::string& ns, const std::string& name,
                  bool metadata_only) {
  for (const auto& source : sources_)
    if (is_same(source->resource, resource) && source->options.ns == ns && source->options.field_selector.empty() &&
        !is_too_wide(*source))
      return;
  kube::WatchOptions options{.ns = ns, .metadata_only = metadata_only};
  if (!name.empty()) options.field_selector = "metadata.name=" + name;
  // A watch that reconnects slowly would notice deletions late.
  options.longest_pause = std::chrono::seconds(10);
  auto source = std::make_unique<Source>(resource, options);
  Source* it = source.get();
  source->watched = std::make_unique<kube::Watched>(
      client_, resource, options, [this, it](const Json& object, bool gone) { changed(*it, object, gone); });
  // managedFields tell to whom an object belongs.
  source->watched->keep_managed_fields();
  sources_.push_back(std::move(source));
}

void Tracker::plan_watches() {
  // Watch the instances of each CRD in all namespaces.
  for (NodeId i : run_.ids()) {
    const object::Key& key = run_.key(i);
    bool is_followed = std::ranges::any_of(sources_, [&](const auto& source) { return source->definition == i; });
    if (!is_crd(key) || is_followed) continue;
    const object::Resource* resource = discovery_.known().find_by_name(key.name);
    if (!resource || resource->name_with_group() != key.name || !resource->can("list")) continue;
    add(*resource, "", "", true);
    sources_.back()->definition = i;
  }
  std::map<std::pair<std::string, std::string>, std::vector<NodeId>> kinds;
  for (NodeId i : run_.ids()) {
    const Source* source = source_of(i);
    bool is_watched = source && !is_too_wide(*source);
    if (run_.state(i).resource && !is_watched) kinds[{run_.key(i).group, run_.key(i).kind}].push_back(i);
  }
  for (const auto& [kind, members] : kinds)
    if (!covering(*run_.state(members.front()).resource, "")) plan_watches_of(members);
}

void Tracker::plan_watches_of(const std::vector<NodeId>& targets) {
  const object::Resource& resource = *run_.state(targets.front()).resource;
  std::set<std::string> namespaces;
  for (NodeId target : targets) namespaces.insert(run_.key(target).ns);
  bool metadata_only = !is_read_whole(resource);
  bool in_all = targets.size() > 1 && namespaces.size() > kNamespacesWatchedApart && may_watch(resource, "");
  if (in_all) return add(resource, "", "", metadata_only);
  for (NodeId target : targets) {
    const object::Key& key = run_.key(target);
    bool alone = targets.size() == 1 || !may_watch(resource, key.ns);
    add(resource, key.ns, alone ? key.name : "", metadata_only);
  }
}

Task<Result<void>> Tracker::start() {
  auto is_known = [](const auto& source) { return source->watched->synced() || source->watched->trouble(); };
  size_t running = 0;
  // If a watch turns out to be forbidden, narrower ones take its place.
  do {
    running = sources_.size();
    plan_watches();
    for (size_t i = running; i < sources_.size(); ++i) scope_.spawn(sources_[i]->watched->run());
    while (!std::ranges::all_of(sources_, is_known)) CO_TRY(co_await synced_.wait());
  } while (sources_.size() > running);
  co_return Result<void>();
}

bool Tracker::is_too_wide(const Source& source) {
  const std::optional<Error>& trouble = source.watched->trouble();
  return trouble && trouble->kind() == ErrorKind::denied && source.resource.namespaced &&
         source.options.field_selector.empty();
}

bool Tracker::may_watch(const object::Resource& resource, const std::string& ns) const {
  return std::ranges::none_of(sources_, [&](const auto& source) {
    return is_same(source->resource, resource) && source->options.ns == ns && is_too_wide(*source);
  });
}

void Tracker::changed(Source& source, const Json& object, bool gone) {
  if (object.is_null()) {
    if (source.watched->trouble()) failed(source);
    synced_.notify_all();
    return;
  }
  if (source.definition && run_.plan() && !run_.plan()->is_settled(*source.definition))
    see_instance(source, object, gone);
  const Json& metadata = object["metadata"];
  auto target = run_.find({.group = source.resource.group,
                           .kind = source.resource.kind,
                           .ns = std::string(metadata["namespace"].string_or("")),
                           .name = std::string(metadata["name"].string_or(""))});
  if (!target || !run_.plan()) return;
  if (!gone) return run_.see(*target, object);
  if (metadata["uid"].string_or("") == run_.state(*target).uid) run_.gone(*target);
}

// A CRD makes progress when one of its instances is deleted, or begins to be deleted.
void Tracker::see_instance(Source& source, const Json& object, bool gone) {
  const Json& metadata = object["metadata"];
  bool begins = metadata.contains("deletionTimestamp") && source.leaving.emplace(metadata["uid"].string_or("")).second;
  if (!gone && !begins) return;
  run_.moved(*source.definition);
  run_.left(*source.definition, source.watched->objects().size());
}

void Tracker::failed(const Source& source) {
  // Narrower watches will be tried next.
  if (is_too_wide(source) && !source.definition && !run_.plan()) return;
  bool is_served = source.watched->trouble()->kind() != ErrorKind::not_found;
  if (is_served)
    run_.note(EventKind::error, fmt::format("{} cannot be watched", source.resource.name_with_group()),
              *source.watched->trouble());
  if (is_served || !run_.plan()) return;
  for (NodeId i : run_.ids())
    if (source_of(i) == &source) run_.gone(i, "its kind is no longer served");
}

const Tracker::Source* Tracker::source_of(NodeId target) const {
  const std::optional<object::Resource>& resource = run_.state(target).resource;
  if (!resource) return nullptr;
  const object::Key& key = run_.key(target);
  const Source* too_wide = nullptr;
  for (const auto& source : sources_) {
    if (!is_same(source->resource, *resource)) continue;
    const kube::WatchOptions& options = source->options;
    if (!options.ns.empty() && options.ns != key.ns) continue;
    if (!options.field_selector.empty() && options.field_selector != "metadata.name=" + key.name) continue;
    if (!is_too_wide(*source)) return source.get();
    too_wide = source.get();
  }
  return too_wide;
}

const Json* Tracker::find(NodeId target) const {
  const Source* source = source_of(target);
  return source ? source->watched->find(run_.key(target).ns, run_.key(target).name) : nullptr;
}

bool Tracker::is_known(NodeId target) const {
  if (!run_.state(target).resource) return true;
  const Source* source = source_of(target);
  return source && (source->watched->synced() || source->watched->trouble());
}

const Error* Tracker::trouble(NodeId target) const {
  const Source* source = source_of(target);
  return source && source->watched->trouble() ? &*source->watched->trouble() : nullptr;
}

const Error* Tracker::interruption(NodeId target) const {
  const Source* source = source_of(target);
  if (!source) return nullptr;
  if (source->watched->trouble()) return &*source->watched->trouble();
  return source->watched->interruption() ? &*source->watched->interruption() : nullptr;
}

Tracker::Others Tracker::others_of(NodeId definition) const {
  Others others;
  for (const auto& source : sources_) {
    if (source->definition != definition) continue;
    others.known = source->watched->synced() && !source->watched->trouble();
    others.resource = &source->resource;
    for (const auto& [place, object] : source->watched->objects())
      if (!run_.find({.group = source->resource.group,
                      .kind = source->resource.kind,
                      .ns = place.first,
                      .name = place.second}))
        others.objects.push_back(&object);
  }
  return others;
}

const kube::Watched* Tracker::instances_of(NodeId definition) const {
  for (const auto& source : sources_)
    if (source->definition == definition) return source->watched.get();
  return nullptr;
}

const kube::Watched* Tracker::covering(const object::Resource& resource, const std::string& ns) const {
  for (const auto& source : sources_)
    if (is_same(source->resource, resource) && source->options.field_selector.empty() && !is_too_wide(*source) &&
        (source->options.ns.empty() || source->options.ns == ns))
      return source->watched.get();
  return nullptr;
}

void Tracker::report_interruptions() {
  for (const auto& source : sources_) {
    // The instances of a CRD are not served any more once it is deleted.
    if (source->definition && run_.state(*source->definition).told) continue;
    const std::optional<Error>& now = source->watched->interruption();
    std::string text = now ? now->message() : std::string();
    if (text == source->interrupted) continue;
    source->interrupted = text;
    std::string what = source->resource.name_with_group();
    if (now) run_.note(EventKind::error, fmt::format("{} cannot be watched at the moment", what), *now);
    else run_.note(EventKind::note, fmt::format("{} can be watched again", what));
  }
}

}  // namespace fairlead::removal
