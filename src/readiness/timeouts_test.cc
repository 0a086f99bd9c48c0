#include "readiness/timeouts.h"

#include <gtest/gtest.h>

namespace fairlead::readiness {
namespace {

using std::chrono::minutes;

TEST(Timeouts, ByGroupAndKind) {
  EXPECT_EQ(default_timeouts("", "Namespace").deletion, minutes(20));
  EXPECT_EQ(default_timeouts("apiextensions.k8s.io", "CustomResourceDefinition").deletion, minutes(15));
  EXPECT_EQ(default_timeouts("", "PersistentVolumeClaim").deletion, minutes(10));
  EXPECT_EQ(default_timeouts("apps", "StatefulSet").deletion, minutes(8));
  EXPECT_EQ(default_timeouts("batch", "Job").deletion, minutes(8));
  EXPECT_EQ(default_timeouts("apps", "Deployment").ready, minutes(11));
  Timeouts usual{.ready = minutes(5), .deletion = minutes(5)};
  EXPECT_EQ(default_timeouts("", "ConfigMap"), usual);
  EXPECT_EQ(default_timeouts("serving.knative.dev", "Service"), usual);
}

}  // namespace
}  // namespace fairlead::readiness
