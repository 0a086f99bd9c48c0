// Load balancers get an address; APIServices are available or not, by the Service that they point to.
#include <fmt/format.h>

#include "sandbox/controllers/workload.h"
#include "sandbox/core/api_services.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kApiServices{"apiregistration.k8s.io", "apiservices"};

class LoadBalancerController final : public Controller {
 public:
  LoadBalancerController(ApiServer& server, Scope& scope) : Controller(server, scope, "cloud-controller-manager") {}

  void note(const ResourceId& resource, const Event& event) override {
    if (resource != kServices || event.type == Event::Type::deleted) return;
    const Json& service = *event.object;
    if (service["spec"]["type"].string_or("") == "LoadBalancer" &&
        service["status"]["loadBalancer"]["ingress"].items().empty())
      add_after(event.place, delay_of(service, "address-after", delays().load_balancer));
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr service = core().store.find(kServices, key);
    if (!service || (*service)["spec"]["type"].string_or("") != "LoadBalancer" || is_deleting(*service)) co_return;
    if (!(*service)["status"]["loadBalancer"]["ingress"].items().empty()) co_return;
    std::string address = fmt::format("198.51.100.{}", 1 + next_++ % 250);
    Json ingress = Json::Array{Json::Object{{"ip", address}, {"ipMode", "VIP"}}};
    (void)co_await actor_.patch(
        kServices, key,
        Json::Object{{"status", Json::Object{{"loadBalancer", Json::Object{{"ingress", std::move(ingress)}}}}}},
        "status");
  }

 private:
  uint64_t next_ = 0;
};

// What is behind a Service can come and go without a change in the cluster.
constexpr Duration kCheckAgain = std::chrono::seconds(5);

class ApiServiceController final : public Controller {
 public:
  ApiServiceController(ApiServer& server, Scope& scope) : Controller(server, scope, "kube-apiserver") {}

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kApiServices) add(event.place);
    bool endpoint = resource == kServices || resource == ResourceId{"discovery.k8s.io", "endpointslices"};
    if (!endpoint) return;
    for (const auto& [place, object] : core().store.all(kApiServices))
      if ((*object)["spec"]["service"]["namespace"].string_or("") == event.place.ns) add(place);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kApiServices, key);
    if (!found || is_deleting(*found)) co_return;
    Json object = *found;
    set_condition(object, available_condition(core(), object));
    bool elsewhere = object["spec"]["service"].is_object();
    if (elsewhere) add_after(key, kCheckAgain);
    bool changed = !object.same_as(*found);
    if (changed) (void)co_await actor_.update(kApiServices, std::move(object), "status");
    for (const ServedElsewhere& api : served_elsewhere(core()))
      if (api.available && api.version + "." + api.group == key.name &&
          (changed || !core().extension_resources.contains(api.group_version())))
        co_await discover_behind(core(), api);
  }
};

}  // namespace

std::unique_ptr<Controller> make_load_balancer_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<LoadBalancerController>(server, scope);
}

std::unique_ptr<Controller> make_api_service_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<ApiServiceController>(server, scope);
}

}  // namespace fairlead::sandbox
