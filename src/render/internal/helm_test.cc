#include "render/internal/helm.h"

#include <gmock/gmock.h>

namespace fairlead::render {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(Helm, TellsItsVersion) {
  EXPECT_THAT(read_version("v3.22.0+g1a2b3c\n"), Optional(HelmVersion{.major = 3, .minor = 22}));
  EXPECT_THAT(read_version("v4.3.1"), Optional(HelmVersion{.major = 4, .minor = 3}));
  // A helm that was built by hand.
  EXPECT_THAT(read_version("v4.3"), Optional(HelmVersion{.major = 4, .minor = 3}));
  EXPECT_THAT(read_version("very odd: v3.1.2"), Optional(HelmVersion{.major = 3, .minor = 1}));
  for (std::string_view text : {"", "v", "v3", "v.3", "version", "v99999999999999999999.1"})
    EXPECT_EQ(read_version(text), std::nullopt) << text;
  EXPECT_FALSE(can_look_up({.major = 3, .minor = 12}));
  EXPECT_TRUE(can_look_up({.major = 3, .minor = 13}));
  EXPECT_TRUE(can_look_up({.major = 4, .minor = 0}));
}

const Chart kChart{.chart = "./chart", .release = "shop", .flags = {"--set", "a=b"}};

Target target() {
  return {.ns = "web",
          .kube_version = "v1.37.1",
          .api_versions = {"v1", "v1/Pod"},
          .is_upgrade = true,
          .connection = {"--kube-context", "prod"}};
}

TEST(Helm, ThreeIsToldWhatIsServedEvenIfItAsksTheCluster) {
  EXPECT_THAT(template_command(kChart, target(), {.major = 3, .minor = 22}, Asking::yes),
              ElementsAre("helm", "template", "--include-crds", "--namespace", "web", "--is-upgrade", "--kube-context",
                          "prod", "--dry-run=server", "--kube-version", "v1.37.1", "--api-versions", "v1",
                          "--api-versions", "v1/Pod", "--set", "a=b", "--", "shop", "./chart"));
}

TEST(Helm, FourLearnsFromTheClusterWhatIsServed) {
  EXPECT_THAT(template_command(kChart, target(), {.major = 4, .minor = 3}, Asking::yes),
              ElementsAre("helm", "template", "--include-crds", "--namespace", "web", "--is-upgrade", "--kube-context",
                          "prod", "--dry-run=server", "--take-ownership", "--set", "a=b", "--", "shop", "./chart"));
  EXPECT_THAT(template_command(kChart, target(), {.major = 4, .minor = 3}, Asking::no),
              ElementsAre("helm", "template", "--include-crds", "--namespace", "web", "--is-upgrade", "--kube-context",
                          "prod", "--kube-version", "v1.37.1", "--api-versions", "v1", "--api-versions", "v1/Pod",
                          "--set", "a=b", "--", "shop", "./chart"));
}

TEST(Helm, WithoutAClusterItRendersAsItDoesByItself) {
  EXPECT_THAT(
      template_command(kChart, {.ns = "web"}, {.major = 4, .minor = 3}, Asking::no),
      ElementsAre("helm", "template", "--include-crds", "--namespace", "web", "--set", "a=b", "--", "shop", "./chart"));
}

TEST(Helm, TheUserMaySayHimselfWhetherItAsksTheCluster) {
  EXPECT_TRUE(says_dry_run({"--set", "a=b", "--dry-run=client"}));
  EXPECT_TRUE(says_dry_run({"--validate"}));
  EXPECT_FALSE(says_dry_run({"--set", "dry-run=yes"}));
}

std::string split(std::string_view output) {
  std::string text;
  for (const manifest::Text& one : split_output(output, "./chart"))
    text += fmt::format("[{}]\n{}", one.origin, one.content);
  return text;
}

TEST(Helm, OutputIsTakenApartByItsSources) {
  EXPECT_EQ(split("---\n# Source: shop/templates/web.yaml\nkind: A\n---\n# Source: shop/charts/db/templates/a b.yaml\n"
                  "kind: B\n---\nkind: C\n"),
            "[chart shop, templates/web.yaml]\nkind: A\n"
            "[chart shop, charts/db/templates/a b.yaml]\nkind: B\n---\nkind: C\n");
  // Helm 4 begins with a CRD, without a comment; a separator may have a space behind it.
  EXPECT_EQ(split("kind: A\n--- \n# Source: shop/templates/web.yaml\r\nkind: B"),
            "[chart ./chart]\nkind: A\n[chart shop, templates/web.yaml]\nkind: B");
  EXPECT_EQ(split("---\n# Source: odd\nkind: A\n"), "[chart odd]\nkind: A\n");
}

TEST(Helm, NothingIsMadeOfNothing) {
  EXPECT_EQ(split(""), "");
  EXPECT_EQ(split("\n---\n\n---\n# Source: shop/templates/empty.yaml\n\n"), "");
  EXPECT_EQ(split("---\n# Source: shop/templates/empty.yaml"), "");
}

}  // namespace
}  // namespace fairlead::render
