// EndpointSlices, and the Endpoints of old: which pods are behind a Service, and which of them are ready.
#include <fmt/format.h>

#include "object/selector.h"
#include "sandbox/controllers/workload.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kSlices{"discovery.k8s.io", "endpointslices"};
const ResourceId kEndpoints{"", "endpoints"};

struct Port {
  std::string name, protocol;
  int64_t number = 0;
};

class EndpointsController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kServices) add(event.place);
    if (resource == kSlices && event.type == Event::Type::deleted) {
      std::string_view name = (*event.object)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("");
      if (!name.empty()) add({event.place.ns, std::string(name)});
    }
    if (resource != kPods) return;
    // Every Service that selects the pod as it is, or selected it as it was.
    const Store::Objects& services = core().store.all(kServices);
    for (auto at = services.lower_bound({event.place.ns, ""}); at != services.end() && at->first.ns == event.place.ns;
         ++at)
      if (selects(*at->second, *event.object) || (event.previous && selects(*at->second, *event.previous)))
        add(at->first);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr service = core().store.find(kServices, key);
    if (!service || is_deleting(*service) || (*service)["spec"]["selector"].members().empty()) co_return;
    std::vector<ObjectPtr> pods;
    const Store::Objects& all = core().store.all(kPods);
    for (auto at = all.lower_bound({key.ns, ""}); at != all.end() && at->first.ns == key.ns; ++at) {
      std::string_view phase = (*at->second)["status"]["phase"].string_or("");
      if (selects(*service, *at->second) && !(*at->second)["status"]["podIP"].string_or("").empty() &&
          phase != "Succeeded" && phase != "Failed")
        pods.push_back(at->second);
    }
    co_await write_slice(key, *service, pods);
    co_await write_endpoints(key, *service, pods);
  }

 private:
  static bool selects(const Json& service, const Json& pod) {
    Result<object::Selector> selector = object::Selector::from_service(service["spec"]["selector"]);
    return selector && selector->matches(pod["metadata"]["labels"]);
  }

  // A named target port is what the first pod that has it says.
  static std::vector<Port> ports_of(const Json& service, const std::vector<ObjectPtr>& pods) {
    std::vector<Port> ports;
    for (const Json& port : service["spec"]["ports"].items()) {
      const Json& target = port["targetPort"];
      int64_t number = target.is_string() ? 0 : target.int_or(port["port"].int_or(0));
      if (target.is_string())
        for (const ObjectPtr& pod : pods)
          for (const Json& container : (*pod)["spec"]["containers"].items())
            for (const Json& its : container["ports"].items())
              if (its["name"].string_or("") == target.string_or("") && number == 0)
                number = its["containerPort"].int_or(0);
      if (number != 0)
        ports.push_back(
            {std::string(port["name"].string_or("")), std::string(port["protocol"].string_or("TCP")), number});
    }
    return ports;
  }

  static Json target_ref(const Json& pod) {
    return Json::Object{{"kind", "Pod"},
                        {"namespace", pod["metadata"]["namespace"]},
                        {"name", pod["metadata"]["name"]},
                        {"uid", pod["metadata"]["uid"]}};
  }

  Task<void> write_slice(Place key, Json service, std::vector<ObjectPtr> pods) {
    bool publish = service["spec"]["publishNotReadyAddresses"].bool_or(false);
    Json::Array endpoints;
    for (const ObjectPtr& pod : pods) {
      bool serving = is_ready(*pod), terminating = is_deleting(*pod);
      endpoints.push_back(Json::Object{{"addresses", Json::Array{(*pod)["status"]["podIP"]}},
                                       {"conditions", Json::Object{{"ready", publish || (serving && !terminating)},
                                                                   {"serving", serving},
                                                                   {"terminating", terminating}}},
                                       {"nodeName", (*pod)["spec"]["nodeName"]},
                                       {"targetRef", target_ref(*pod)}});
    }
    Json::Array ports;
    if (!pods.empty())
      for (const Port& port : ports_of(service, pods))
        ports.push_back(Json::Object{{"name", port.name}, {"port", port.number}, {"protocol", port.protocol}});
    Json endpoint_list = endpoints.empty() ? Json() : Json(std::move(endpoints));
    Json port_list = ports.empty() ? Json() : Json(std::move(ports));
    for (const ObjectPtr& slice : controlled_by(core(), kSlices, service)) {
      if ((*slice)["endpoints"].same_as(endpoint_list) && (*slice)["ports"].same_as(port_list)) co_return;
      Json object = *slice;
      object.make("endpoints") = endpoint_list;
      object.make("ports") = port_list;
      Outcome<Json> written = co_await actor_.update(kSlices, std::move(object));
      if (!written) add(key);
      co_return;
    }
    Json::Object labels;
    for (const Json::Member& label : service["metadata"]["labels"].members()) labels[label.key] = label.value;
    labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io";
    labels["kubernetes.io/service-name"] = key.name;
    if (service["spec"]["clusterIP"].string_or("") == "None") labels["service.kubernetes.io/headless"] = "";
    Outcome<Json> created = co_await actor_.create(
        kSlices, key.ns,
        Json::Object{{"apiVersion", "discovery.k8s.io/v1"},
                     {"kind", "EndpointSlice"},
                     {"metadata", Json::Object{{"generateName", key.name + "-"},
                                               {"labels", std::move(labels)},
                                               {"ownerReferences", Json::Array{owner_reference(service)}}}},
                     {"addressType", "IPv4"},
                     {"endpoints", endpoint_list},
                     {"ports", port_list}});
    if (!created && created.error().code >= 500) add_after(key, std::chrono::seconds(1));
  }

  Task<void> write_endpoints(Place key, Json service, std::vector<ObjectPtr> pods) {
    bool publish = service["spec"]["publishNotReadyAddresses"].bool_or(false);
    Json::Array ready, not_ready;
    for (const ObjectPtr& pod : pods) {
      if (is_deleting(*pod)) continue;
      Json address = Json::Object{
          {"ip", (*pod)["status"]["podIP"]}, {"nodeName", (*pod)["spec"]["nodeName"]}, {"targetRef", target_ref(*pod)}};
      (publish || is_ready(*pod) ? ready : not_ready).push_back(std::move(address));
    }
    Json subsets;
    if (!ready.empty() || !not_ready.empty()) {
      Json::Array ports;
      for (const Port& port : ports_of(service, pods)) {
        Json::Object entry;
        if (!port.name.empty()) entry.append("name", port.name);
        entry.append("port", port.number);
        entry.append("protocol", port.protocol);
        ports.push_back(std::move(entry));
      }
      Json::Object subset;
      if (!ready.empty()) subset.append("addresses", std::move(ready));
      if (!not_ready.empty()) subset.append("notReadyAddresses", std::move(not_ready));
      subset.append("ports", std::move(ports));
      subsets = Json::Array{std::move(subset)};
    }
    ObjectPtr found = core().store.find(kEndpoints, key);
    if (found && (*found)["subsets"].same_as(subsets)) co_return;
    Json object = found ? *found
                        : Json(Json::Object{{"apiVersion", "v1"},
                                            {"kind", "Endpoints"},
                                            {"metadata", Json::Object{{"name", key.name},
                                                                      {"namespace", key.ns},
                                                                      {"labels", service["metadata"]["labels"]}}}});
    Json& labels = object.make("metadata").make("labels");
    labels.make("endpoints.kubernetes.io/managed-by") = "endpoint-controller";
    if (subsets.is_null()) object.if_object()->erase("subsets");
    else object.make("subsets") = std::move(subsets);
    Outcome<Json> written;
    if (found) written = co_await actor_.update(kEndpoints, std::move(object));
    else written = co_await actor_.create(kEndpoints, key.ns, std::move(object));
    if (!written && written.error().code == 409) add(key);
  }
};

}  // namespace

std::unique_ptr<Controller> make_endpoints_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<EndpointsController>(server, scope);
}

}  // namespace fairlead::sandbox
