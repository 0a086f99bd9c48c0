// HorizontalPodAutoscalers: they keep the number of replicas within their bounds. Nothing measures pods here, so they
// do no more than that, as on a cluster without a metrics server.
#include <fmt/format.h>

#include "sandbox/controllers/workload.h"
#include "sandbox/core/conditions.h"
#include "sandbox/core/custom_kind.h"
#include "sandbox/verbs/subresources.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kAutoscalers{"autoscaling", "horizontalpodautoscalers"};

// Why a metric is not known, where nothing serves any.
struct NoMetric {
  std::string reason;
  std::string message;
};

NoMetric no_resource(std::string_view type, const Json& source) {
  std::string_view name = source["name"].string_or("cpu");
  bool by_share = source["target"]["type"].string_or("Utilization") == "Utilization";
  return {
      fmt::format("FailedGet{}Metric", type),
      fmt::format("failed to get {0} {1}: unable to get metrics for resource {0}: unable to fetch metrics from "
                  "resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)",
                  name, by_share ? "utilization" : "usage")};
}

NoMetric no_metric(const std::string& ns, const Json& metric) {
  std::string_view type = metric["type"].string_or("Resource");
  constexpr std::string_view kNoApi =
      "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";
  if (type == "Pods")
    return {"FailedGetPodsMetric",
            fmt::format("unable to get metric {}: {}", metric["pods"]["metric"]["name"].string_or(""), kNoApi)};
  if (type == "Object") {
    const Json& about = metric["object"]["describedObject"];
    return {"FailedGetObjectMetric",
            fmt::format("unable to get metric {} on {} {}/{}: {}", metric["object"]["metric"]["name"].string_or(""),
                        about["kind"].string_or(""), ns, about["name"].string_or(""), kNoApi)};
  }
  if (type == "External")
    return {"FailedGetExternalMetric",
            fmt::format("unable to get external metric {0}/{1}/nil: unable to fetch metrics from external metrics API: "
                        "the server could not find the requested resource (get {1}.external.metrics.k8s.io)",
                        ns, metric["external"]["metric"]["name"].string_or(""))};
  return no_resource(type, metric[type == "ContainerResource" ? "containerResource" : "resource"]);
}

// What an autoscaler scales.
struct Scaled {
  const Kind* kind = nullptr;
  ObjectPtr object;
  std::string problem;  // why there is none
};

class AutoscalerController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kAutoscalers) {
      add(event.place);
      return;
    }
    for (const auto& [place, autoscaler] : core().store.all(kAutoscalers))
      if (place.ns == event.place.ns &&
          (*autoscaler)["spec"]["scaleTargetRef"]["name"].string_or("") == event.place.name)
        add(place);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr autoscaler = core().store.find(kAutoscalers, key);
    if (!autoscaler || is_deleting(*autoscaler)) co_return;
    Json object = *autoscaler;
    Scaled scaled = target_of(key, *autoscaler);
    if (!scaled.object) {
      able(object, false, "FailedGetScale",
           "the HPA controller was unable to get the target's current scale: " + scaled.problem);
      if (!object["status"].contains("desiredReplicas")) object.make("status").make("desiredReplicas") = 0;
      co_await write(key, *autoscaler, std::move(object));
      co_return;
    }
    able(object, true, "SucceededGetScale", "the HPA controller was able to get the target's current scale");
    co_await keep_bounds(key, object, scaled);
    co_await write(key, *autoscaler, std::move(object));
  }

 private:
  Task<void> keep_bounds(Place key, Json& object, Scaled scaled) {
    Json scale = scale_of(*scaled.kind, *scaled.object);
    int64_t current = scale["spec"]["replicas"].int_or(0);
    int64_t least = object["spec"]["minReplicas"].int_or(1);
    int64_t most = object["spec"]["maxReplicas"].int_or(1);
    Json& status = object.make("status");
    status.make("observedGeneration") = object["metadata"]["generation"];
    status.make("currentReplicas") = scale["status"]["replicas"].int_or(0);
    if (!status.contains("desiredReplicas")) status.make("desiredReplicas") = 0;
    if (current == 0 && least != 0) {
      status.make("desiredReplicas") = 0;
      set(object, "ScalingActive", false, "ScalingDisabled",
          "scaling is disabled since the replica count of the target is zero");
    } else if (current > most || current < least) {
      co_await rescale(key, object, scaled, current > most ? most : least);
    } else {
      tell_no_metrics(key.ns, object);
    }
  }

  void set(Json& object, std::string_view type, bool status, std::string_view reason, std::string message) {
    set_condition(object, Json::Object{{"type", type},
                                       {"status", status ? "True" : "False"},
                                       {"lastTransitionTime", core().now_text()},
                                       {"reason", reason},
                                       {"message", std::move(message)}});
  }
  void able(Json& object, bool status, std::string_view reason, std::string message) {
    set(object, "AbleToScale", status, reason, std::move(message));
  }

  Scaled target_of(const Place& key, const Json& autoscaler) {
    const Json& reference = autoscaler["spec"]["scaleTargetRef"];
    std::string_view version = reference["apiVersion"].string_or("");
    std::string_view name = reference["name"].string_or(""), wanted = reference["kind"].string_or("");
    size_t slash = version.find('/');
    std::string_view group = slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
    std::string_view own = slash == std::string_view::npos ? version : version.substr(slash + 1);
    const Kind* kind = core().kinds.by_kind(group, own, wanted);
    if (!kind)
      return {.kind = nullptr,
              .object = {},
              .problem = fmt::format("no matches for kind \"{}\" in group \"{}\"", wanted, group)};
    ObjectPtr object = core().store.find(kind->stored_as, {key.ns, std::string(name)});
    if (!object || !kind->find_subresource("scale"))
      return {.kind = nullptr, .object = {}, .problem = not_found(kind->id(), name).message};
    return {.kind = kind, .object = std::move(object), .problem = {}};
  }

  Task<void> rescale(Place key, Json& object, Scaled scaled, int64_t replicas) {
    int64_t before = scale_of(*scaled.kind, *scaled.object)["spec"]["replicas"].int_or(0);
    Json patch = Json::Object{{"spec", Json::Object{{"replicas", replicas}}}};
    ResourceId resource = scaled.kind->id();
    Outcome<Json> written = co_await actor_.patch(resource, place_of(*scaled.object), std::move(patch), "scale");
    if (!written) {
      able(object, false, "FailedUpdateScale",
           "the HPA controller was unable to update the target scale: " + written.error().message);
      add_after(key, std::chrono::seconds(1));
      co_return;
    }
    object.make("status").make("desiredReplicas") = replicas;
    object.make("status").make("lastScaleTime") = core().now_text();
    able(object, true, "SucceededRescale",
         fmt::format("the HPA controller was able to update the target scale to {}", replicas));
    set(object, "ScaledToZero", false, "NotScaledToZero", "the HPA controller did not scale the workload to zero");
    record_event(core(), object, "Normal", "SuccessfulRescale",
                 fmt::format("New size: {}; reason: Current number of replicas {}", replicas,
                             before > replicas ? "above Spec.MaxReplicas" : "below Spec.MinReplicas"),
                 "horizontal-pod-autoscaler");
  }

  void tell_no_metrics(const std::string& ns, Json& object) {
    NoMetric missing = no_metric(ns, object["spec"]["metrics"].item(0));
    // The real server writes one without a name for each that it cannot get.
    Json::Array none(object["spec"]["metrics"].items().size(), Json(Json::Object{{"type", ""}}));
    object.make("status").make("currentMetrics") = std::move(none);
    set(object, "ScalingActive", false, missing.reason,
        "the HPA was unable to compute the replica count: " + missing.message);
  }

  Task<void> write(Place key, const Json& before, Json object) {
    if (object["status"].same_as(before["status"])) co_return;
    Outcome<Json> written = co_await actor_.update(kAutoscalers, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }
};

}  // namespace

std::unique_ptr<Controller> make_autoscaler_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<AutoscalerController>(server, scope);
}

}  // namespace fairlead::sandbox
