#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "draw/formats.h"
#include "draw/internal/groups.h"
#include "draw/internal/layout.h"
#include "draw/svg.h"
#include "manifest/manifest_testing.h"

namespace fairlead::draw {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Given {
  manifest::Bundle bundle;
  graph::Graph graph;
  Picture picture;
};

Given given(std::string_view yaml) {
  manifest::Bundle bundle = manifest::bundle_of(yaml, "b.yaml");
  graph::Graph graph = graph::Graph::build(bundle, {});
  Picture picture = picture_of(graph, bundle);
  return {std::move(bundle), std::move(graph), std::move(picture)};
}

constexpr std::string_view kWidgets = R"(
apiVersion: example.com/v1
kind: Widget
metadata: {name: first, namespace: team}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: team}
spec: {ports: [{port: 443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- name: v.example.com
  clientConfig: {service: {namespace: team, name: webhook}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]
  sideEffects: None
  admissionReviewVersions: [v1]
)";

TEST(Draw, TextTellsEveryNeedWithItsReasonInAnOrderThatWorks) {
  EXPECT_EQ(as_text(given(kWidgets).picture), R"(5 objects, 1 guard, 6 needs

Namespace team  b.yaml:6

CustomResourceDefinition widgets.example.com  b.yaml:10

ValidatingWebhookConfiguration widgets  b.yaml:24

Service team/webhook  b.yaml:19
  needs Namespace team — stored: its namespace

webhook v.example.com (ValidatingWebhookConfiguration widgets)
  needs ValidatingWebhookConfiguration widgets — stored: its configuration
  needs Service team/webhook — stored: its Service

Widget team/first  b.yaml:2
  needs Namespace team — stored: its namespace
  needs CustomResourceDefinition widgets.example.com — ready: its CRD
  needs webhook v.example.com (ValidatingWebhookConfiguration widgets) — ready: webhook v.example.com guards it
)");
}

TEST(Draw, WhyIsATreeToTheRoot) {
  Given it = given(kWidgets);
  Result<uint32_t> box = find_box(it.picture, "widget/first");
  ASSERT_TRUE(box) << box.error().report();
  EXPECT_EQ(as_tree(part_behind(it.picture, *box)), R"(Widget team/first  b.yaml:2
├─ Namespace team  b.yaml:6 — stored: its namespace
├─ CustomResourceDefinition widgets.example.com  b.yaml:10 — ready: its CRD
└─ webhook v.example.com (ValidatingWebhookConfiguration widgets) — ready: webhook v.example.com guards it
   ├─ ValidatingWebhookConfiguration widgets  b.yaml:24 — stored: its configuration
   └─ Service team/webhook  b.yaml:19 — stored: its Service
      └─ Namespace team  b.yaml:6 — stored: its namespace
)");
}

TEST(Draw, WhyTellsWhatIsSharedOnce) {
  Picture picture;
  for (const char* name : {"a", "b", "c", "d", "e"}) picture.boxes.push_back({.text = name});
  picture.arrows = {{.from = 0, .to = 1, .hard = true, .reason = "r"},
                    {.from = 0, .to = 2, .hard = true, .reason = "r"},
                    {.from = 1, .to = 3, .reason = "r"},
                    {.from = 2, .to = 3, .level = graph::Level::ready, .reason = "r"},
                    {.from = 3, .to = 4, .hard = true, .reason = "r"}};
  EXPECT_EQ(as_tree(picture), R"(a
├─ b — stored: r
│  └─ d — stored, soft: r
│     └─ e — stored: r
└─ c — stored: r
   └─ d — ready, soft: r (see above)
)");
}

TEST(Draw, WhatWaitsForNothingSaysSo) {
  Given it = given(kWidgets);
  EXPECT_EQ(as_tree(part_behind(it.picture, *find_box(it.picture, "ns/team"))),
            "Namespace team  b.yaml:6\nwaits for nothing\n");
}

TEST(Draw, ObjectsAreFoundAsPeopleNameThem) {
  Given it = given(kWidgets);
  for (const char* what : {"Widget/first", "widgets/first", "Widget.example.com/first", "widget/team/first"}) {
    Result<uint32_t> box = find_box(it.picture, what);
    ASSERT_TRUE(box) << what;
    EXPECT_EQ(it.picture.boxes[*box].text, "Widget team/first");
  }
  auto error = [&](std::string_view what) { return find_box(it.picture, what).error().report(); };
  EXPECT_EQ(error("widget/second"),
            "error: the manifests have no widget/second\n"
            "  because   they have Widget team/first\n");
  EXPECT_EQ(error("Deployment/web"), "error: the manifests have no Deployment/web\n");
  for (const char* what : {"first", "/first", "Widget/", "Widget//first", "Widget/a/b/c"})
    EXPECT_EQ(error(what), fmt::format("error: \"{}\" names no object\n"
                                       "  next      write it as KIND/NAME or KIND/NAMESPACE/NAME, such as "
                                       "Deployment/web\n",
                                       what));
}

TEST(Draw, ANameThatMeansSeveralObjectsIsAnError) {
  Given it = given(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: one}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: two}
)");
  EXPECT_EQ(find_box(it.picture, "cm/a").error().report(),
            "error: cm/a can mean several objects: ConfigMap one/a, ConfigMap two/a\n"
            "  next      write it as KIND.GROUP/NAMESPACE/NAME\n");
  EXPECT_TRUE(find_box(it.picture, "cm/two/a"));
}

Picture hostile() {
  Picture picture;
  picture.boxes = {{.kind = "K", .name = "<b>&\"'\x1b[31m", .text = "K <b>&\"'\x1b[31m\\"},
                   {.type = graph::Node::Kind::guard, .kind = "webhook", .name = "v", .text = "webhook v"}};
  picture.arrows = {{.from = 0, .to = 1, .reason = "it's \"so\" | <i>"}};
  return picture;
}

TEST(Draw, DotIsEscaped) {
  EXPECT_EQ(as_dot(hostile()), R"(digraph fairlead {
  rankdir=RL;
  node [fontname="sans-serif"];
  n0 [label="K <b>&\"'\\x1b[31m\\", shape=box, style=rounded];
  n1 [label="webhook v", shape=hexagon];
  n0 -> n1 [label="it's \"so\" | <i>", style=dashed];
}
)");
}

TEST(Draw, MermaidIsEscaped) {
  EXPECT_EQ(as_mermaid(hostile()), R"(flowchart RL
  n0["K #60;b#62;#38;#34;#39;#92;x1b#91;31m#92;"]
  n1{{"webhook v"}}
  n0 -.->|"it#39;s #34;so#34; #124; #60;i#62;"| n1
)");
}

TEST(Draw, SvgIsEscaped) {
  std::string svg = as_svg(hostile());
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&amp;&quot;&#39;\\x1b[31m"));
  EXPECT_THAT(svg, HasSubstr("it&#39;s &quot;so&quot; | &lt;i&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
}

TEST(Draw, JsonHasEveryNodeAndNeed) {
  Given it = given(kWidgets);
  Json json = as_json(it.picture);
  EXPECT_EQ(json["schemaVersion"], Json(1));
  EXPECT_EQ(json["nodes"].items().size(), 6u);
  EXPECT_EQ(json["needs"].items().size(), 6u);
  EXPECT_EQ(json["nodes"].item(0).dump(),
            R"({"id":0,"type":"object","text":"Widget team/first","group":"example.com","kind":"Widget",)"
            R"("namespace":"team","name":"first","source":"b.yaml:2"})");
  EXPECT_EQ(json["nodes"].item(5).dump(),
            R"x({"id":5,"type":"guard","text":"webhook v.example.com (ValidatingWebhookConfiguration widgets)",)x"
            R"("guard":"webhook","name":"v.example.com","failsOpen":false,"inCluster":false})");
  EXPECT_EQ(json["needs"].item(1).dump(), R"({"from":0,"to":2,"level":"ready","hard":true,"reason":"its CRD"})");
}

TEST(Draw, NeedsThatFollowFromOthersAreLeftOutOfDrawings) {
  Picture picture;
  picture.boxes.resize(4);
  picture.arrows = {{.from = 0, .to = 1}, {.from = 0, .to = 2}, {.from = 1, .to = 2}, {.from = 3, .to = 2}};
  Picture less = without_implied(picture);
  std::vector<std::pair<uint32_t, uint32_t>> left;
  for (const Arrow& arrow : less.arrows) left.emplace_back(arrow.from, arrow.to);
  EXPECT_THAT(left, testing::ElementsAre(std::pair(0u, 1u), std::pair(1u, 2u), std::pair(3u, 2u)));
}

// A picture of a namespace with `count` ConfigMaps in it, each of which is needed by a Deployment of its own.
Picture many(uint32_t count) {
  Picture picture;
  picture.boxes.push_back({.kind = "Namespace", .name = "team", .text = "Namespace team"});
  for (uint32_t i = 0; i < count; ++i) {
    picture.boxes.push_back(
        {.kind = "ConfigMap", .name = fmt::format("team/c{}", i), .text = fmt::format("ConfigMap team/c{}", i)});
    picture.boxes.push_back(
        {.kind = "Deployment", .name = fmt::format("team/d{}", i), .text = fmt::format("Deployment team/d{}", i)});
    picture.arrows.push_back({.from = 2 * i + 1, .to = 0, .hard = true, .reason = "its namespace"});
    picture.arrows.push_back({.from = 2 * i + 2, .to = 2 * i + 1, .reason = "volume"});
  }
  return picture;
}

TEST(Draw, LargePicturesAreGrouped) {
  Picture small = many(10);
  EXPECT_EQ(grouped(small, 200).boxes.size(), small.boxes.size());
  Picture large = grouped(many(1000), 200);
  ASSERT_EQ(large.boxes.size(), 3u);
  EXPECT_EQ(large.boxes[1].name, "team/c0 and 999 more");
  EXPECT_EQ(large.arrows.size(), 2u);
  EXPECT_THAT(as_svg(many(1000)), HasSubstr("Objects that are alike share a box."));
}

TEST(Draw, BoxesThatNeedTheSameAreGroupedFirst) {
  Picture picture = many(0);
  for (uint32_t i = 0; i < 300; ++i) {
    picture.boxes.push_back({.kind = "Secret", .name = fmt::format("team/s{}", i), .text = "s"});
    picture.arrows.push_back({.from = i + 1, .to = 0, .hard = true, .reason = "its namespace"});
  }
  picture.boxes.push_back({.kind = "Secret", .name = "team/other", .text = "other"});
  Picture large = grouped(picture, 200);
  ASSERT_EQ(large.boxes.size(), 3u);
  EXPECT_EQ(large.boxes[2].name, "team/other");
}

TEST(Layout, LinesRunToTheRightAndBoxesDoNotOverlap) {
  LayoutInput input;
  // Four layers of five boxes; each box has a line to two of the next layer, and the first layer one to the last.
  for (uint32_t i = 0; i < 20; ++i) {
    input.layers.push_back(i / 5);
    input.widths.push_back(100);
    input.heights.push_back(40);
    if (i < 15) input.lines.emplace_back(i, (i / 5 + 1) * 5 + (i * 3) % 5);
    if (i < 15) input.lines.emplace_back(i, (i / 5 + 1) * 5 + (i * 7 + 2) % 5);
    if (i < 5) input.lines.emplace_back(i, 15 + (i * 2) % 5);
  }
  Layout layout = lay_out(input);
  for (uint32_t a = 0; a < 20; ++a) {
    EXPECT_GE(layout.corners[a].y, 0);
    EXPECT_LE(layout.corners[a].y + 40, layout.height + 0.001);
    for (uint32_t b = a + 1; b < 20; ++b)
      if (input.layers[a] == input.layers[b])
        EXPECT_GE(std::abs(layout.corners[a].y - layout.corners[b].y), 40 + input.gap_between_boxes - 0.001);
  }
  for (size_t line = 0; line < input.lines.size(); ++line)
    for (size_t i = 1; i < layout.routes[line].size(); ++i)
      EXPECT_LE(layout.routes[line][i - 1].x, layout.routes[line][i].x);
}

TEST(Layout, AChainIsStraight) {
  LayoutInput input{.layers = {0, 1, 2}, .widths = {50, 90, 70}, .heights = {40, 22, 40}, .lines = {{0, 1}, {1, 2}}};
  Layout layout = lay_out(input);
  for (const std::vector<Point>& route : layout.routes) EXPECT_DOUBLE_EQ(route.front().y, route.back().y);
  EXPECT_DOUBLE_EQ(layout.width, 50 + 90 + 70 + 2 * input.gap_between_layers);
}

TEST(Layout, LinesToTheSameBoxEndAtDifferentHeights) {
  LayoutInput input{
      .layers = {0, 0, 0, 1}, .widths = {9, 9, 9, 9}, .heights = {40, 40, 40, 40}, .lines = {{2, 3}, {0, 3}, {1, 3}}};
  Layout layout = lay_out(input);
  EXPECT_LT(layout.routes[1].back().y, layout.routes[2].back().y);
  EXPECT_LT(layout.routes[2].back().y, layout.routes[0].back().y);
}

TEST(Layout, NothingIsLaidOutToo) {
  Layout layout = lay_out({});
  EXPECT_TRUE(layout.corners.empty());
  EXPECT_THAT(as_svg({}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace fairlead::draw
