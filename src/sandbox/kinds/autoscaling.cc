#include "sandbox/kinds/autoscaling.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "schema/defaults/defaults.h"
#include "schema/defaults/stored.h"
#include "schema/validation/decode.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::array<std::string_view, 6> kRoundTrip = {kMetrics,
                                                        kCurrentMetrics,
                                                        kConditions,
                                                        kBehavior,
                                                        "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
                                                        "autoscaling.alpha.kubernetes.io/scale-up-tolerance"};
constexpr int64_t kDefaultUtilization = 80;

// Where a field of a metric in v1 is in v2: in `inner`, below `outer` unless that is empty.
struct MetricPlace {
  std::string_view metric;
  std::string_view field;  // in v1
  std::string_view outer, inner;
  bool always;  // a quantity that v1 writes even if there is none
};
using Places = std::array<MetricPlace, 19>;

constexpr Places kSpecs = {{{"object", "target", "", "describedObject", false},
                            {"object", "metricName", "metric", "name", false},
                            {"object", "targetValue", "target", "value", true},
                            {"object", "selector", "metric", "selector", false},
                            {"object", "averageValue", "target", "averageValue", false},
                            {"pods", "metricName", "metric", "name", false},
                            {"pods", "targetAverageValue", "target", "averageValue", true},
                            {"pods", "selector", "metric", "selector", false},
                            {"resource", "name", "", "name", false},
                            {"resource", "targetAverageUtilization", "target", "averageUtilization", false},
                            {"resource", "targetAverageValue", "target", "averageValue", false},
                            {"containerResource", "name", "", "name", false},
                            {"containerResource", "targetAverageUtilization", "target", "averageUtilization", false},
                            {"containerResource", "targetAverageValue", "target", "averageValue", false},
                            {"containerResource", "container", "", "container", false},
                            {"external", "metricName", "metric", "name", false},
                            {"external", "metricSelector", "metric", "selector", false},
                            {"external", "targetValue", "target", "value", false},
                            {"external", "targetAverageValue", "target", "averageValue", false}}};

constexpr Places kStatuses = {
    {{"object", "target", "", "describedObject", false},
     {"object", "metricName", "metric", "name", false},
     {"object", "currentValue", "current", "value", true},
     {"object", "selector", "metric", "selector", false},
     {"object", "averageValue", "current", "averageValue", false},
     {"pods", "metricName", "metric", "name", false},
     {"pods", "currentAverageValue", "current", "averageValue", true},
     {"pods", "selector", "metric", "selector", false},
     {"resource", "name", "", "name", false},
     {"resource", "currentAverageUtilization", "current", "averageUtilization", false},
     {"resource", "currentAverageValue", "current", "averageValue", true},
     {"containerResource", "name", "", "name", false},
     {"containerResource", "currentAverageUtilization", "current", "averageUtilization", false},
     {"containerResource", "currentAverageValue", "current", "averageValue", true},
     {"containerResource", "container", "", "container", false},
     {"external", "metricName", "metric", "name", false},
     {"external", "metricSelector", "metric", "selector", false},
     {"external", "currentValue", "current", "value", true},
     {"external", "currentAverageValue", "current", "averageValue", false}}};

Json metric_to_v1(const Json& metric, const Places& places) {
  Json out = Json::Object{{"type", metric["type"]}};
  for (const MetricPlace& place : places) {
    const Json& from = metric[place.metric];
    if (!from.is_object()) continue;
    const Json& value = place.outer.empty() ? from[place.inner] : from[place.outer][place.inner];
    if (!value.is_null()) out.make(place.metric).make(place.field) = value;
    else if (place.always) out.make(place.metric).make(place.field) = "0";
  }
  return out;
}

Json metric_to_v2(const Json& metric, const Places& places) {
  Json out = Json::Object{{"type", metric["type"]}};
  for (const MetricPlace& place : places) {
    const Json& from = metric[place.metric];
    if (!from.is_object() || from[place.field].is_null()) continue;
    Json& to = out.make(place.metric);
    (place.outer.empty() ? to : to.make(place.outer)).make(place.inner) = from[place.field];
  }
  if (&places != &kSpecs) return out;
  for (Json::Member& member : *out.if_object()) {
    if (!member.value.is_object()) continue;
    Json& target = member.value.make("target");
    bool average = target.contains("averageValue"), value = target.contains("value");
    std::string_view type = "AverageValue";
    if (target.contains("averageUtilization")) type = "Utilization";
    else if (member.key == "object" ? !average : member.key == "external" && value) type = "Value";
    target.make("type") = type;
  }
  return out;
}

bool is_processor_use(const Json& metric) {
  return metric["type"].string_or("") == "Resource" && metric["resource"]["name"].string_or("") == "cpu";
}

Json processor_target(const Json& utilization) {
  return Json::Object{
      {"type", "Resource"},
      {"resource",
       Json::Object{{"name", "cpu"},
                    {"target", Json::Object{{"type", "Utilization"}, {"averageUtilization", utilization}}}}}};
}

char cased(char letter, bool capital) {
  auto byte = static_cast<unsigned char>(letter);
  return static_cast<char>(capital ? std::toupper(byte) : std::tolower(byte));
}

// The server writes its own type there, whose fields begin with a capital and are null where there is nothing.
Json recased(const Json& value, bool capital) {
  if (value.is_array()) {
    Json::Array out;
    for (const Json& item : value.items()) out.push_back(recased(item, capital));
    return out;
  }
  if (!value.is_object()) return value;
  Json::Object out;
  for (const Json::Member& member : value.members()) {
    if (member.value.is_null()) continue;
    std::string key = member.key;
    if (!key.empty()) key[0] = cased(key[0], capital);
    out.append(std::move(key), recased(member.value, capital));
  }
  return out;
}

Json behavior_to_v1(const Json& behavior) {
  Json::Object out;
  for (std::string_view direction : {"scaleUp", "scaleDown"}) {
    const Json& rules = behavior[direction];
    Json shown;
    if (rules.is_object()) {
      Json capital = recased(rules, true);
      for (std::string_view field : {"StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance"})
        shown.make(field) = capital[field];
      for (size_t i = 0; i < capital["Policies"].items().size(); ++i) {
        const Json& policy = capital["Policies"].items()[i];
        (*shown.make("Policies").if_array())[i] = Json::Object{
            {"Type", policy["Type"]}, {"Value", policy["Value"]}, {"PeriodSeconds", policy["PeriodSeconds"]}};
      }
    }
    out.append(direction == "scaleUp" ? "ScaleUp" : "ScaleDown", std::move(shown));
  }
  return out;
}

Json formed(std::string_view version, Json object) {
  schema::SchemaPtr schema = schema::builtin_schema("autoscaling", version, "HorizontalPodAutoscaler");
  return schema::with_defaults(*schema, schema::stored_form(*schema, object));
}

void drop_round_trip(Json& object) {
  // A part of an object, as an owner of fields has it, may have no metadata.
  if (!object["metadata"].is_object()) return;
  Json* annotations = object.make("metadata").if_object()->find("annotations");
  if (!annotations || !annotations->is_object()) return;
  for (std::string_view key : kRoundTrip) annotations->if_object()->erase(key);
  if (annotations->members().empty()) object.make("metadata").if_object()->erase("annotations");
}

Json to_v1(const Json& from) {
  const Json &spec = from["spec"], &status = from["status"];
  Json object = Json::Object{{"apiVersion", "autoscaling/v1"}, {"kind", from["kind"]}, {"metadata", from["metadata"]}};
  drop_round_trip(object);
  for (std::string_view field : {"scaleTargetRef", "minReplicas", "maxReplicas"})
    if (!spec[field].is_null()) object.make("spec").make(field) = spec[field];
  for (std::string_view field : {"observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"})
    if (!status[field].is_null()) object.make("status").make(field) = status[field];

  auto annotate = [&](std::string_view key, const Json& value) {
    object.make("metadata").make("annotations").make(key) = value.dump();
  };
  Json::Array others, current;
  for (const Json& metric : spec["metrics"].items()) {
    const Json& utilization = metric["resource"]["target"]["averageUtilization"];
    if (!is_processor_use(metric) || utilization.is_null()) others.push_back(metric_to_v1(metric, kSpecs));
    else if (!object["spec"].contains("targetCPUUtilizationPercentage"))
      object.make("spec").make("targetCPUUtilizationPercentage") = utilization;
  }
  for (const Json& metric : status["currentMetrics"].items()) {
    current.push_back(metric_to_v1(metric, kStatuses));
    const Json& utilization = metric["resource"]["current"]["averageUtilization"];
    if (is_processor_use(metric) && !utilization.is_null())
      object.make("status").make("currentCPUUtilizationPercentage") = utilization;
  }
  if (!others.empty()) annotate(kMetrics, others);
  if (!current.empty()) annotate(kCurrentMetrics, current);
  if (spec["behavior"].is_object()) annotate(kBehavior, behavior_to_v1(spec["behavior"]));
  if (!status["conditions"].items().empty()) annotate(kConditions, status["conditions"]);
  return formed("v1", std::move(object));
}

Json to_v2(const Json& from, bool with_annotations) {
  const Json &spec = from["spec"], &status = from["status"];
  Json object = Json::Object{{"apiVersion", "autoscaling/v2"}, {"kind", from["kind"]}, {"metadata", from["metadata"]}};
  drop_round_trip(object);
  for (std::string_view field : {"scaleTargetRef", "minReplicas", "maxReplicas"})
    if (!spec[field].is_null()) object.make("spec").make(field) = spec[field];
  for (std::string_view field : {"observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"})
    if (!status[field].is_null()) object.make("status").make(field) = status[field];

  auto annotation = [&](std::string_view key) {
    std::string_view text = from["metadata"]["annotations"][key].string_or("");
    Result<Json> value = with_annotations && !text.empty() ? Json::parse(text) : Json();
    return value ? *std::move(value) : Json();
  };
  Json::Array metrics, current;
  for (const Json& metric : annotation(kMetrics).items()) metrics.push_back(metric_to_v2(metric, kSpecs));
  const Json& utilization = spec["targetCPUUtilizationPercentage"];
  if (!utilization.is_null()) metrics.push_back(processor_target(utilization));
  // v1 has a default that depends on what is in the annotations.
  if (metrics.empty()) metrics.push_back(processor_target(kDefaultUtilization));
  object.make("spec").make("metrics") = std::move(metrics);
  for (const Json& metric : annotation(kCurrentMetrics).items()) current.push_back(metric_to_v2(metric, kStatuses));
  if (const Json& used = status["currentCPUUtilizationPercentage"]; current.empty() && !used.is_null())
    current.emplace_back(Json::Object{
        {"type", "Resource"},
        {"resource", Json::Object{{"name", "cpu"}, {"current", Json::Object{{"averageUtilization", used}}}}}});
  if (!current.empty()) object.make("status").make("currentMetrics") = std::move(current);
  if (Json behavior = recased(annotation(kBehavior), false); !behavior.members().empty())
    object.make("spec").make("behavior") = std::move(behavior);
  if (Json conditions = annotation(kConditions); conditions.is_array())
    object.make("status").make("conditions") = std::move(conditions);
  return object;
}

}  // namespace

bool is_autoscaler(const Kind& kind) { return kind.id() == ResourceId{"autoscaling", "horizontalpodautoscalers"}; }

Json autoscaler_in(const Json& object, std::string_view api_version) {
  std::string_view from = object["apiVersion"].string_or("");
  if (from == api_version) return object;
  if (api_version == "autoscaling/v1") return to_v1(object);
  Json converted = to_v2(object, true);
  // Annotations are anybody's text: where they do not fit, they say nothing.
  schema::SchemaPtr schema = schema::builtin_schema("autoscaling", "v2", "HorizontalPodAutoscaler");
  if (schema::decode(*schema, converted).error) converted = to_v2(object, false);
  return formed("v2", std::move(converted));
}

}  // namespace fairlead::sandbox
