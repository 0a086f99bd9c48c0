#include "rollout_extension.h"

#include "rollout_manifests.h"
#include "sandbox/core/core.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

const sandbox::ResourceId kNamespaces{"", "namespaces"};

sandbox::Options options_of(const World& world) {
  sandbox::Options options;
  options.seed = world.seed;
  options.controllers = false;
  options.nodes = 0;
  return options;
}

}  // namespace

Extension::Extension(World& world) : world_(world), sandbox_(world.loop, options_of(world)) {}

sandbox::Store& Extension::store() { return sandbox_.core().store; }

Task<std::shared_ptr<Extension>> Extension::start(World& world) {
  std::shared_ptr<Extension> extension(new Extension(world));
  co_await extension->define_kind();
  extension->follow_namespaces();
  Random random = world.dice("extension");
  Spells outages;
  if (random.chance(0.5)) outages = {.every = 500ms + some_time(random, 5s), .lasts = some_time(random, 5s)};
  Extension* serving = extension.get();
  serving->serve(true);
  world.disturb(
      "extension", outages, [serving](uint64_t) { serving->serve(false); },
      [serving](uint64_t) { serving->serve(true); });
  co_return extension;
}

Task<void> Extension::stop() {
  serve(false);
  return sandbox_.stop();
}

Task<void> Extension::define_kind() {
  Json gauges = definition("Gauge", "gauges", {});
  gauges.make("metadata").make("name") = "gauges.metrics.example.com";
  gauges.make("spec").make("group") = kExtensionGroup;
  (void)co_await http::send(sandbox_.api_server(), {.method = "POST",
                                                    .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                                    .headers = {{"Content-Type", "application/json"}},
                                                    .body = gauges.dump()});
  // Until it is served.
  (void)co_await sleep_for(world_.loop, 1s);
}

void Extension::follow_namespaces() {
  world_.sandbox.core().store.listen(
      [weak = weak_from_this()](const sandbox::ResourceId& resource, const sandbox::Event& event) {
        std::shared_ptr<Extension> alive = weak.lock();
        if (!alive || resource != kNamespaces) return;
        if (event.type == sandbox::Event::Type::deleted) alive->store().remove(kNamespaces, event.place);
        else alive->store().put(kNamespaces, event.place, *event.object);
      });
}

void Extension::serve(bool there) {
  world_.history.note("extension", [&] { return there ? "the API server serves" : "the API server is gone"; });
  world_.sandbox.serve_api(std::string(kExtensionService), there ? &sandbox_.api_server() : nullptr);
}

}  // namespace fairlead::sim
