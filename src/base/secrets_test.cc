#include "base/secrets.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Secrets, AValueIsHiddenInEveryForm) {
  Secrets secrets;
  secrets.hide("pa\"ss\nword");
  EXPECT_EQ(secrets.without("denied: pa\"ss\nword"), "denied: ***");
  EXPECT_EQ(secrets.without("denied: cGEic3MKd29yZA=="), "denied: ***");
  EXPECT_EQ(secrets.without(R"({"password":"pa\"ss\nword"})"), R"({"password":"***"})");
  EXPECT_EQ(secrets.without("nothing of it"), "nothing of it");
}

TEST(Secrets, TheLongestIsHiddenFirstAndOthersBesideIt) {
  Secrets secrets;
  secrets.hide("secret");
  secrets.hide("secret-and-more");
  EXPECT_EQ(secrets.without("secret-and-more, secret, secretsecret"), "***, ***, ***");
}

TEST(Secrets, LinesOfAKeyAreHiddenOneByOne) {
  Secrets secrets;
  secrets.hide("-----BEGIN KEY-----\nMIIEvQIBADANBg\nend\n");
  EXPECT_EQ(secrets.without("bad key: MIIEvQIBADANBg"), "bad key: ***");
  EXPECT_EQ(secrets.without("the end"), "the end");
}

TEST(Secrets, WhatIsTooShortOrANameIsShown) {
  Secrets secrets;
  secrets.hide("abc");
  secrets.hide(" ab ");
  EXPECT_TRUE(secrets.empty());
  secrets.hide("default");
  secrets.show("default");
  EXPECT_EQ(secrets.without("ConfigMap default/x, ZGVmYXVsdA=="), "ConfigMap default/x, ***");
}

TEST(Secrets, EveryLayerOfAnErrorIsConcealed) {
  Secrets secrets;
  secrets.hide("hunter22");
  Error error =
      Error(ErrorKind::denied, "not accepted: hunter22").because("hunter22 is weak").at("a.yaml:1").next("no");
  EXPECT_EQ(secrets.without(error).report(),
            "error: not accepted: ***\n  because   *** is weak\n  from      a.yaml:1\n  next      no\n");
  EXPECT_EQ(secrets.without(error).kind(), ErrorKind::denied);
}

}  // namespace
}  // namespace fairlead
