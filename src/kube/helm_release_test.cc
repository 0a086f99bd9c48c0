#include "kube/helm_release.h"

#include <gtest/gtest.h>

namespace fairlead::kube {
namespace {

Json record(std::string_view labels) {
  return Json::parse(fmt::format(R"({{"metadata":{{"namespace":"kof","labels":{{{}}}}}}})", labels)).value();
}

TEST(HelmReleaseTest, IsReadFromItsLabels) {
  std::optional<HelmRelease> release = read_helm_release(record(
      R"("owner":"helm","name":"shop","status":"failed","version":"7","createdAt":"5","modifiedAt":"1794989918")"));
  EXPECT_EQ(release, (HelmRelease{.ns = "kof",
                                  .name = "shop",
                                  .status = "failed",
                                  .revision = 7,
                                  .modified = WallTime(std::chrono::seconds(1794989918))}));
  EXPECT_FALSE(read_helm_release(record(R"("owner":"argo","name":"shop","status":"failed")")));
  EXPECT_FALSE(read_helm_release(record(R"("owner":"helm","status":"failed")")));
  EXPECT_EQ(
      read_helm_release(record(R"("owner":"helm","name":"a","status":"b","version":"x","modifiedAt":"-")"))->revision,
      0);
}

TEST(HelmReleaseTest, OnlyTheNewestRevisionCounts) {
  HelmRelease old{.ns = "a", .name = "x", .status = "superseded", .revision = 9, .modified = {}};
  HelmRelease newest{.ns = "a", .name = "x", .status = "deployed", .revision = 10, .modified = {}};
  HelmRelease other{.ns = "b", .name = "x", .status = "failed", .revision = 1, .modified = {}};
  EXPECT_EQ(newest_revisions({other, newest, old}), (std::vector{newest, other}));
}

TEST(HelmReleaseTest, WhatMendsIt) {
  auto repair = [](std::string status) {
    return HelmRelease{.ns = "kof", .name = "x", .status = status, .modified = {}}.repair();
  };
  EXPECT_EQ(repair("pending-install"), "helm -n kof uninstall x, and install it again");
  EXPECT_EQ(repair("pending-rollback"), "helm -n kof rollback x");
  EXPECT_EQ(repair("failed"),
            "helm -n kof upgrade --install x instead of helm install; or helm -n kof uninstall x first");
}

}  // namespace
}  // namespace fairlead::kube
