#include "config/config.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "base/temp_folder_testing.h"

namespace fairlead::config {
namespace {

using testing::ElementsAre;
using testing::Pair;

Config parsed(std::string_view text, const std::string& file = "fairlead.yaml") {
  auto config = parse(text, file);
  EXPECT_TRUE(config) << (config ? "" : config.error().front().report());
  return config ? *std::move(config) : Config();
}

std::string errors_of(std::string_view text) {
  auto config = parse(text, "fairlead.yaml");
  if (config) return "no error";
  std::string reports;
  for (const Error& error : config.error()) reports += error.report();
  return reports;
}

TEST(Config, Everything) {
  Config config = parsed(R"(# The shop.
name: shop
namespace: web
contexts: [staging, prod-*]
sources:
- file: k8s/
- file: https://example.com/x.yaml
- kustomize: overlays/prod
- chart: ./chart
  release: front
  values: [values.yaml, /etc/values.yaml]
  flags: [--set, a=b]
- chart: oci://example.com/db
recursive: true
prune: true
createNamespace: false
timeout: 20m
timeoutFor: {Job: 1h}
)",
                         "deploy/fairlead.yaml");
  EXPECT_EQ(config.file, "deploy/fairlead.yaml");
  EXPECT_EQ(config.name, "shop");
  EXPECT_EQ(config.ns, "web");
  EXPECT_THAT(config.contexts, ElementsAre("staging", "prod-*"));
  EXPECT_EQ(config.contexts_at, "deploy/fairlead.yaml:4");
  EXPECT_THAT(config.files, ElementsAre("deploy/k8s/", "https://example.com/x.yaml"));
  EXPECT_THAT(config.kustomizations, ElementsAre("deploy/overlays/prod"));
  EXPECT_THAT(config.charts,
              ElementsAre(Chart{.chart = "./deploy/chart",
                                .release = "front",
                                .flags = {"--values=deploy/values.yaml", "--values=/etc/values.yaml", "--set", "a=b"}},
                          Chart{.chart = "oci://example.com/db", .release = "", .flags = {}}));
  EXPECT_EQ(config.recursive, true);
  EXPECT_EQ(config.prune, true);
  EXPECT_EQ(config.create_namespace, false);
  EXPECT_EQ(config.timeout, "20m");
  EXPECT_THAT(config.timeout_for, ElementsAre(Pair("Job", "1h")));
  EXPECT_TRUE(config.has_sources());
}

TEST(Config, WhatIsNotSaidIsEmpty) {
  Config config = parsed("name: shop\n");
  EXPECT_FALSE(config.has_sources());
  EXPECT_EQ(config.prune, std::nullopt);
  EXPECT_TRUE(config.contexts.empty());
  EXPECT_EQ(config.contexts_at, "");
}

TEST(Config, PathsAreRelativeToTheFile) {
  EXPECT_THAT(parsed("sources: [{file: a.yaml}, {file: ../b}, {file: /c}, {file: '-'}]").files,
              ElementsAre("a.yaml", "../b", "/c", "-"));
  EXPECT_THAT(parsed("sources: [{file: a.yaml}, {file: ../b}]", "x/y/fairlead.yaml").files,
              ElementsAre("x/y/a.yaml", "x/b"));
  EXPECT_THAT(parsed("sources: [{kustomize: -x}]").kustomizations, ElementsAre("./-x"));
}

TEST(Config, AChartIsAPathIfItIsThere) {
  TempFolder temp;
  temp.write("charts/shop/Chart.yaml", "");
  std::string file = temp.path_of("fairlead.yaml");
  EXPECT_EQ(parsed("sources: [{chart: charts/shop}]", file).charts[0].chart, temp.path_of("charts/shop"));
  EXPECT_EQ(parsed("sources: [{chart: charts/other}]", file).charts[0].chart, "charts/other") << "of a repository";
  EXPECT_EQ(parsed("sources: [{chart: ./charts/other}]", file).charts[0].chart, temp.path_of("charts/other"));
}

TEST(Config, UnknownKeysAreErrorsWithTheirLine) {
  EXPECT_EQ(
      errors_of("# a comment\nname: shop\nnamspace: web\nsources:\n- file: x\n  value: [y]\nzebra: 1\n"),
      "error: unknown key namspace; did you mean namespace?\n"
      "  from      fairlead.yaml:3\n"
      "  next      the keys here are name, namespace, contexts, sources, recursive, prune, createNamespace, timeout, "
      "timeoutFor\n"
      "error: unknown key zebra\n"
      "  from      fairlead.yaml:7\n"
      "  next      the keys here are name, namespace, contexts, sources, recursive, prune, createNamespace, timeout, "
      "timeoutFor\n"
      "error: unknown key value; did you mean values?\n"
      "  from      fairlead.yaml:6\n"
      "  next      the keys here are file, kustomize, chart, release, values, flags\n");
}

TEST(Config, ValuesOfTheWrongTypeAreErrorsWithTheirLine) {
  EXPECT_EQ(errors_of("name: 1\nnamespace: ''\ncontexts: prod\nprune: 'yes'\ntimeout: 20\ntimeoutFor: 1h\n"),
            "error: name must be a string: put it in quotes\n  from      fairlead.yaml:1\n"
            "error: namespace is empty\n  from      fairlead.yaml:2\n"
            "error: contexts must be a list of strings\n  from      fairlead.yaml:3\n"
            "error: prune must be true or false\n  from      fairlead.yaml:4\n"
            "error: timeout must be a string: put it in quotes\n  from      fairlead.yaml:5\n"
            "error: timeoutFor must be a mapping from kinds to durations\n  from      fairlead.yaml:6\n");
  EXPECT_EQ(errors_of("contexts:\n- a\n- 1\n- ~\n"),
            "error: contexts[1] must be a string: put it in quotes\n  from      fairlead.yaml:3\n"
            "error: contexts[2] is empty\n  from      fairlead.yaml:4\n");
}

TEST(Config, ASourceIsOneThing) {
  EXPECT_EQ(errors_of("sources:\n- {file: a, chart: b}\n- {}\n- k8s/\n- {file: a, release: b}\n- chart:\n- file: ''\n"),
            "error: sources[0] must have exactly one of file, kustomize and chart\n  from      fairlead.yaml:2\n"
            "error: sources[1] must have exactly one of file, kustomize and chart\n  from      fairlead.yaml:3\n"
            "error: sources[2] must be a mapping with file, kustomize or chart\n  from      fairlead.yaml:4\n"
            "  next      sources: [{file: k8s/}]\n"
            "error: sources[3].release is only for a chart\n  from      fairlead.yaml:5\n"
            "error: sources[4].chart is empty\n  from      fairlead.yaml:6\n"
            "error: sources[5].file is empty\n  from      fairlead.yaml:7\n");
  EXPECT_EQ(errors_of("sources: k8s/\n"),
            "error: sources must be a list\n  from      fairlead.yaml:1\n  next      sources: [{file: k8s/}]\n");
}

TEST(Config, WhatContradictsItself) {
  EXPECT_EQ(errors_of("prune: true\n"),
            "error: prune needs the name of the bundle\n  from      fairlead.yaml:1\n  next      add the key name\n");
  EXPECT_EQ(errors_of("contexts: []\n"),
            "error: contexts is empty: the bundle could not be used with any context\n  from      fairlead.yaml:1\n"
            "  next      name a context, or remove the key\n");
}

TEST(Config, WhatIsNoMapping) {
  EXPECT_EQ(
      errors_of("- a\n"),
      "error: the file must be a mapping of keys such as name and sources, not a list\n  from      fairlead.yaml:1\n");
  EXPECT_EQ(
      errors_of(""),
      "error: the file must be a mapping of keys such as name and sources, not null\n  from      fairlead.yaml:1\n");
  EXPECT_EQ(
      errors_of("name: a\n---\nname: b\n"),
      "error: a second document starts here; only one is expected\n    ---\n    ^\n  from      fairlead.yaml:2:1\n");
  EXPECT_EQ(errors_of("name: a\nname: b\n").substr(0, 6), "error:");
  EXPECT_EQ(errors_of(std::string(2 << 20, ' ')), "error: fairlead.yaml is larger than 1 MiB\n");
}

TEST(Config, ErrorsAreFew) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("key{}: 1\n", i);
  EXPECT_EQ(parse(text, "fairlead.yaml").error().size(), 20U);
}

TEST(Config, HostileTextNeverReachesTheTerminalRaw) {
  EXPECT_EQ(errors_of("\"\\e[31m\": 1\n").find('\033'), std::string::npos);
  rc::check("any text is either a configuration or has errors", [](const std::string& text) {
    auto config = parse(text, "f");
    RC_ASSERT(config || !config.error().empty());
  });
}

}  // namespace
}  // namespace fairlead::config
