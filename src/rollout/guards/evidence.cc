#include "rollout/guards/evidence.h"

#include "readiness/endpoints.h"

namespace fairlead::rollout {
namespace {

constexpr std::string_view kServiceLabel = "kubernetes.io/service-name";

std::string text(const Json& value) { return std::string(value.string_or("")); }

}  // namespace

void Evidence::watch(std::string_view group, std::string_view kind, const std::string& ns, std::string field_selector) {
  Key key(kind, ns);
  if (sources_.contains(key)) return;
  const object::Resource* resource = discovery_.known().find(group, kind);
  if (!resource) return;
  auto changed = [this, name = std::string(kind)](const Json& object, bool) {
    const Json& metadata = object["metadata"];
    bool is_slice = name == "EndpointSlice";
    changed_(name, text(metadata["namespace"]), text(is_slice ? metadata["labels"][kServiceLabel] : metadata["name"]));
  };
  Source& source = sources_[key];
  kube::WatchOptions options{.ns = ns, .field_selector = std::move(field_selector)};
  source.watched = std::make_unique<kube::Watched>(client_, *resource, std::move(options), std::move(changed));
  scope_.spawn(source.watched->run());
}

const kube::Watched* Evidence::source(std::string_view kind, const std::string& ns) const {
  auto found = sources_.find(Key(kind, ns));
  return found == sources_.end() ? nullptr : found->second.watched.get();
}

bool Evidence::learns(std::string_view kind, const std::string& ns) const {
  const kube::Watched* watched = source(kind, ns);
  return watched && !watched->trouble();
}

bool Evidence::knows(std::string_view kind, const std::string& ns) const {
  const kube::Watched* watched = source(kind, ns);
  return watched && watched->synced() && !watched->trouble();
}

const Error* Evidence::trouble(std::string_view kind, const std::string& ns) const {
  const kube::Watched* watched = source(kind, ns);
  return watched && watched->trouble() ? &*watched->trouble() : nullptr;
}

const Json* Evidence::find(std::string_view kind, const std::string& ns, const std::string& name) const {
  const kube::Watched* watched = source(kind, ns);
  return watched ? watched->find(ns, name) : nullptr;
}

readiness::Objects Evidence::all(std::string_view kind, const std::string& ns) const {
  readiness::Objects objects;
  if (const kube::Watched* watched = source(kind, ns))
    for (const auto& [place, object] : watched->objects()) objects.push_back(&object);
  return objects;
}

std::optional<readiness::EndpointCount> Evidence::endpoints(const std::string& ns, const std::string& service) const {
  if (!knows("EndpointSlice", ns)) return std::nullopt;
  Json named(Json::Object{{"kind", "Service"}, {"metadata", Json::Object{{"namespace", ns}, {"name", service}}}});
  return readiness::count_endpoints(named, slices(ns));
}

std::vector<readiness::Endpoint> Evidence::ready_endpoints(const std::string& ns, const std::string& service,
                                                           std::string_view port_name) const {
  return readiness::ready_endpoints(slices(ns), service, port_name);
}

}  // namespace fairlead::rollout
