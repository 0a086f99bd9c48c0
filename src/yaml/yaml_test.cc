#include "yaml/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::yaml {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// What people see of the first error.
std::string report(std::string_view text, Limits limits = {}) {
  Stream stream(text, "k8s/web.yaml", limits);
  while (auto document = stream.next())
    if (!*document) return document->error().report();
  return "no error";
}

TEST(Yaml, AnErrorShowsTheLineWithACaret) {
  EXPECT_EQ(report("a: 1\n---\n# second\nb:\n  c: d: e\n"),
            R"(error: not valid YAML: a ':' is not allowed here; quote the value, or check the indentation
      c: d: e
          ^
  from      k8s/web.yaml:5:7
)");
  EXPECT_EQ(report("spec:\n    a: 1\n  b: 2\n"),
            R"(error: not valid YAML: expected a key here; check the indentation (the object begins in line 1)
      b: 2
      ^
  from      k8s/web.yaml:3:3
)");
  EXPECT_EQ(report("a:\n  - b\n  c: 1\n"),
            R"(error: not valid YAML: expected a '-' here; check the indentation (the array begins in line 2)
      c: 1
      ^
  from      k8s/web.yaml:3:3
)");
  EXPECT_EQ(report("a:\n\tb: 1\n"), R"(error: not valid YAML: a tab cannot indent; use spaces
     b: 1
    ^
  from      k8s/web.yaml:2:1
)");
  EXPECT_EQ(report("user: @me\n"), R"(error: not valid YAML: a value cannot start with '@'; quote it
    user: @me
          ^
  from      k8s/web.yaml:1:7
)");
  EXPECT_EQ(report("a: 1\nb: \"text\nc: 2\n"), R"(error: not valid YAML: the string that begins here is not closed
    b: "text
       ^
  from      k8s/web.yaml:2:4
)");
  EXPECT_EQ(report("a: 1\njust text\nb: 2\n"), R"(error: not valid YAML: expected a key with a ':' behind it here
    just text
    ^
  from      k8s/web.yaml:2:1
)");
}

TEST(Yaml, ColumnsCountCharacters) {
  EXPECT_EQ(report("gr\xc3\xbc\xc3\x9f"
                   "e: \xe4\xb8\xad @\n---\n\xc3\xbc: @\n"),
            "error: not valid YAML: a value cannot start with '@'; quote it\n"
            "    \xc3\xbc: @\n"
            "       ^\n"
            "  from      k8s/web.yaml:3:4\n");
}

TEST(Yaml, AKeyThatComesTwiceNamesBothLines) {
  EXPECT_EQ(report("kind: X\n---\nspec:\n  replicas: 1\n  image: a\n  replicas: 2\n"),
            R"(error: key "replicas" comes twice, first in line 4
      replicas: 2
      ^
  from      k8s/web.yaml:6:3
)");
  std::string many = "data:\n";
  for (int i = 0; i < 5000; ++i) many += fmt::format("  k{}: v\n", i);
  EXPECT_THAT(report(many + "  k4321: v\n"), HasSubstr("key \"k4321\" comes twice, first in line 4323\n"));
}

TEST(Yaml, AJsonErrorHasItsPositionInTheFile) {
  EXPECT_EQ(report("{\"a\": 1}\n{\"b\":\n  tru}\n{}"), R"(error: not valid JSON: Invalid value
      tru}
         ^
  from      k8s/web.yaml:3:6
)");
}

TEST(Yaml, BytesThatAreNoTextHaveAPosition) {
  EXPECT_EQ(report("a: 1\nb: x\xffy\n"), R"(error: not valid YAML: this is not UTF-8 text
    b: x?y
        ^
  from      k8s/web.yaml:2:5
)");
  EXPECT_EQ(report("a: 1\nb: \0\n"sv), R"(error: not valid YAML: there is a NUL byte
    b: ?
       ^
  from      k8s/web.yaml:2:4
)");
  EXPECT_EQ(report("a: \x1b[31m\n"), R"(error: not valid YAML: the control character U+001B is not allowed
    a: ?[31m
       ^
  from      k8s/web.yaml:1:4
)");
}

TEST(Yaml, ALongLineIsShownInPart) {
  std::string start(300, 'x');
  std::string rest(300, 'y');
  EXPECT_EQ(report("a: '" + start + "' " + rest + "\n"),
            "error: not valid YAML: expected a key here; check the indentation (the object begins in line 1)\n"
            "    ..." +
                std::string(73, 'x') + "' " + std::string(25, 'y') + "...\n" + "       " + std::string(75, ' ') +
                "^\n" + "  from      k8s/web.yaml:1:307\n");
}

TEST(Yaml, ASecretIsNotShown) {
  EXPECT_EQ(report("kind: Secret\nstringData:\n  password: hunter2: x\n"),
            R"(error: not valid YAML: a ':' is not allowed here; quote the value, or check the indentation
      password: (value not shown)
               ^
  from      k8s/web.yaml:3:20
)");
  EXPECT_EQ(report("stringData:\n  key: |\n    first\n  hunter2\nkind: Secret\n"),
            R"(error: not valid YAML: expected a key with a ':' behind it here
      (value not shown)
      ^
  from      k8s/web.yaml:4:3
)");
  EXPECT_EQ(report("kind: \"Secret\"\ndata: {password: *hunter2}\n"),
            R"(error: no anchor comes before this alias; quote it if it is meant as text
    data: (value not shown)
         ^
  from      k8s/web.yaml:2:18
)");
  for (std::string_view text : {
           "{\"kind\":\"Secret\",\"data\":{\"password\":\"hunter2\"",
           "{\"kind\": \"List\", \"items\": [{\"kind\":\n\"Secret\",\"data\":{\"password\":\"hunter2\",,}}]}",
           "kind: Secret\ndata:\n  password: !!int hunter2\n",
           "kind: Secret\ndata:\n  password: \"hunter2\n",
           "kind: Secret\ndata:\n  password: `hunter2\n",
           "kind: Secret\ndata:\n  - hunter2\n  hunter2\n",
           "kind: Secret\ndata:\n  password: &hunter2! x\n",
           "kind: Secret\ndata:\n  password: \"hunter2\\q\"\n",
           "kind: Secret\ndata:\n  password: hunter2\xff\n",
           "apiVersion: v1\nkind:   !!str 'Secret'\ndata: {password: hunter2, password: hunter2}\n",
       }) {
    EXPECT_THAT(report(text), HasSubstr("error: ")) << text;
    EXPECT_THAT(report(text), Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(Yaml, GoesOnBehindAnError) {
  Stream stream("a: [\n---\nb: 1\n---oops\nlost: 1\n---\nc: 2\n", "f");
  std::vector<std::string> seen;
  while (auto document = stream.next())
    seen.push_back(*document ? (*document)->value.dump() : document->error().where());
  EXPECT_THAT(seen, ElementsAre("f:2:1", R"({"b":1})", "f:4:4", R"({"c":2})"));
}

TEST(Yaml, DocumentsAndItemsKnowTheirLines) {
  Stream stream("# c\n---\n\n# d\na: 1\n---\nkind: List\nitems:\n- a: 1\n-\n  b: [1,\n    2]\n- {c: 1}\nmore: [1, 2]\n",
                "f");
  Document first = **stream.next();
  EXPECT_EQ(first.line, 5u);
  EXPECT_THAT(first.item_lines, ElementsAre());
  Document second = **stream.next();
  EXPECT_EQ(second.line, 7u);
  EXPECT_THAT(second.item_lines, ElementsAre(9u, 11u, 13u));

  Stream json(
      "\n{\"kind\": \"List\", \"x\": {\"items\": [1]},\n \"items\": [{\"a\": \"[\\\"\"},\n {\"b\": [\n{}]}, "
      "7]}\n{\"b\": 1}",
      "f");
  first = **json.next();
  EXPECT_EQ(first.line, 2u);
  EXPECT_THAT(first.item_lines, ElementsAre(3u, 4u, 5u));
  EXPECT_EQ((**json.next()).line, 6u);
}

TEST(Yaml, LocatesAPath) {
  std::string_view text = R"(# comment
kind: A
spec:
  containers:
  - name: x
    ports: [80,
      443]
  - name: y
---
kind: List
items:
- kind: B
  spec:
    a: 1
- kind: C
  spec: {a: 1,
    b: 2}
)";
  auto line = [&](size_t start, std::initializer_list<Step> path) {
    std::vector<Step> steps(path);
    return locate(text, start, steps).value_or(0);
  };
  EXPECT_EQ(line(2, {}), 2u);
  EXPECT_EQ(line(2, {"spec"}), 3u);
  EXPECT_EQ(line(2, {"spec", "containers", size_t{1}, "name"}), 8u);
  EXPECT_EQ(line(2, {"spec", "containers", size_t{0}, "ports", size_t{1}}), 7u);
  EXPECT_EQ(line(2, {"spec", "containers", size_t{5}, "name"}), 4u);  // as far as it goes
  EXPECT_EQ(line(2, {"metadata", "name"}), 2u);
  EXPECT_EQ(line(2, {"kind", "deeper"}), 2u);
  EXPECT_EQ(line(12, {"spec", "a"}), 14u);
  EXPECT_EQ(line(15, {"spec", "b"}), 17u);
  EXPECT_EQ(line(10, {"items", size_t{1}, "kind"}), 15u);
  EXPECT_EQ(line(1, {"kind"}), 0u);
  EXPECT_EQ(line(99, {"kind"}), 0u);

  text = "{\"a\": {\"b\": [1,\n2,\n{\"c\":\n3}]}}\n{\"a\": 1,\n\"d\": \"}\"}";
  EXPECT_EQ(line(1, {"a", "b", size_t{1}}), 2u);
  EXPECT_EQ(line(1, {"a", "b", size_t{2}, "c"}), 3u);
  EXPECT_EQ(line(5, {"d"}), 6u);
}

TEST(Yaml, LocatesColumns) {
  std::string text = "name: é\nlist:\n  - a: 1\n    b: [x, {ü: y, c: z}]\n";
  auto position = [&](std::vector<Step> steps) { return locate_position(text, 1, steps).value_or(Position{0, 0}); };
  EXPECT_EQ(position({"name"}), (Position{1, 1}));
  EXPECT_EQ(position({"list", size_t{0}}), (Position{3, 5}));
  EXPECT_EQ(position({"list", size_t{0}, "b", size_t{0}}), (Position{4, 9}));
  EXPECT_EQ(position({"list", size_t{0}, "b", size_t{1}, "c"}), (Position{4, 19}));
  text = "{\"a\": 1,\n  \"b\": [2, 3]}";
  EXPECT_EQ(position({"a"}), (Position{1, 2}));
  EXPECT_EQ(position({"b", size_t{1}}), (Position{2, 12}));
}

TEST(Yaml, ParseOneReadsAFileOfConfiguration) {
  EXPECT_EQ(parse_one("# kubeconfig\n---\nkind: Config\nclusters: []\n", "config")->dump(),
            R"({"kind":"Config","clusters":[]})");
  EXPECT_EQ(parse_one("%YAML 1.1\n---\na: 1", "config")->dump(), R"({"a":1})");
  EXPECT_EQ(parse_one("{\"a\": 1.0}", "config")->dump(), R"({"a":1})");
  EXPECT_TRUE(parse_one("", "config")->is_null());
  EXPECT_EQ(parse_one("%YAML 1.2\n---\na: 1", "config").error().what(),
            "this is YAML 1.2; Kubernetes reads YAML 1.1\n    (value not shown)\n    ^");
  EXPECT_EQ(parse_one("a: 1\n---\nb: 2", "config").error().report(),
            "error: a second document starts here; only one is expected\n"
            "    ---\n    ^\n  from      config:2:1\n");
  EXPECT_EQ(parse_one("users:\n- user: {token: abc: def}\n", "config").error().report(),
            "error: not valid YAML: expected ',' or '}' here (the object begins in line 2)\n"
            "    - user: (value not shown)\n"
            "           ^\n"
            "  from      config:2:20\n");
}

TEST(Yaml, AliasesCannotBlowUp) {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'k'; ++c) {
    char p = char(c - 1);
    bomb += fmt::format("{}: &{} [*{},*{},*{},*{},*{},*{},*{},*{},*{},*{}]\n", c, c, p, p, p, p, p, p, p, p, p, p);
  }
  EXPECT_THAT(report(bomb),
              HasSubstr("error: anchors and aliases expand to more than 400000 values or 67108864 bytes\n"));

  std::string large = "a: &a " + std::string(1 << 20, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) large += "*a, ";
  EXPECT_THAT(report(large + "]\n"), HasSubstr("expand to more than"));

  std::string merges = "a: &a {";
  for (int i = 0; i < 1000; ++i) merges += fmt::format("k{}: 1, ", i);
  merges += "}\nb: {";
  for (int i = 0; i < 1000; ++i) merges += "<<: *a, ";
  EXPECT_THAT(report(merges + "}\n"), HasSubstr("expand to more than"));

  std::string nested;
  for (int i = 0; i < 150; ++i) nested += fmt::format("[&a{} ", i);
  for (int i = 0; i < 20'000; ++i) nested += "[1],";
  nested += std::string(150, ']');
  EXPECT_THAT(report(nested), HasSubstr("expand to more than"));
}

TEST(Yaml, HasLimits) {
  EXPECT_EQ(report("a: [[[1]]]", {.depth = 3}), R"(error: nested deeper than 3 levels
    a: [[[1]]]
         ^
  from      k8s/web.yaml:1:6
)");
  EXPECT_THAT(report("a: &x [[1]]\nb: [*x]", {.depth = 3}), HasSubstr("nested deeper than 3 levels"));
  EXPECT_THAT(report("[1,2,3,4]", {.values = 4}), HasSubstr("the document has more than 4 values"));
  EXPECT_THAT(report("[{},{},{},{}]", {.values = 4}), HasSubstr("the document has more than 4 values"));
  EXPECT_THAT(report("a: 1\nb: 2\n", {.document_bytes = 8}),
              HasSubstr("the document has 10 bytes, over the limit of 8 bytes"));
  EXPECT_THAT(report("{\"a\": [1, 2, 3]}\n", {.document_bytes = 8}),
              HasSubstr("the document is too large: larger than the limit of 8 bytes"));
  EXPECT_THAT(report("{\"a\": [1, 2, 3, 4]}", {.values = 4}),
              HasSubstr("the document is too large: more than 4 values"));
  EXPECT_THAT(report("{}\n{}\n{\"a\": [1, 2, 3]}\n", {.document_bytes = 8}),
              HasSubstr("larger than the limit of 8 bytes"));
  for (std::string_view bracket : {"[", "{a: ", "{\"a\":", "- ", "? "}) {
    std::string text;
    while (text.size() < 1'000'000) text += bracket;
    EXPECT_THAT(report(text), HasSubstr("nested deeper than 200 levels")) << bracket;
  }
}

}  // namespace
}  // namespace fairlead::yaml
