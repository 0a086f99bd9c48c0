#include "sandbox/kinds/autoscaling.h"

#include <gtest/gtest.h>

namespace fairlead::sandbox {
namespace {

Json read(std::string_view text) {
  Result<Json> json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

TEST(Autoscaling, WhatV1HasNoFieldForTravelsInAnnotations) {
  Json object = read(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"x"},
    "spec":{"maxReplicas":3,"minReplicas":1,"scaleTargetRef":{"kind":"Deployment","name":"web"},
      "behavior":{"scaleDown":{"stabilizationWindowSeconds":60,"selectPolicy":"Max",
        "policies":[{"type":"Pods","value":4,"periodSeconds":15}]}},
      "metrics":[{"type":"Pods","pods":{"metric":{"name":"hits"},"target":{"type":"AverageValue","averageValue":"5"}}},
        {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}]},
    "status":{"currentMetrics":null,"desiredReplicas":0}})");
  Json old = autoscaler_in(object, "autoscaling/v1");
  EXPECT_EQ(old["spec"]["targetCPUUtilizationPercentage"], Json(70));
  EXPECT_EQ(old["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"].string_or(""),
            R"([{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"5"}}])");
  EXPECT_EQ(old["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/behavior"].string_or(""),
            R"({"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max",)"
            R"("Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null}})");
  Json again = autoscaler_in(old, "autoscaling/v2");
  EXPECT_TRUE(again["metadata"].same_as(object["metadata"])) << again.dump();
  EXPECT_TRUE(again["spec"]["metrics"].same_as(object["spec"]["metrics"])) << again.dump();
  EXPECT_EQ(again["spec"]["behavior"]["scaleDown"]["policies"].item(0)["value"], Json(4));
}

TEST(Autoscaling, AnnotationsThatDoNotFitSayNothing) {
  Json object = read(R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"x",
      "annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":7,\"pods\":{\"metricName\":[]}}]"}},
    "spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"web"}}})");
  Json converted = autoscaler_in(object, "autoscaling/v2");
  Json wanted = read(
      R"([{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}}}])");
  EXPECT_TRUE(converted["spec"]["metrics"].same_as(wanted)) << converted.dump();
}

}  // namespace
}  // namespace fairlead::sandbox
